"""Many questions of a conversation do not push the shown answer out of sight."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from dash import html

from app.components.ask.conversation_turns import earlier_turns, later_turns
from core.model import AnswerType, TraceSummary, Turn
from tests.unit.app.drawn import by_class, text

ASKED = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def turns(count: int) -> list[Turn]:
    return [
        Turn(number, TraceSummary(f"q{number}", ASKED, f"Q{number}?", AnswerType.EXTRACTIVE, "Yes.", 1.0))
        for number in range(1, count + 1)
    ]


def folded(section: html.Section | None) -> str:
    return text(by_class(section, "turns-more"))


@pytest.mark.parametrize("count", [1, 3, 4])
def test_a_few_questions_stand_openly(count: int) -> None:
    for section in (earlier_turns(turns(count), "c"), later_turns(turns(count), "c")):
        assert f"Q{count}?" in text(section)
        assert folded(section) == ""


def test_of_many_those_furthest_from_the_answer_are_folded() -> None:
    earlier = folded(earlier_turns(turns(8), "c"))
    assert "5 more questions" in earlier and "Q5?" in earlier and "Q6?" not in earlier
    later = folded(later_turns(turns(8), "c"))
    assert "Q4?" in later and "Q8?" in later and "Q3?" not in later


def test_nothing_stands_there_where_nothing_was_asked() -> None:
    assert earlier_turns([], "c") is None and later_turns([], "c") is None
