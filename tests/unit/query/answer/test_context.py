"""The context: numbered sources within their budget."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from core.query.answer.context import CUT_MARK, SEPARATOR, build_context, joined_chars, sources_of
from tests.builders import hit


def test_passages_are_numbered_and_joined_by_the_separator() -> None:
    context = build_context(sources_of([hit(1, "First."), hit(2, "Second.", rank=2)]), 3000)
    assert context == f"[1] Title\nFirst.{SEPARATOR}[2] Title\nSecond."


def test_the_last_passage_is_cut_after_a_sentence_with_a_mark() -> None:
    context = build_context(sources_of([hit(1, "One two three. Four five six. Seven eight nine.")]), 50)
    assert context == f"[1] Title\nOne two three. Four five six.{CUT_MARK}"


def test_a_passage_of_which_no_sentence_fits_is_left_out() -> None:
    hits = [hit(1, "Short."), hit(2, "This sentence is far too long for what is left.", rank=2)]
    assert build_context(sources_of(hits), 40) == "[1] Title\nShort."


@given(st.lists(st.text(min_size=1, max_size=300), max_size=6), st.integers(0, 400))
def test_the_budget_is_never_exceeded(texts: list[str], budget: int) -> None:
    sources = sources_of([hit(number, text, rank=number) for number, text in enumerate(texts, 1)])
    assert len(build_context(sources, budget)) <= budget
    assert len(build_context(sources, 10_000)) == joined_chars(sources)
