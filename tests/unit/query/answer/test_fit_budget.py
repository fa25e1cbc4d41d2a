"""A context that is too long keeps the sentences nearest to the question, in their order, with marks."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from core.model import Hit
from core.query.answer.context import build_context, joined_chars, sources_of
from core.query.answer.fit_budget import LEFT_OUT, compress
from tests.builders import hit

FILLER = "Nobody wrote down what the weather was like on that day in town."


def passages(*texts: str) -> list[Hit]:
    return [hit(number, text, rank=number) for number, text in enumerate(texts, 1)]


def test_what_fits_stays_as_it_is() -> None:
    sources = sources_of(passages("One.", "Two."))
    assert compress("One?", sources, 3000) == sources


def test_the_answering_sentence_of_the_last_passage_is_kept_where_others_are_left_out() -> None:
    sources = sources_of(passages(" ".join([FILLER] * 8), f"{FILLER} The Hakone plant opened in 1987. {FILLER}"))
    kept = compress("When did the Hakone plant open?", sources, 150)
    text = build_context(kept, 150)
    assert "The Hakone plant opened in 1987." in text
    assert "[2] Title" in text
    assert LEFT_OUT in text
    assert len(text) <= 150


def test_sentences_stay_in_their_order_and_gaps_are_marked() -> None:
    text = f"The plant opened in 1987. {FILLER} {FILLER} The plant closed in 1999. {FILLER}"
    (source,) = compress("When did the plant open and close?", sources_of(passages(text)), 90)
    assert source.text == f"The plant opened in 1987. {LEFT_OUT} The plant closed in 1999. {LEFT_OUT}"


def test_rows_of_a_table_are_kept_with_their_header() -> None:
    rows = "\n".join(f"Town {name} | {number}" for number, name in enumerate("ABCDEFGHIJKLMNOP", 100))
    (source,) = compress("How many live in town F?", sources_of(passages(f"Name | People\n{rows}")), 70)
    assert "Name | People\nTown F | 105" in source.text


def test_numbers_stay_those_of_the_passages() -> None:
    sources = sources_of(passages(" ".join([FILLER] * 4), "The quince is yellow.", " ".join([FILLER] * 4)))
    assert 2 in [source.number for source in compress("What colour is the quince?", sources, 100)]


@given(st.lists(st.text("ab .。\n|春夏1", min_size=1, max_size=120), min_size=1, max_size=4), st.integers(0, 300))
def test_the_budget_is_kept_or_one_sentence_is_left(texts: list[str], budget: int) -> None:
    sources = sources_of(passages(*texts))
    kept = compress("春 a?", sources, budget)
    assert kept == compress("春 a?", sources, budget)
    assert [source.number for source in kept] == sorted(source.number for source in kept)
    assert joined_chars(kept) <= budget or len(kept) <= 1
