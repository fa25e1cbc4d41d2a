"""Column types that the tables share: moments, JSON that repeats, and numbers of rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Integer, Text, TextClause
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Instant(TypeDecorator[datetime]):
    """A moment in UTC, kept as whole microseconds since 1970 so that every database orders it alike."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


class SharedJson(TypeDecorator[Any]):
    """JSON text whose few distinct values are read once and shared: nobody may change what comes out."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        return None if value is None else _read_json(value)


@lru_cache(maxsize=10_000)
def _read_json(written: str) -> Any:
    return json.loads(written)


ROW_ID = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in a column that is exactly INTEGER."""


def only(rows: TextClause) -> dict[str, Any]:
    """Return what an index of some rows alone is made with, on either database."""
    return {"sqlite_where": rows, "postgresql_where": rows}
