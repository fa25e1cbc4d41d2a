"""What was read of some tables may be given again until this process writes to one of them.

That holds where no other process writes to the catalogue, as with SQLite, whose folder one process has. A table that a
transaction is writing to has no revision until it has ended: whoever has learned of the commit finds the new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import Connection, Delete, Table, event
from sqlalchemy.engine import Engine
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.selectable import SelectBase

T = TypeVar("T")
Revision = tuple[int, ...]

_ANY = "*"
"""Stands for every table: what a statement of no known kind may have written to."""


def removal_from(table: Table) -> str:
    """Name what changes only when rows of a table are deleted, as ``Revisions.of`` takes it."""
    return f"{table.name}, removal"


class Revisions:
    """Counts what the one writer at a time has changed, by table."""

    def __init__(self, is_alone: bool) -> None:
        """``is_alone`` says that no other process writes; nothing has a revision otherwise."""
        self._is_alone = is_alone
        self._counts: dict[str, int] = {}
        self._written: set[str] = set()
        """The tables that a transaction is writing to now."""
        self._changing = Lock()

    def watch(self, engine: Engine, is_writing: Callable[[Connection], bool]) -> None:
        """Note what the transactions of an engine write to."""

        def note(connection: Connection, statement: Any, *_: Any) -> None:
            if not isinstance(statement, SelectBase) and is_writing(connection):
                written = {_ANY}
                if isinstance(statement, UpdateBase) and isinstance(statement.table, Table):
                    written = {statement.table.name}
                    if isinstance(statement, Delete):
                        written.add(removal_from(statement.table))
                with self._changing:
                    self._written = {*self._written, *written}

        if self._is_alone:
            event.listen(engine, "before_execute", note)

    def ended(self) -> None:
        """Count what the transaction has written that ends now, committed or not."""
        with self._changing:
            for table in self._written:
                self._counts[table] = self._counts.get(table, 0) + 1
            self._written = set()

    def of(self, tables: Iterable[str]) -> Revision | None:
        """Return what changes with any of the tables; None where one may be changing now."""
        if not self._is_alone:
            return None
        names = (_ANY, *tables)
        with self._changing:
            if not self._written.isdisjoint(names):
                return None
            return tuple(self._counts.get(name, 0) for name in names)


class Remembered:
    """Values that were read of some tables, the latest of each name."""

    def __init__(self, revisions: Revisions) -> None:
        self._revisions = revisions
        self._values: dict[str, tuple[Revision, Hashable, Any]] = {}

    def value(self, name: str, tables: Iterable[str], given: Hashable, read: Callable[[], T]) -> T:
        """Return what ``read`` gives for what was ``given``, read anew where the tables have changed since."""
        # Taken before reading: what is written meanwhile is read again by the next.
        revision = self._revisions.of(tables)
        if revision is None:
            return read()
        known = self._values.get(name)
        if known is not None and known[0] == revision and known[1] == given:
            found: T = known[2]
            return found
        value = read()
        self._values[name] = revision, given, value
        return value
