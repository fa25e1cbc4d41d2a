"""Cutting lines: no piece is wider than its column, nothing is lost, and words stay whole where they can."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.versions.diff.measure import cells
from core.versions.diff.wrapping import cut, pieces_needed

_TEXTS = st.text(st.sampled_from("ab c、。「漢字カナー()e\u0301\u200d👩\t\u3099か😀"), max_size=300)


def needed(text: str, column: int) -> int:
    return int(pieces_needed(np.array([cells(text)], dtype=np.uint32), column)[0])


@given(_TEXTS, st.integers(10, 60), st.integers(0, 3))
def test_no_piece_is_wider_than_the_column_and_nothing_is_lost(text: str, column: int, spare: int) -> None:
    pieces = cut([("equal", text)], needed(text, column) + spare, column)

    joined = ["".join(part for _, part in line) for line in pieces]
    assert "".join(joined) == text
    assert all(cells(line) <= column for line in joined)


@given(_TEXTS, st.integers(10, 60))
def test_marks_that_combine_stay_with_their_letter(text: str, column: int) -> None:
    pieces = cut([("equal", text)], needed(text, column), column)

    starts = ["".join(part for _, part in line)[:1] for line in pieces[1:]]
    assert not {"\u0301", "\u3099", "\u200d"} & set(starts)


@given(st.lists(st.tuples(st.sampled_from(["equal", "removed", "added"]), _TEXTS), max_size=6), st.integers(10, 40))
def test_marked_pieces_keep_their_marks(pieces: list[tuple[str, str]], column: int) -> None:
    whole = "".join(text for _, text in pieces)

    lines = cut(pieces, needed(whole, column), column)

    for change in ("equal", "removed", "added"):
        before = "".join(text for kind, text in pieces if kind == change)
        assert "".join(text for line in lines for kind, text in line if kind == change) == before


def test_words_are_not_parted_where_they_fit() -> None:
    text = "several ordinary words that can be cut between them without any trouble at all"

    lines = cut([("equal", text)], needed(text, 20), 20)

    assert all(line[-1][1].endswith(" ") for line in lines[:-1])


def test_japanese_is_cut_anywhere_but_before_closing_signs() -> None:
    text = "契約の期間は、令和八年四月一日から三年とする。ただし、更新することができる。" * 3

    lines = cut([("equal", text)], needed(text, 20), 20)

    assert not [line for line in lines if line and line[0][1][0] in "、。"]


def test_wide_signs_take_two_cells_and_combining_marks_none() -> None:
    assert cells("abc") == 3 and cells("日本") == 4 and cells("ｶﾅ") == 2
    assert cells("e\u0301") == 1 and cells("a\tb") == 6 and cells("①") == 2 and cells("“é”") == 3
