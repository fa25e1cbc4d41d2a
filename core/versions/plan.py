"""How the lines of two texts belong together, as arrays: which are equal, which changed into which, which moved.

Everything is computed with the sides in one fixed order and swapped afterwards if need be, so that comparing B with A
gives the mirror image of comparing A with B.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from time import monotonic

import numpy as np
import numpy.typing as npt

from core.model import BlockKind
from core.versions.align import align
from core.versions.lines import Lines
from core.versions.moves import Side, moved_lines
from core.versions.pairing import Pair, line_similarity, pair_similar
from core.versions.tables import row_similarity

Ints = npt.NDArray[np.int64]

_SLICE_LINES = 65_536
_SLICE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a comparison may spend: without ``seconds`` no clock is read, and the same texts give the same rows."""

    seconds: float | None = None
    max_word_chars: int = 20_000
    words: bool = True
    pairing: bool = True


class Clock:
    """Tells when the seconds of a budget are spent, counted from now."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    def is_spent(self) -> bool:
        return self._end is not None and monotonic() > self._end


@dataclass(frozen=True, slots=True)
class Plan:
    """Paired lines, rising on both sides, with what is equal among them; moved lines; whether more may be equal."""

    old: Ints
    new: Ints
    is_equal: npt.NDArray[np.bool_]
    old_moved: Ints
    new_moved: Ints
    is_coarse: bool

    def mirrored(self) -> Plan:
        return Plan(self.new, self.old, self.is_equal, self.new_moved, self.old_moved, self.is_coarse)


def plan(old: Lines, new: Lines, budget: Budget, clock: Clock) -> Plan:
    """Decide which lines belong together."""
    if old.data > new.data:
        return plan(new, old, budget, clock).mirrored()
    if old.data == new.data:
        every, none = np.arange(len(old)), np.zeros(0, np.int64)
        return Plan(every, every, np.ones(len(old), bool), none, none, False)
    numbers = _numbers(old), _numbers(new)
    matches = align(*numbers)
    sides = [
        Side(side_numbers, lines.ends - lines.starts, _missing(len(lines), matched))
        for side_numbers, lines, matched in zip(numbers, (old, new), matches[:2], strict=True)
    ]
    old_moved, new_moved = moved_lines(*sides)
    is_equal = _are_equal(old, new, matches.old, matches.new)
    pairs = np.zeros((0, 2), np.int64)
    is_cut_short = not budget.pairing
    if budget.pairing:
        left = np.setdiff1d(sides[0].unmatched, old_moved), np.setdiff1d(sides[1].unmatched, new_moved)
        pairing = _Pairing(old, new, clock)
        pairs = pairing.pairs(left, (matches.old, matches.new))
        is_cut_short = clock.is_spent()
    old_paired, new_paired = np.concatenate((matches.old, pairs[:, 0])), np.concatenate((matches.new, pairs[:, 1]))
    order = np.argsort(old_paired, kind="stable")
    is_equal = np.concatenate((is_equal, np.zeros(len(pairs), bool)))[order]
    is_coarse = matches.is_coarse or is_cut_short
    return Plan(old_paired[order], new_paired[order], is_equal, old_moved, new_moved, is_coarse)


def _numbers(lines: Lines) -> Ints:
    """Return a number for each line's text; lines with different numbers differ, ``_are_equal`` looks at the others."""
    data, numbers = lines.data, np.empty(len(lines), np.int64)
    for first in range(0, len(lines), _SLICE_LINES):
        last = first + _SLICE_LINES
        spans = map(slice, lines.starts[first:last].tolist(), lines.ends[first:last].tolist())
        numbers[first:last] = np.fromiter(map(hash, map(data.__getitem__, spans)), np.int64)
    return numbers


def _missing(count: int, found: Ints) -> Ints:
    is_missing = np.ones(count, bool)
    is_missing[found] = False
    return np.flatnonzero(is_missing)


def _are_equal(old: Lines, new: Lines, old_places: Ints, new_places: Ints) -> npt.NDArray[np.bool_]:
    """Tell for each pair whether text and joint are the same."""
    is_equal: npt.NDArray[np.bool_] = old.joint_lengths()[old_places] == new.joint_lengths()[new_places]
    starts = np.flatnonzero(np.append(True, (np.diff(old_places) != 1) | (np.diff(new_places) != 1)))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(old_places)], strict=True):
        for first in range(start, end, _SLICE_LINES):
            last = min(first + _SLICE_LINES, end)
            if is_equal[first:last].all() and _span(old, old_places, first, last) == _span(
                new, new_places, first, last
            ):
                continue
            for each in range(first, last):
                is_equal[each] &= _span(old, old_places, each, each + 1) == _span(new, new_places, each, each + 1)
    return is_equal


def _span(lines: Lines, places: Ints, first: int, last: int) -> bytes:
    return lines.data[lines.starts[places[first]] : lines.ends[places[last - 1]]]


class _Pairing:
    """Pairs similar lines in each gap between equal ones, table rows with table rows alone."""

    def __init__(self, old: Lines, new: Lines, clock: Clock) -> None:
        self._old = old
        self._new = new
        self._clock = clock

    def pairs(self, left: tuple[Ints, Ints], matched: tuple[Ints, Ints]) -> Ints:
        """Return pairs of the lines that are left, shape ``(n, 2)``; none crosses a pair of equal lines."""
        gaps = [np.searchsorted(equal, lines) for lines, equal in zip(left, matched, strict=True)]
        shared = np.intersect1d(*gaps)
        found = []
        borders = [np.searchsorted(gap, shared, side) for gap in gaps for side in ("left", "right")]
        for old_first, old_last, new_first, new_last in zip(*(border.tolist() for border in borders), strict=True):
            if self._clock.is_spent():
                break
            old, new = left[0][old_first:old_last].tolist(), left[1][new_first:new_last].tolist()
            found.append(self._pairs_in_gap(old, new))
        return np.array(list(chain.from_iterable(found)), np.int64).reshape(-1, 2)

    def _pairs_in_gap(self, old: list[int], new: list[int]) -> list[Pair]:
        """Pair the stretches of table rows and of other lines in order."""
        pairs: list[Pair] = []
        for old_part, new_part, is_table in _stretches(self._old, old, self._new, new):
            old_texts, new_texts = list(map(self._old.text, old_part)), list(map(self._new.text, new_part))
            similarity = row_similarity if is_table else line_similarity
            found = pair_similar(old_texts, new_texts, similarity, self._clock.is_spent)
            pairs += [(old_part[first], new_part[second]) for first, second in found]
        return pairs


def _stretches(
    old_lines: Lines, old: list[int], new_lines: Lines, new: list[int]
) -> list[tuple[list[int], list[int], bool]]:
    """Cut both sides of a gap where tables begin and end, and put the stretches of one sort together in order."""
    sides = []
    for lines, places in ((old_lines, old), (new_lines, new)):
        is_table = [lines.place(place).kind is BlockKind.TABLE for place in places]
        cuts = [0, *(at for at in range(1, len(places)) if is_table[at] != is_table[at - 1]), len(places)]
        sides.append([(places[first:last], is_table[first]) for first, last in pairwise(cuts)])
    found = []
    left, right = sides
    while left and right:
        if left[0][1] == right[0][1]:
            (old_part, is_table), (new_part, _same) = left.pop(0), right.pop(0)
            found.append((old_part, new_part, is_table))
        else:
            (left if len(left) > len(right) else right).pop(0)
    return found
