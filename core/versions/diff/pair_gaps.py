"""Pairs similar lines in each gap between equal ones: table rows with table rows, other lines with other lines."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from core.versions.diff.lines import Lines
from core.versions.diff.pairing import Pair, Texts, line_similarity, pair_similar
from core.versions.diff.progress import Progress
from core.versions.diff.row_names import RowNames
from core.versions.diff.short_lines import shares_of_ends
from core.versions.diff.tables import row_similarity

Ints = npt.NDArray[np.int64]
Both = tuple[Ints, Ints]

_MANY_ROWS = 32
_MANY_LINES = 20_000
_SURE, _MOST = 0.5, 0.8
"""For the order of a gap to hold: the least share of two lines that is the same at their ends, and of such lines."""


def similar_lines(
    lines: tuple[Lines, Lines], left: Both, equal: Both, is_spent: Callable[[], bool], progress: Progress
) -> Ints:
    """Return pairs of the lines that are left, shape ``(n, 2)``; none crosses a pair of equal lines."""
    if min(map(len, left)) < _MANY_LINES:
        return _similar_in_gaps(lines, left, equal, is_spent, progress)
    sure = _in_order(lines, left, equal)
    left = np.setdiff1d(left[0], sure[0], True), np.setdiff1d(left[1], sure[1], True)
    known = np.sort(np.concatenate((equal[0], sure[0]))), np.sort(np.concatenate((equal[1], sure[1])))
    return np.concatenate((np.stack(sure, axis=1), _similar_in_gaps(lines, left, known, is_spent, progress)))


def _in_order(lines: tuple[Lines, Lines], left: Both, equal: Both) -> Both:
    """Return pairs of lines in gaps with as many on both sides, nearly all of which are like their counterpart.

    Each is more like it than like its neighbours: a line that was put in before others moves them all by one.
    """
    gaps = [np.searchsorted(matched, places) for places, matched in zip(left, equal, strict=True)]
    sizes = [np.bincount(gap, minlength=len(equal[0]) + 1) for gap in gaps]
    is_even = (sizes[0] == sizes[1]) & (sizes[0] > 0)
    old, new = (places[is_even[gap]] for places, gap in zip(left, gaps, strict=True))
    gap = gaps[0][is_even[gaps[0]]]
    share = shares_of_ends(lines, (old, new))
    is_sure = (share >= _SURE) & ~(lines[0].is_table(old) | lines[1].is_table(new))
    follows = gap[1:] == gap[:-1]
    for shifted in ((old[:-1], new[1:]), (old[1:], new[:-1])):
        other = np.where(follows, shares_of_ends(lines, shifted), -1)
        is_sure[:-1] &= share[:-1] > other
        is_sure[1:] &= share[1:] > other
    counts = np.bincount(gap, weights=is_sure, minlength=len(is_even))
    is_sure &= (counts >= _MOST * sizes[0])[gap]
    return old[is_sure], new[is_sure]


def _similar_in_gaps(
    lines: tuple[Lines, Lines], left: Both, equal: Both, is_spent: Callable[[], bool], progress: Progress
) -> Ints:
    gaps = [np.searchsorted(matched, places) for places, matched in zip(left, equal, strict=True)]
    shared = np.intersect1d(gaps[0], gaps[1])
    borders = [np.searchsorted(gap, shared, side).tolist() for gap in gaps for side in ("left", "right")]
    # Millions of pairs as tuples would take a gigabyte.
    found = array("q")
    names = RowNames(lines)
    may_be_tables = any(side.has_tables for side in lines)
    for old_first, old_last, new_first, new_last in zip(*borders, strict=True):
        if is_spent():
            break
        progress(old_first / len(left[0]))
        gap = left[0][old_first:old_last], left[1][new_first:new_last]
        stretches = _stretches(lines, gap) if may_be_tables else [(gap[0].tolist(), gap[1].tolist(), False)]
        for old, new, is_table in stretches:
            texts = Texts(lines[0].texts_at, old), Texts(lines[1].texts_at, new)
            pairs = _row_pairs(*texts, names, is_spent) if is_table else pair_similar(*texts, line_similarity, is_spent)
            found.extend(chain.from_iterable(pairs))
    return np.array(found, np.int64).reshape(-1, 2)


def _row_pairs(old: Texts, new: Texts, names: RowNames, is_spent: Callable[[], bool]) -> list[Pair]:
    """Pair many rows by their names first, and by similarity between those pairs."""
    named = names.between(old.places[0], new.places[0])
    similarity = named.similarity if named else row_similarity
    first_pairs = named.pairs(old[:], new[:]) if named and min(len(old), len(new)) > _MANY_ROWS else []
    pairs = [(old.places[first], new.places[second]) for first, second in first_pairs]
    borders = [(-1, -1), *first_pairs, (len(old), len(new))]
    for (old_before, new_before), (old_after, new_after) in pairwise(borders):
        if old_after - old_before > 1 and new_after - new_before > 1:
            between = old.part(old_before + 1, old_after), new.part(new_before + 1, new_after)
            pairs += pair_similar(*between, similarity, is_spent)
    return pairs


def _stretches(lines: tuple[Lines, Lines], gap: Both) -> list[tuple[list[int], list[int], bool]]:
    """Cut both sides of a gap where tables begin and end, and put the stretches of one sort together in order."""
    sides = []
    for side, places in zip(lines, gap, strict=True):
        is_table = side.is_table(places)
        cuts = [0, *(np.flatnonzero(np.diff(is_table)) + 1).tolist(), len(places)]
        sides.append([(places[first:last].tolist(), bool(is_table[first])) for first, last in pairwise(cuts)])
    old, new = sides
    found = []
    old_at = new_at = 0
    while old_at < len(old) and new_at < len(new):
        if old[old_at][1] == new[new_at][1]:
            found.append((old[old_at][0], new[new_at][0], old[old_at][1]))
            old_at, new_at = old_at + 1, new_at + 1
        elif len(old) - old_at > len(new) - new_at:
            old_at += 1
        else:
            new_at += 1
    return found
