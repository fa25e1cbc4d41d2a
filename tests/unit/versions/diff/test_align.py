"""Alignment: equal lines paired in order, however repetitive the texts are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.versions.diff import align as alignment
from core.versions.diff.align import align
from core.versions.diff.anchors import longest_rise
from tests.unit.versions.texts import no_deadline

_NUMBERS = st.lists(st.integers(0, 5), max_size=40) | st.lists(st.integers(0, 60), max_size=40)


def array(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.int64)


def assert_sound(old: list[int], new: list[int]) -> int:
    matches = align(array(old), array(new))
    assert (np.diff(matches.old) > 0).all()
    assert (np.diff(matches.new) > 0).all()
    assert (array(old)[matches.old] == array(new)[matches.new]).all()
    return len(matches.old)


@no_deadline
@given(_NUMBERS, _NUMBERS)
def test_pairs_are_equal_and_rise_on_both_sides(old: list[int], new: list[int]) -> None:
    assert_sound(old, new)


@no_deadline
@given(_NUMBERS, _NUMBERS)
def test_pairs_are_sound_also_where_texts_are_compared_in_windows(old: list[int], new: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "_EXACT_CELLS", 8)
        patch.setattr(alignment, "_EXACT_WHOLE", 8)
        patch.setattr(alignment, "_WINDOW", 8)
        assert_sound(old, new)


@no_deadline
@given(_NUMBERS)
def test_the_same_lines_are_all_paired(lines: list[int]) -> None:
    assert assert_sound(lines, lines) == len(lines)


@no_deadline
@given(st.lists(st.integers(0, 1000), unique=True, max_size=60), st.data())
def test_every_kept_line_is_found_when_lines_differ_from_each_other(lines: list[int], data: st.DataObject) -> None:
    kept = [line for line in lines if data.draw(st.booleans())]

    assert assert_sound(lines, kept) == len(kept)


def test_the_largest_share_keeps_its_order_when_chapters_change_places() -> None:
    assert assert_sound([1, 2, 3, 10, 11, 12, 13], [10, 11, 12, 13, 1, 2, 3]) == 4


def test_lines_between_anchors_are_paired_though_they_repeat() -> None:
    assert assert_sound([9, 0, 1, 0, 8], [9, 0, 0, 8]) == 4


def test_texts_without_a_common_line_have_no_pairs() -> None:
    assert assert_sound([1, 2, 3], [4, 5, 6]) == 0


def test_a_longest_rise_is_found() -> None:
    assert longest_rise(array([3, 1, 2, 5, 4])).tolist() in ([1, 2, 3], [1, 2, 4])


def test_very_repetitive_texts_are_paired_nearly_all_and_said_to_be_coarse() -> None:
    old = np.arange(60_000) % 7
    new = np.delete(old, np.arange(100, 60_000, 600))

    matches = align(old, new)

    assert matches.is_coarse
    assert len(matches.old) > 0.99 * len(new)


def test_identical_lines_are_paired_at_once_and_exactly() -> None:
    matches = align(np.zeros(300_000, np.int64), np.zeros(299_000, np.int64))

    assert len(matches.old) == 299_000
    assert not matches.is_coarse


def repetitive(count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Lines of which each occurs some hundred times; one in a hundred is gone or another one; how many are left."""
    draw = np.random.default_rng(7)
    old = draw.integers(0, 1_000, count)
    new = old.copy()
    edited = draw.choice(count, count // 100, replace=False)
    new[edited] = draw.integers(1_000, 2_000, len(edited))
    return old, np.delete(new, edited[::3]), count - len(edited)


@pytest.mark.parametrize("count", [10_000, 200_000])
def test_repetitive_lines_of_a_long_text_are_paired_as_finely_as_those_of_a_short_one(count: int) -> None:
    old, new, left = repetitive(count)

    matches = align(old, new)

    assert not matches.is_coarse
    assert len(matches.old) == left


def test_gaps_without_a_common_line_are_settled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    longest = alignment._longest
    monkeypatch.setattr(alignment, "_longest", lambda old, new: compared.append(len(old)) or longest(old, new))
    old = np.arange(100_000)
    new = np.where(old % 20 == 0, old, old + 100_000)

    assert len(align(old, new).old) == 5_000
    assert not compared


@no_deadline
@given(st.lists(st.integers(0, 300), unique=True, max_size=60))
def test_no_rise_is_longer_than_the_one_found(values: list[int]) -> None:
    found = longest_rise(array(values))
    lengths: list[int] = []
    for place, value in enumerate(values):
        shorter = (length for before, length in zip(values[:place], lengths, strict=True) if before < value)
        lengths.append(1 + max(shorter, default=0))

    assert (np.diff(array(values)[found]) > 0).all()
    assert len(found) == max(lengths, default=0)
