"""Runs parted by content: nothing lost, sizes within bounds, and an edit that is forgotten soon after it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.content_defined import ContentRun, checksum

_SMALLEST, _LARGEST = 40.0, 100.0


def groups(pieces: Sequence[str], weights: Sequence[float] | None = None) -> list[list[str]]:
    run: ContentRun[str] = ContentRun(_SMALLEST, _LARGEST)
    found, last = [], ""
    for number, piece in enumerate(pieces):
        weight = weights[number] if weights else 4.0
        found += run.add(piece, weight, checksum(last, piece))
        last = piece
    return [*found, *run.finish()]


def lines(count: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.randint(1, 9_999)} valves" for _ in range(count)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.0, 250.0)), max_size=120))
def test_groups_hold_every_piece_in_order_and_within_the_bound(pieces: list[tuple[str, float]]) -> None:
    texts = [f"{number} {text}" for number, (text, _) in enumerate(pieces)]
    weights = dict(zip(texts, (weight for _, weight in pieces), strict=True))
    found = groups(texts, list(weights.values()))
    assert [piece for group in found for piece in group] == texts
    for group in found:
        assert len(group) == 1 or sum(weights[piece] for piece in group) <= _LARGEST + 1e-6


def test_short_run_stays_whole() -> None:
    assert groups(lines(25)) == [lines(25)]
    assert groups([]) == []


def test_groups_are_of_like_size() -> None:
    sizes = [4.0 * len(group) for group in groups(lines(5_000))]
    assert min(sizes) >= 0.75 * _SMALLEST
    assert max(sizes) <= _LARGEST
    assert sum(sizes) / len(sizes) >= 0.5 * _LARGEST


@pytest.mark.parametrize("place", [0, 1, 700, 1_999])
@pytest.mark.parametrize("count", [1, 3, 50])
def test_pieces_inserted_anywhere_change_few_other_groups(place: int, count: int) -> None:
    pieces = lines(2_000)
    known = {tuple(group) for group in groups(pieces)}
    edited = [*pieces[:place], *(f"new {n}" for n in range(count)), *pieces[place:]]
    changed = [group for group in groups(edited) if tuple(group) not in known]
    assert len(known) > 100
    assert len(changed) <= 5 + count * 4.0 / _SMALLEST


def test_equal_pieces_are_parted_without_end() -> None:
    run: ContentRun[str] = ContentRun(_SMALLEST, _LARGEST)
    given_back = 0
    for number in range(1, 20_000):
        given_back += sum(map(len, run.add("same", 4.0, 7)))
        assert number - given_back <= 250
