"""Numbers and dates of lines that came or went: such a line became no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model import Change
from core.versions.diff import summary as summaries
from core.versions.result import ComparisonResult
from tests.unit.versions.compared import comparison, paragraphs


def listed(kept: ComparisonResult) -> list[tuple[str | None, str | None]]:
    return [(value.old, value.new) for value in kept.summary.values]


_ARTICLES = [
    f"第{number}条 当事者は、別に定める事項{name}について誠実に協議する。" for number, name in ((4, "甲"), (6, "乙"))
]
_TERM = "乙は、前条に定める作業を完了したときは、速やかに甲に報告し、その検査を受けなければならない。"


def test_a_fee_in_an_article_that_was_edited_and_moved_is_a_pair_at_two_places(tmp_path: Path) -> None:
    fee = "第{}条 甲は、乙に対し、本業務の対価として月額{}円を毎月末日までに支払うものとする。"
    old = paragraphs("契約書", fee.format(3, "350,000"), _ARTICLES[0], f"第5条 {_TERM}", _ARTICLES[1])
    new = paragraphs("契約書", f"第3条 {_TERM}", _ARTICLES[0], fee.format(5, "380,000"), _ARTICLES[1])

    kept = comparison(tmp_path, old, new)

    (fees,) = [value for value in kept.summary.values if value.old == "350,000円"]
    assert fees.new == "380,000円" and kept.rows(fees.row, fees.row + 1)[0].move is not None
    assert {row.change for row in kept.rows(0, kept.count)} == {Change.EQUAL, Change.REMOVED, Change.ADDED}


def test_values_of_lines_that_came_or_went_follow_those_that_changed(tmp_path: Path) -> None:
    same = [f"A sentence about {name} that stays." for name in ("harbours", "mills", "bridges", "towers")]
    old = paragraphs("Gone for good: 17 apples were in the basket.", *same, "The fee is 100 yen.")
    new = paragraphs(*same, "The fee is 120 yen.", *same[:1], "Delivery by 2027-01-31 with a wholly new promise.")

    assert listed(comparison(tmp_path, old, new)) == [("100 yen", "120 yen"), ("17", None), (None, "2027-01-31")]


def test_a_line_that_only_moved_changes_no_value(tmp_path: Path) -> None:
    same = [f"A sentence about {name} that stays." for name in ("harbours", "mills", "bridges", "towers")]
    moved = "The 25 members of the board meet on 2026-05-01."

    assert listed(comparison(tmp_path, paragraphs(moved, *same), paragraphs(*same, moved))) == []


def test_the_list_ends_at_its_limit_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MOST_VALUES", 10)

    found = comparison(tmp_path, [], paragraphs(*(f"Item {number} is new." for number in range(30)))).summary

    assert len(found.values) == 10 and "values_skipped" in found.notices
