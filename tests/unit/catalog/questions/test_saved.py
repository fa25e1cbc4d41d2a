"""Saved questions are kept once each, in the order in which they were saved."""

from __future__ import annotations

import pytest

import core
from core.catalog.questions.saved import MOST_QUESTIONS
from core.errors import InvalidInput, NotFound, QueryTooLong


def test_a_question_is_saved_once(kb: core.KnowledgeBase) -> None:
    first = kb.catalog.saved.save("When does the shop open?")
    assert kb.catalog.saved.save("  When does the shop open? ") == first
    assert kb.catalog.saved.all() == [first]


def test_questions_stand_in_the_order_of_saving(kb: core.KnowledgeBase) -> None:
    for text in ("営業時間は?", "Who is the owner?", "😀"):
        kb.catalog.saved.save(text)
    assert [question.text for question in kb.catalog.saved.all()] == ["営業時間は?", "Who is the owner?", "😀"]


def test_a_forgotten_question_is_gone(kb: core.KnowledgeBase) -> None:
    kept = kb.catalog.saved.save("kept")
    kb.catalog.saved.forget(kb.catalog.saved.save("forgotten").id)
    assert kb.catalog.saved.all() == [kept]
    with pytest.raises(NotFound):
        kb.catalog.saved.forget("no such id")


@pytest.mark.parametrize("text", ["", "  \n", "\ud800", "\0"])
def test_what_is_no_question_is_not_saved(kb: core.KnowledgeBase, text: str) -> None:
    with pytest.raises(InvalidInput):
        kb.catalog.saved.save(text)


def test_questions_have_a_longest_length(kb: core.KnowledgeBase) -> None:
    assert kb.catalog.saved.save("x" * 4_000)
    with pytest.raises(QueryTooLong):
        kb.catalog.saved.save("x" * 4_001)


@pytest.mark.long
def test_the_list_does_not_grow_without_end(kb: core.KnowledgeBase) -> None:
    for number in range(MOST_QUESTIONS):
        kb.catalog.saved.save(f"question {number}")
    with pytest.raises(InvalidInput):
        kb.catalog.saved.save("one more")
    assert kb.catalog.saved.save("question 7") in kb.catalog.saved.all()
