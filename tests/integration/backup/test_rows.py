"""Whatever a column can hold is read as it was written."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table
from sqlalchemy.types import BigInteger

from core.backup.rows import MOST_NUMBER, RowReader, RowWriter, columns_of, is_numbered, travelling
from core.catalog.columns import Instant, SharedJson
from core.errors import BadBundle

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
JSONS = st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(inner, max_size=2))
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC))
FORMED = {"sha256": "a" * 64, "parsed_sha256": "b" * 64, "sha1": "c" * 40, "extension": "txt"}
NAMES = {"role": "admin", "password_hash": "scrypt:32768:8:1$salt$" + "d" * 128, "secret": "A" * 32}
FREE = [table for table in travelling() if table.name not in ("users", "documents")]


def values(column: Column[Any]) -> st.SearchStrategy[Any]:
    kind = column.type
    if column.name == "state":
        return st.just("failed")
    if column.name in FORMED | NAMES and not isinstance(kind, (Integer, JSON)):
        return st.just((FORMED | NAMES)[column.name])
    if isinstance(kind, Instant):
        return MOMENTS
    if isinstance(kind, LargeBinary):
        if column.name in ("trace", "outcome"):
            return JSONS.map(
                lambda value: bytes(4 * (column.name == "outcome")) + zlib.compress(json.dumps(value).encode())
            )
        return st.binary(min_size=kind.length or 0, max_size=kind.length or 9)
    if isinstance(kind, (JSON, SharedJson)):
        return JSONS.filter(lambda value: value is not None)
    if isinstance(kind, Boolean):
        return st.booleans()
    if isinstance(kind, Float):
        return st.floats(allow_nan=False, allow_infinity=False)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        is_id = is_numbered(column) or column.name == "owner_id"
        return st.integers(1, MOST_NUMBER) if is_id else st.integers(-(2**bits), 2**bits - 1)
    if str(column) == "generator_servers.name":
        return st.text("abc019", min_size=1, max_size=8)
    if str(column) in ("generator_servers.url", "generator_servers.key"):
        return st.sampled_from(("https://api.example.com/v1", "http://10.0.0.1:8000"))
    if column.primary_key or column.name == "file_name":
        return st.text("abc019_-", min_size=1, max_size=8)
    return TEXT


def drawn(data: st.DataObject, table: Table) -> dict[str, Any]:
    row = {column.name: data.draw(values(column)) for column in columns_of(table)}
    for column in columns_of(table):
        if column.nullable and data.draw(st.booleans()):
            row[column.name] = None
    return row


@pytest.mark.parametrize("table", FREE, ids=lambda table: table.name)
def test_row_is_read_as_it_was_written(table: Table) -> None:
    write, read = RowWriter(table, with_keys=True).line, RowReader(table).row

    @given(st.data())
    @settings(max_examples=4, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
    def each(data: st.DataObject) -> None:
        row = drawn(data, table)
        assert read(write(row)) == row

    each()


def test_columns_of_a_newer_schema_are_refused_and_those_of_an_older_one_completed() -> None:
    table = next(each for each in travelling() if each.name == "saved_questions")
    with pytest.raises(BadBundle, match="mood"):
        RowReader(table).row(b'{"id": "a", "text": "t", "created_at": 0, "mood": 1}')
    with pytest.raises(BadBundle, match="created_at"):
        RowReader(table).row(b'{"id": "a", "text": "t"}')
    chosen = next(each for each in travelling() if each.name == "question_sets")
    assert RowReader(chosen).row(b'{"id": "a", "name": "t", "created_at": 0}')["gates"] is False
