"""What of a source is read with a claim."""

from __future__ import annotations

from core.query.guard.evidence import evidence_in


def chosen(claimed: str, sentences: list[str], most: int) -> list[int]:
    return evidence_in(
        set(claimed.split()), [set(one.split()) for one in sentences], [len(one) for one in sentences], most
    )


def test_a_source_that_fits_is_read_whole() -> None:
    assert chosen("pumps", ["the plant makes pumps", "it stands by a river"], 60) == [0, 1]


def test_of_a_long_one_the_sentences_that_hold_the_words_are_read_in_their_order() -> None:
    sentences = ["the plant makes pumps"] + ["nothing of this is asked"] * 9 + ["it employs many people"]
    assert chosen("people pumps", sentences, 45) == [0, 10]


def test_what_stands_before_a_chosen_sentence_is_read_where_there_is_room() -> None:
    sentences = ["far away", "the plant is old", "it employs many people", *["nothing of this is asked"] * 9]
    assert chosen("people", sentences, 42) == [1, 2]


def test_a_rare_word_counts_for_more_than_one_that_stands_everywhere() -> None:
    sentences = ["the plant is old", "the plant is red", "a valve"]
    assert chosen("plant valve", sentences, 10) == [2]


def test_one_sentence_that_is_longer_than_all_that_is_read_is_taken() -> None:
    assert chosen("pumps", ["the plant makes pumps " * 9, "it stands by a river"], 20) == [0]


def test_where_no_sentence_holds_a_word_the_first_ones_are_read() -> None:
    assert chosen("lorry", ["it stands by a river", "it is old", "the plant makes pumps " * 9], 40) == [0, 1]
    assert chosen("lorry", ["the plant makes pumps " * 9, "it stands by a river"], 20) == [0]
