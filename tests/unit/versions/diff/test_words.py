"""Words inside a changed line: exact, whole numbers and dates, morphemes, no confetti."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.model import Change, Segment
from core.versions.diff.words import ends_between, mirrored, tokens, words_between
from tests.unit.versions.texts import no_deadline

_TEXTS = st.text("ab1 2.,令和年月日8か゚が\ud800e\u0301😀漢字カナ\n-'’:", max_size=40)


def told(old: str, new: str) -> list[str]:
    signs = {Change.EQUAL: "=", Change.REMOVED: "-", Change.ADDED: "+"}
    return [signs[segment.change] + segment.text for segment in words_between(old, new)]


def side(words: tuple[Segment, ...], left_out: Change) -> str:
    return "".join(segment.text for segment in words if segment.change is not left_out)


@no_deadline
@given(_TEXTS, _TEXTS)
def test_segments_are_both_texts(old: str, new: str) -> None:
    for words in (words_between(old, new), ends_between(old, new)):
        assert side(words, Change.ADDED) == old
        assert side(words, Change.REMOVED) == new
        assert all(segment.text for segment in words)


@no_deadline
@given(_TEXTS, _TEXTS)
def test_mirroring_twice_changes_nothing_and_swaps_the_texts(old: str, new: str) -> None:
    words = words_between(old, new)

    assert mirrored(mirrored(words)) == words
    assert side(mirrored(words), Change.ADDED) == new


@no_deadline
@given(_TEXTS)
def test_equal_texts_have_no_changed_word(text: str) -> None:
    assert all(segment.change is Change.EQUAL for segment in words_between(text, text))


@no_deadline
@given(_TEXTS)
def test_tokens_lose_nothing(text: str) -> None:
    assert "".join(tokens(text)) == text


def test_a_number_and_a_date_change_as_a_whole() -> None:
    assert told("The fee is 1,200.50 yen until 2026-11-21.", "The fee is 1,300.50 yen until 2026-12-01.") == [
        "=The fee is ",
        "-1,200.50",
        "+1,300.50",
        "= yen until ",
        "-2026-11-21",
        "+2026-12-01",
        "=.",
    ]


def test_a_date_in_japanese_text_changes_as_a_whole() -> None:
    assert told("契約期間は令和8年11月21日から開始する。", "契約期間は令和9年4月1日から開始する。") == [
        "=契約期間は",
        "-令和8年11月21日",
        "+令和9年4月1日",
        "=から開始する。",
    ]


def test_japanese_words_are_morphemes() -> None:
    assert told("甲は乙に対し、料金を支払う。", "丙は丁に対し、料金を支払う。") == [
        "-甲",
        "+丙",
        "=は",
        "-乙",
        "+丁",
        "=に対し、料金を支払う。",
    ]


def test_signs_between_two_changed_words_do_not_stand_alone() -> None:
    assert told("a quick brown fox", "a slow red fox") == ["=a ", "-quick brown", "+slow red", "= fox"]


def test_changed_numbers_of_a_row_stay_apart() -> None:
    assert told("12 34", "13 35") == ["-12", "+13", "= ", "-34", "+35"]


def test_a_small_change_in_a_long_line_is_found() -> None:
    text = "Some words that repeat for a while. " * 2_000

    words = words_between(text + "old end." + text, text + "new end." + text)

    assert [segment.text for segment in words if segment.change is not Change.EQUAL] == ["old", "new"]
