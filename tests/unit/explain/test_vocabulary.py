"""A vocabulary is checked before it is kept."""

from __future__ import annotations

import pytest

from core.errors import InvalidInput
from core.explain.vocabulary import LONGEST_GROUP, LONGEST_WORD, checked_synonyms, checked_words


def test_words_are_kept_once_with_their_readings() -> None:
    given = [("  校正  証明書 ", " コウセイ "), ("AB-1234",), ["ab 1234", "x"], ("ＡＢ　１２３４", "")]
    assert checked_words(given) == (("校正 証明書", "コウセイ"), ("AB-1234", ""))


def test_groups_are_kept_once_with_their_different_words() -> None:
    given = [["laptop", "Laptop", "notebook computer"], ["notebook computer", "laptop"]]
    assert checked_synonyms(given) == (("laptop", "notebook computer"),)


@pytest.mark.parametrize(
    "word",
    [
        (),
        ("",),
        ("a",),
        ("🙂🙂",),
        ("---",),
        ("a" * (LONGEST_WORD + 1),),
        ("a\0b",),
        ("\ud800b",),
        (1, ""),
        "ab",
        ("ab", 3),
    ],
)
def test_what_is_no_word_is_refused(word: object) -> None:
    with pytest.raises(InvalidInput):
        checked_words([word])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "group",
    [[], ["one"], ["one", "One"], "one", ["one", ""], ["one", "…"], [f"w{n}" for n in range(LONGEST_GROUP + 1)]],
)
def test_what_is_no_group_is_refused(group: list[str]) -> None:
    with pytest.raises(InvalidInput):
        checked_synonyms([group])
