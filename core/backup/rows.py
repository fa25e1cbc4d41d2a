"""Rows as JSON lines: what travels, how values are written, and which values are taken.

Numbers, texts, booleans and JSON stand as they are, bytes as base64, moments as microseconds since 1970. Reading takes
nothing on trust: a type, a length, a sign or a name that this catalogue would not have written is refused.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, RowMapping, String, Table
from sqlalchemy.types import BigInteger

from core.backup import MOST_TEXT_BYTES
from core.catalog import schema
from core.catalog.columns import Instant, SharedJson
from core.catalog.damages import DAMAGED, SCRUB
from core.catalog.documents.office_checks import OFFICE_CHECKED
from core.catalog.outbox import REFILL
from core.errors import BadBundle

STAYING = frozenset({"sessions", "transfers", "outbox", "leftovers", "listed_documents", "unlisted_documents"})
"""Tables that stay behind: who is signed in, what is under way, what the former indexes wait for, and the list of
documents, which the triggers of the new catalogue have written anew."""
LOCAL_COLUMNS = {"jobs": frozenset({"worker", "leased_until"})}
"""Columns about the processes of the former house."""
SECRETS = {"generator_servers": frozenset({"key"})}
"""Columns that are empty in an archive unless it is asked for them."""
LOCAL_SETTINGS = frozenset({"secure_delete", "identity", DAMAGED, SCRUB, OFFICE_CHECKED})
"""Index settings about the former catalogue itself."""
_OF_STORES = ("repair", "generation")
"""Kinds of jobs about the stores of the former house."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 1, 1, tzinfo=UTC)
_SHA256, _SHA1, _ID = "[0-9a-f]{64}", "[0-9a-f]{40}", "[0-9A-Za-z_-]{1,32}"
_KEY = r"(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]+"
_FORMS = {
    "versions.sha256": f"(?:{_SHA256})?",
    "versions.parsed_sha256": _SHA256,
    "versions.sha1": f"(?:{_SHA1})?",
    "versions.extension": "[a-z0-9]{0,16}",
    "versions.file_name": _KEY,
    "versions.state": "stored|ready|failed|cancelled|purged",
    "documents.doc_key": rf"(?:~{_KEY}/)?{_KEY}",
    "documents.name": _KEY,
    "jobs.state": "queued|running|done|failed|cancelled",
    "users.role": "reader|editor|admin",
    "users.name": "[a-z0-9][a-z0-9._-]{0,63}",
    "users.password_hash": r"scrypt:32768:8:1\$[A-Za-z0-9]+\$[0-9a-f]{128}",
    "api_keys.role": "reader|editor|admin",
    "generator_servers.name": "[a-z0-9][a-z0-9._-]{0,63}",
    "generator_servers.url": r"https?://[^\s/?#@]+(?:/[^\s?#]*)?",
    "generator_servers.key": "[!-~]*",
    "second_factors.secret": "[A-Z2-7]{32}",
}
"""What text may stand in columns that name files, or that decide who may do what, and at what cost."""
_PACKED = {"questions.trace": 0, "evaluation_outcomes.outcome": 4}
"""Columns of packed JSON, with the bytes before it that tell where its first part ends."""
MOST_NUMBER = 2**53
"""Largest number that a table may have given to a row: room is left for those to come."""

Row = dict[str, Any]
Told = Mapping[str, Any] | RowMapping


def travelling() -> list[Table]:
    """Return the tables that travel, each after those that it refers to."""
    import core.catalog  # noqa: F401  every table is known once it is imported

    return [table for table in schema.metadata.sorted_tables if table.name not in STAYING]


def is_local(table: Table, row: Told) -> bool:
    """Tell whether a row is about the former house: its catalogue's file, or indexes beside those that serve."""
    if table.name == "index_settings":
        return row["key"] in LOCAL_SETTINGS or str(row["key"]).startswith(REFILL)
    return table.name == "generations" and row["state"] != "serving"


def columns_of(table: Table) -> list[Column[Any]]:
    """Return the columns of a table that travel."""
    left = LOCAL_COLUMNS.get(table.name, frozenset())
    return [column for column in table.columns if column.name not in left]


def is_numbered(column: Column[Any]) -> bool:
    """Tell whether the database numbers the rows by this column."""
    return column is column.table.autoincrement_column


class RowWriter:
    """Writes the rows of one table; its secrets are left empty unless ``with_keys``."""

    def __init__(self, table: Table, *, with_keys: bool = False) -> None:
        self._blank: Row = {} if with_keys else dict.fromkeys(SECRETS.get(table.name, ()), "")
        self._columns = [(column.name, _writes(column)) for column in columns_of(table)]
        self._is_jobs = table.name == "jobs"

    def line(self, row: Told) -> bytes:
        told = {name: None if row[name] is None else write(row[name]) for name, write in self._columns}
        told |= self._blank
        if self._is_jobs and told["state"] in ("queued", "running"):
            told["state"] = "cancelled" if told["kind"] in _OF_STORES else "queued"
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class RowReader:
    """Reads the rows of one table. Raises: ``BadBundle``."""

    def __init__(self, table: Table) -> None:
        self._table = table.name
        self._columns = {column.name: column for column in columns_of(table)}
        self._reads = {name: _reads(column) for name, column in self._columns.items()}

    def row(self, line: bytes) -> Row:
        try:
            told = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise BadBundle(f"A row of the table {self._table} cannot be read.") from error
        if not isinstance(told, dict):
            raise BadBundle(f"A row of the table {self._table} cannot be read.")
        if unknown := told.keys() - self._columns.keys():
            shown = sorted(unknown)[0][:32] if all(name.isidentifier() for name in unknown) else "?"
            raise BadBundle(
                f"The table {self._table} has a column that is unknown here ({shown}).",
                remedy="A newer EvoRAG may have made the archive: read it with that one.",
            )
        return {name: self._value(name, told) for name in self._columns}

    def _value(self, name: str, told: Mapping[str, Any]) -> Any:
        column = self._columns[name]
        if name not in told:
            return _usual(column)
        value = told[name]
        if value is None and column.nullable:
            return None
        try:
            return self._reads[name](value)
        except (ValueError, TypeError, OverflowError, RecursionError, zlib.error) as error:
            raise BadBundle(f"The table {self._table} holds what no catalogue has (in {name}).") from error


def _writes(column: Column[Any]) -> Callable[[Any], Any]:
    kind = column.type
    if isinstance(kind, Instant):
        return lambda value: (value - _EPOCH) // timedelta(microseconds=1)
    if isinstance(kind, LargeBinary):
        return lambda value: base64.b64encode(value).decode("ascii")
    if isinstance(kind, (JSON, SharedJson, String)):
        return _without_nul
    return lambda value: value


def _without_nul(value: Any) -> Any:
    """Return text or JSON with U+FFFD for the sign that PostgreSQL takes in no text."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd") if "\0" in value else value
    if isinstance(value, Mapping):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    return [_without_nul(item) for item in value] if isinstance(value, (list, tuple)) else value


def _reads(column: Column[Any]) -> Callable[[Any], Any]:
    kind = column.type
    if isinstance(kind, Instant):
        return _moment
    if isinstance(kind, LargeBinary):
        if (length_bytes := _PACKED.get(str(column))) is not None:
            return _packed(length_bytes)
        return _octets(kind.length)
    if isinstance(kind, (JSON, SharedJson)):
        return _json
    if isinstance(kind, Boolean):
        return _truth
    if isinstance(kind, Float):
        return _number
    if isinstance(kind, Integer):
        if is_numbered(column) or column.name == "owner_id":
            return _whole(1, MOST_NUMBER)
        return _whole(-(2**63), 2**63 - 1) if isinstance(kind, BigInteger) else _whole(-(2**31), 2**31 - 1)
    if isinstance(kind, String):
        return _text(kind.length, _FORMS.get(str(column), _ID if _is_id(column) else None))
    raise TypeError(f"a column of the type {kind!r} cannot travel")


def _is_id(column: Column[Any]) -> bool:
    return column.primary_key and column.name == "id"


def _usual(column: Column[Any]) -> Any:
    """Return what a row has in a column that an older schema had not."""
    default: Any = column.default
    if default is not None:
        return default.arg(None) if default.is_callable else default.arg
    if column.nullable:
        return None
    raise BadBundle(f"The table {column.table.name} lacks the column {column.name}.")


def _refuse(_: str) -> None:
    raise ValueError("no number")


def _moment(value: Any) -> datetime:
    found = _EPOCH + timedelta(microseconds=_whole(-(2**62), 2**62)(value))
    if found > _LAST:
        raise ValueError("too late")
    return found


def _octets(length: int | None) -> Callable[[Any], bytes]:
    def read(value: Any) -> bytes:
        found = base64.b64decode(value, validate=True)
        if length is not None and len(found) != length:
            raise ValueError("another length")
        return found

    return read


def _packed(length_bytes: int) -> Callable[[Any], bytes]:
    """Return what reads packed JSON, or two behind the first one's length, that unpacks to no more than it should."""

    def read(value: Any) -> bytes:
        found = base64.b64decode(value, validate=True)
        end = length_bytes + int.from_bytes(found[:length_bytes], "big") if length_bytes else len(found)
        for part in filter(None, (found[length_bytes:end], found[end:])):
            unpacker = zlib.decompressobj()
            json.loads(unpacker.decompress(part, MOST_TEXT_BYTES))
            if not unpacker.eof or unpacker.unused_data:
                raise ValueError("too much")
        return found

    return read


def _json(value: Any) -> Any:
    """Return JSON whose texts every database takes."""
    _text(None, None)(json.dumps(value, ensure_ascii=False))
    if _without_nul(value) != value:
        raise ValueError("NUL")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("no boolean")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError("no number")
    return float(value)


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError("no whole number of this size")
        return value

    return read


def _text(length: int | None, form: str | None) -> Callable[[Any], str]:
    allowed = re.compile(form) if form is not None else None

    def read(value: Any) -> str:
        if not isinstance(value, str) or "\0" in value or (length is not None and len(value) > length):
            raise ValueError("no text of this length")
        value.encode("utf-8")
        if allowed is not None and not allowed.fullmatch(value):
            raise ValueError("no such text")
        return value

    return read
