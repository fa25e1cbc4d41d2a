"""Statements about a set of ids, written out once for every few sizes of the set.

On SQLite, SQLAlchemy takes as long to write out a hundred ids and to make rows of what comes back as the database takes
to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select

_LEAST, _MOST = 16, 512
_STAND_IN = 10**15
"""Ids from here on stand for the places of ids while a statement is written out."""

Process = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Written:
    sql: str
    places: tuple[int | str, ...]
    """Of each parameter, the place of its id, or its name."""
    constants: Mapping[str, Any]
    """Parameters that are the statement's own."""
    processes: tuple[tuple[int, Process], ...]
    """Columns whose values are read from what the database gives."""


class Prepared:
    """A statement with a parameter ``ids``, which takes any number of them."""

    def __init__(self, statement: Select[Any], ids: str = "ids") -> None:
        self._statement = statement
        self._ids = ids
        self._written: dict[int, _Written] = {}

    def rows(self, tx: Connection, values: Mapping[str, Any]) -> Sequence[Any]:
        """Return the rows for the values, the ids among them."""
        ids = values[self._ids]
        if tx.dialect.name != "sqlite" or not ids or len(ids) > _MOST:
            return tx.execute(self._statement, dict(values)).all()
        size = _LEAST
        while size < len(ids):
            size *= 2
        written = self._written.get(size)
        if written is None:
            written = self._written[size] = self._write_out(tx, values, size)
        # One id more than once selects nothing more.
        padded = [*ids, *[ids[-1]] * (size - len(ids))]
        named = {**written.constants, **values}
        parameters = tuple([padded[at] if isinstance(at, int) else named[at] for at in written.places])
        rows = tx.exec_driver_sql(written.sql, parameters).all()
        return [_processed(row, written.processes) for row in rows] if written.processes else rows

    def _write_out(self, tx: Connection, values: Mapping[str, Any], size: int) -> _Written:
        stand_ins = range(_STAND_IN, _STAND_IN + size)
        given = {**values, self._ids: list(stand_ins)}
        statement = self._statement.params(given)
        state = statement.compile(dialect=tx.dialect).construct_expanded_state()
        places: list[int | str] = []
        constants: dict[str, Any] = {}
        for name in state.positiontup or ():
            value = state.parameters[name]
            is_id = isinstance(value, int) and value in stand_ins
            places.append(value - _STAND_IN if is_id else name)
            if not is_id and name not in values:
                constants[name] = value
        processes = []
        for at, column in enumerate(statement.selected_columns):
            process = column.type.dialect_impl(tx.dialect).result_processor(tx.dialect, None)
            if process is not None:
                processes.append((at, process))
        return _Written(state.statement, tuple(places), constants, tuple(processes))


def _processed(row: Any, processes: Sequence[tuple[int, Process]]) -> Sequence[Any]:
    values = list(row)
    for at, process in processes:
        values[at] = process(values[at])
    return values
