"""“As of” is read the same everywhere: a version, a sequence number or a moment."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.errors import InvalidInput
from core.model import AsOf, VersionRef, format_as_of, parse_as_of

UNREADABLE = ("１２", "-1", "1.5", "9" * 19, "12345-01-01")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        (" 0 ", 0),
        ("handbook.pdf#v2", VersionRef("handbook.pdf", 2)),
        ("Handbook.PDF#v10", VersionRef("handbook.pdf", 10)),
        ("議事録_2026年.txt#v1", VersionRef("議事録_2026年.txt", 1)),
        ("か\u3099.txt#v3", VersionRef("が.txt", 3)),
        ("c#v1.txt#v2", VersionRef("c#v1.txt", 2)),
        ("12#v1", VersionRef("12", 1)),
        ("2026-11-21T09:00+09:00", datetime(2026, 11, 21, 0, 0, tzinfo=UTC)),
        ("2026-11-21T09:00:30Z", datetime(2026, 11, 21, 9, 0, 30, tzinfo=UTC)),
    ],
)
def test_each_form_is_understood(text: str, expected: object) -> None:
    assert parse_as_of(text) == expected


@pytest.mark.parametrize("text", ["2026-11-21T09:00", "2026-11-21 09:00", "2026-11-21"])
def test_a_moment_without_a_zone_is_local(text: str) -> None:
    moment = parse_as_of(text)
    assert isinstance(moment, datetime)
    assert moment == datetime.fromisoformat(text).astimezone()
    assert moment.tzinfo is not None


def test_a_moment_of_long_ago_in_a_zone_is_one_that_browsers_read() -> None:
    assert format_as_of(parse_as_of("1826-11-21", ZoneInfo("Asia/Tokyo"))) == "1826-11-20T14:41:01+00:00"
    with pytest.raises(InvalidInput):
        parse_as_of("0001-01-01", ZoneInfo("Asia/Tokyo"))


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "#v1", "a.txt#v0", "a.txt#v-1", "a.txt#v1x", "a.txt#v２", "a.txt#v9999999999", *UNREADABLE],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_as_of(text)


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    try:
        found = parse_as_of(text)
    except InvalidInput:
        return
    assert isinstance(found, int | datetime | VersionRef)


@given(st.text(min_size=1).filter(lambda name: name == name.strip()), st.integers(1, 10**9 - 1))
def test_a_written_version_is_read_back(name: str, number: int) -> None:
    ref = parse_as_of(str(VersionRef(name, number)))
    assert isinstance(ref, VersionRef)
    assert ref.version == number


@pytest.mark.parametrize("as_of", [0, 12, VersionRef("a#v1.txt", 3), datetime(2026, 11, 21, 9, 0, 30, 5, tzinfo=UTC)])
def test_what_is_written_is_read_back(as_of: AsOf) -> None:
    assert parse_as_of(format_as_of(as_of) or "") == as_of
    assert format_as_of(None) is None
