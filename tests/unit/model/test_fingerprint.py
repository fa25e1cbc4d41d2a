"""A fingerprint tells what a row was made of and by."""

from __future__ import annotations

import pytest

from core.catalog.documents.chunk_rows import content_hash
from core.model.fingerprint import fingerprint
from core.text.analysis import ANALYSER_ID
from core.text.vocabulary import PLAIN, Words

CONTENT = content_hash("The ferry leaves at noon.")


def test_same_content_by_the_same_maker_has_the_same_fingerprint_within_64_bits() -> None:
    made = fingerprint(CONTENT, "e5")
    assert made == fingerprint(bytes(CONTENT), "e5")
    assert -(2**63) <= made < 2**63
    assert made != 0


@pytest.mark.parametrize(
    ("one", "other"), [("e5", "e6"), ("m" * 64, "m" * 65), ("m" * 80 + "a", "m" * 80 + "b"), ("", "e5"), ("日", "本")]
)
def test_another_maker_gives_another_fingerprint(one: str, other: str) -> None:
    assert fingerprint(CONTENT, one) != fingerprint(CONTENT, other)


def test_another_content_gives_another_fingerprint() -> None:
    assert fingerprint(CONTENT, "e5") != fingerprint(content_hash("The ferry leaves at one."), "e5")


def test_words_of_a_vocabulary_make_other_terms_whatever_their_order_and_synonyms_do_not() -> None:
    assert PLAIN.built_by == Words([], [["laptop", "notebook"]]).built_by == ANALYSER_ID
    assert Words(["AB 12", "旅費規程"]).built_by == Words(["旅費規程", "AB 12"], [["leave", "vacation"]]).built_by
    assert len({PLAIN.built_by, Words(["AB 12"]).built_by, Words(["AB 12", "旅費規程"]).built_by}) == 3
