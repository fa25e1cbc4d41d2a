"""The last number that each table gave to a row, so that no number of a row that is gone is given again elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Column, Connection, Table, func, select, text

from core.backup.rows import MOST_NUMBER, is_numbered, travelling
from core.errors import BadBundle


def numbered() -> dict[str, Column[int]]:
    """Return the column by which each table that travels numbers its rows."""
    return {table.name: column for table in travelling() for column in table.primary_key if is_numbered(column)}


def last_numbers(tx: Connection) -> dict[str, int]:
    """Return the last number that each table gave."""
    found = {name: int(tx.scalar(select(func.max(column))) or 0) for name, column in numbered().items()}
    given: Mapping[str, int] = {}
    if tx.dialect.name == "sqlite":
        given = {row.name: row.seq for row in tx.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    else:
        rows = text("SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema()")
        given = {row.sequencename: row.last_value or 0 for row in tx.execute(rows)}
    return {
        name: max(last, given.get(name, 0), given.get(f"{name}_{column.name}_seq", 0))
        for (name, last), column in zip(found.items(), numbered().values(), strict=True)
    }


def check(told: object) -> dict[str, int]:
    """Return the last numbers that an archive tells. Raises: ``BadBundle``."""
    known = numbered()
    if not isinstance(told, dict) or not told.keys() <= known.keys():
        raise BadBundle("The archive does not tell the last numbers of its tables.")
    if any(
        isinstance(last, bool) or not isinstance(last, int) or not 0 <= last < MOST_NUMBER for last in told.values()
    ):
        raise BadBundle("The archive tells numbers that no table has given.")
    return {name: told.get(name, 0) for name in known}


def go_on_from(tx: Connection, last: Mapping[str, int]) -> None:
    """Have every table number its next row from behind the last number, and behind its rows.

    Users are numbered from behind every owner that a row names, too: nobody is to come and own what was there before.
    """
    for name, column in numbered().items():
        owners = [table.c.owner_id for table in travelling() if "owner_id" in table.c] if name == "users" else []
        number = max(last.get(name, 0), *(int(tx.scalar(select(func.max(each))) or 0) for each in (column, *owners)))
        if not number:
            continue
        if tx.dialect.name == "sqlite":
            _set_sqlite(tx, column.table, number)
        else:
            # The names are those of the schema, and go as values all the same.
            place = func.pg_get_serial_sequence(name, column.name)
            tx.execute(select(func.setval(place, number)))


def _set_sqlite(tx: Connection, table: Table, number: int) -> None:
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return
    values = {"name": table.name, "seq": number}
    tx.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
    tx.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)"), values)
