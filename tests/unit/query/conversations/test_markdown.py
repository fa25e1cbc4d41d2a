"""A conversation as a Markdown document."""

from __future__ import annotations

from datetime import UTC, datetime

from core.model import AnswerType, Conversation, TraceSummary, Turn
from core.query.conversations.markdown import as_markdown

ASKED = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
CONVERSATION = Conversation("c", "Opening hours", ASKED, ASKED)


def turn(number: int, *, is_tentative: bool = False) -> Turn:
    summary = TraceSummary("q", ASKED, "When?", AnswerType.EXTRACTIVE, "At nine.", 1.0, is_tentative=is_tentative)
    return Turn(number, summary)


def test_an_answer_that_is_not_certain_says_so() -> None:
    certain, tentative = as_markdown(CONVERSATION, [(turn(1), None), (turn(2, is_tentative=True), None)]).split("## ")[
        1:
    ]
    assert certain.rstrip().endswith("2026-11-02 09:30 UTC · extractive")
    assert tentative.rstrip().endswith("2026-11-02 09:30 UTC · extractive · not certain")
