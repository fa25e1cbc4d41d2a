"""Pairs of lines that are sure: those that occur once on both sides, by themselves or with the lines after them."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Pairs = tuple[Ints, Ints]

_RARE = 8
_LONGEST_CONTEXT = 64
_ENOUGH = 4
"""Where one line in so many is sure, few of them are by chance."""


def renumbered(old: Ints, new: Ints) -> Pairs:
    """Return both sides with numbers from 0 on in place of any values."""
    numbers = np.unique(np.concatenate((old, new)), return_inverse=True)[1]
    return numbers[: len(old)], numbers[len(old) :]


def no_pairs() -> Pairs:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def counts(old: Ints, new: Ints) -> Pairs:
    """Return how often each number, counted from 0, occurs on each side."""
    most = int(max(old.max(initial=-1), new.max(initial=-1))) + 1
    return np.bincount(old, minlength=most), np.bincount(new, minlength=most)


def single_anchors(old: Ints, new: Ints) -> Pairs:
    """Pair the numbers that occur once on both sides, as far as they rise."""
    in_old, in_new = counts(old, new)
    is_single = (in_old == 1) & (in_new == 1)
    places = np.flatnonzero(is_single[old])
    there = np.flatnonzero(is_single[new])
    place_of = np.empty(len(is_single), np.int64)
    place_of[new[there]] = there
    return _rising(places, place_of[old[places]])


def rare_anchors(old: Ints, new: Ints) -> Pairs:
    """Pair numbers that occur seldom and equally often on both sides, in their order, as far as they rise."""
    in_old, in_new = counts(old, new)
    is_rare = (in_old == in_new) & (in_old <= _RARE) & (in_old > 0)
    places, there = np.flatnonzero(is_rare[old]), np.flatnonzero(is_rare[new])
    partner = np.empty(len(old), np.int64)
    partner[places[np.argsort(old[places], kind="stable")]] = there[np.argsort(new[there], kind="stable")]
    return _rising(places, partner[places])


def context_anchors(old: Ints, new: Ints) -> Pairs:
    """Pair lines of repetitive texts that are single with the lines after them: one more, three, seven, and so on.

    None are returned where even then only few are single, which may be chance.
    """
    wanted = min(len(old), len(new)) / _ENOUGH
    length = 1
    while length < min(_LONGEST_CONTEXT, len(old), len(new)):
        many = int(max(old.max(), new.max())) + 1
        old, new = renumbered(*(side[:-length] * many + side[length:] for side in (old, new)))
        length *= 2
        found = single_anchors(old, new)
        if len(found[0]) >= wanted:
            return found
    return no_pairs()


def _rising(places: Ints, partners: Ints) -> Pairs:
    rising = longest_rise(partners)
    return places[rising], partners[rising]


def longest_rise(values: Ints) -> Ints:
    """Return the places of a longest strictly rising subsequence of distinct values.

    What follows each other on both sides is taken whole or not at all, so that the work grows with the number of places
    where something moved.
    """
    if len(values) < 2 or bool((np.diff(values) > 0).all()):
        return np.arange(len(values))
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values)] = np.arange(len(values))
    starts = np.flatnonzero(np.append(True, np.diff(ranks) != 1))
    sizes = np.diff(np.append(starts, len(ranks)))
    chosen = np.array(_heaviest_rise(ranks[starts].tolist(), sizes.tolist()), np.int64)
    is_kept = np.zeros(len(starts), bool)
    is_kept[chosen] = True
    return np.flatnonzero(np.repeat(is_kept, sizes))


def _heaviest_rise(values: list[int], weights: list[int]) -> list[int]:
    """Return the places of a rising subsequence of distinct values with the most weight."""
    # Of all rises so far: what they end with, their weight and their last place; one that ends higher weighs more.
    ends: list[int] = []
    totals: list[int] = []
    lasts: list[int] = []
    before: list[int] = []
    for place, (value, weight) in enumerate(zip(values, weights, strict=True)):
        at = bisect_left(ends, value)
        total = weight + (totals[at - 1] if at else 0)
        before.append(lasts[at - 1] if at else -1)
        beaten = at
        while beaten < len(ends) and totals[beaten] <= total:
            beaten += 1
        ends[at:beaten], totals[at:beaten], lasts[at:beaten] = [value], [total], [place]
    place = lasts[-1]
    rise = []
    while place >= 0:
        rise.append(place)
        place = before[place]
    return rise[::-1]
