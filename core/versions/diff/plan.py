"""How the lines of two texts belong together, as arrays: which are equal, which changed into which, which moved.

Everything is computed with the sides in one fixed order and swapped afterwards if need be, so that comparing B with A
gives the mirror image of comparing A with B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.versions.diff.align import align
from core.versions.diff.anchors import longest_rise, renumbered
from core.versions.diff.budget import Budget, Clock
from core.versions.diff.edited_moves import edited_moves
from core.versions.diff.lines import Lines
from core.versions.diff.moves import MoveSide, moved_lines
from core.versions.diff.pair_gaps import similar_lines
from core.versions.diff.progress import UNHEARD, Progress
from core.versions.diff.slide_hunks import slide_hunks

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_SLICE_LINES = 65_536
_NUMBERED, _ALIGNED = 0.4, 0.75
"""Which share of the work is done by then, as a rule."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Paired lines, rising on both sides, with what is equal among them; moved lines; whether more may be equal.

    Of a moved line a number or a few words may have changed.
    """

    old: Ints
    new: Ints
    is_equal: Bools
    old_moved: Ints
    new_moved: Ints
    is_coarse: bool

    def mirrored(self) -> Plan:
        return Plan(self.new, self.old, self.is_equal, self.new_moved, self.old_moved, self.is_coarse)


def plan(old: Lines, new: Lines, budget: Budget, clock: Clock, progress: Progress = UNHEARD) -> Plan:
    """Decide which lines belong together."""
    if old.data > new.data:
        return plan(new, old, budget, clock, progress).mirrored()
    if old.data == new.data:
        every, none = np.arange(len(old)), np.zeros(0, np.int64)
        return Plan(every, every, np.ones(len(old), bool), none, none, False)
    numbers = renumbered(_hashes(old, progress.part(0.0, 0.15)), _hashes(new, progress.part(0.15, 0.3)))
    progress(_NUMBERED)
    matches = slide_hunks((old, new), numbers, align(*numbers))
    progress(_ALIGNED)
    is_free = [np.ones(len(lines), bool) for lines in (old, new)]
    is_free[0][matches.old] = is_free[1][matches.new] = False
    sides = [
        MoveSide(side_numbers, lines.ends - lines.starts, np.flatnonzero(free))
        for side_numbers, lines, free in zip(numbers, (old, new), is_free, strict=True)
    ]
    moved = moved_lines(sides[0], sides[1], len(old) + len(new))
    is_free[0][moved[0]] = is_free[1][moved[1]] = False
    pairs = np.zeros((0, 2), np.int64)
    if budget.pairing:
        left = np.flatnonzero(is_free[0]), np.flatnonzero(is_free[1])
        rest = progress.part(_ALIGNED, 1.0)
        pairs = similar_lines((old, new), left, (matches.old, matches.new), clock.is_spent, rest)
        alone = np.setdiff1d(left[0], pairs[:, 0], True), np.setdiff1d(left[1], pairs[:, 1], True)
        paired = np.concatenate((np.stack((matches.old, matches.new), axis=1), pairs))
        in_order, elsewhere = _by_order(edited_moves((old, new), alone, clock.is_spent), paired)
        pairs = np.concatenate((pairs, in_order))
        moved = np.concatenate((moved[0], elsewhere[:, 0])), np.concatenate((moved[1], elsewhere[:, 1]))
    is_equal = np.concatenate((_are_equal(old, new, matches.old, matches.new), _are_equal(old, new, *pairs.T)))
    old_paired, new_paired = np.concatenate((matches.old, pairs[:, 0])), np.concatenate((matches.new, pairs[:, 1]))
    order = np.argsort(old_paired, kind="stable")
    is_coarse = matches.is_coarse or not budget.pairing or clock.is_spent()
    return Plan(old_paired[order], new_paired[order], is_equal[order], *moved, is_coarse)


def _by_order(found: list[tuple[int, int]], paired: Ints) -> tuple[Ints, Ints]:
    """Part pairs of lines, rising on the old side, into those that fit in between ``paired``, and the others."""
    both = np.array(found, np.int64).reshape(-1, 2)
    old, new = (np.searchsorted(np.sort(paired[:, side]), both[:, side]) for side in (0, 1))
    fits = np.flatnonzero(old == new)
    fits = fits[longest_rise(both[fits, 1])]
    return both[fits], np.delete(both, fits, axis=0)


def _hashes(lines: Lines, progress: Progress) -> Ints:
    """Return a number for each line's text: where they differ, the texts do; ``_are_equal`` looks at the others."""
    data, numbers = lines.data, np.empty(len(lines), np.int64)
    for first in range(0, len(lines), _SLICE_LINES):
        last = first + _SLICE_LINES
        spans = map(slice, lines.starts[first:last].tolist(), lines.ends[first:last].tolist())
        numbers[first:last] = np.fromiter(map(hash, map(data.__getitem__, spans)), np.int64)
        progress(first / len(lines))
    return numbers


def _are_equal(old: Lines, new: Lines, old_places: Ints, new_places: Ints) -> Bools:
    """Tell for each pair whether text and joint are the same."""
    is_equal: Bools = old.joint_lengths()[old_places] == new.joint_lengths()[new_places]
    breaks = (np.diff(old_places) != 1) | (np.diff(new_places) != 1)
    starts = np.flatnonzero(np.append(True, breaks)) if len(old_places) else old_places
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(old_places)], strict=False):
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
