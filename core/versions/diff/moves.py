"""Lines that were removed at one place and added at another: the same text, long enough to be no chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_LONG_LINE, _LONG_RUN = 20, 12
"""Bytes that a line alone, or a run of at least two lines, must have."""
_NONE = -1


class MoveSide(NamedTuple):
    """One side: numbers of all lines (equal lines have equal ones), their bytes, and which lines have no partner."""

    numbers: Ints
    sizes: Ints
    unmatched: Ints


def moved_lines(old: MoveSide, new: MoveSide, numbers: int) -> tuple[Ints, Ints]:
    """Return the places of moved lines on both sides, rising on the old side; each line is in one pair at most.

    All numbers of lines are below ``numbers``.
    """
    in_old = np.bincount(old.numbers[old.unmatched], minlength=numbers)
    in_new = np.bincount(new.numbers[new.unmatched], minlength=numbers)
    is_shared = (in_old > 0) & (in_new > 0)
    removed = old.unmatched[is_shared[old.numbers[old.unmatched]]]
    added = new.unmatched[is_shared[new.numbers[new.unmatched]]]
    if not len(removed):
        return removed, added
    partner = np.full(len(old.numbers) + 1, _NONE, np.int64)
    is_single = (in_old == 1) & (in_new == 1)
    place = np.empty(numbers, np.int64)
    place[new.numbers[added]] = added
    singles = removed[is_single[old.numbers[removed]]]
    partner[singles] = place[old.numbers[singles]]
    _pair_repeated(
        _numbered(old, removed[~is_single[old.numbers[removed]]]),
        _numbered(new, added[~is_single[new.numbers[added]]]),
        partner,
    )
    moved = removed[partner[removed] != _NONE]
    kept = _long_enough(np.stack((moved, partner[moved]), axis=1), old.sizes[moved])
    return moved[kept], partner[moved[kept]]


def _numbered(side: MoveSide, places: Ints) -> dict[int, int]:
    return dict(zip(places.tolist(), side.numbers[places].tolist(), strict=True))


def _pair_repeated(removed: dict[int, int], added: dict[int, int], partner: Ints) -> None:
    """Pair texts that occur several times: beside lines that are paired already, then those left in order."""
    for step in (1, -1):
        for old in sorted(removed, reverse=step < 0):
            neighbour = int(partner[old - step])
            if neighbour != _NONE and partner[old] == _NONE and added.get(neighbour + step) == removed[old]:
                partner[old] = neighbour + step
                del added[neighbour + step]
    left: dict[int, list[int]] = {}
    for new, number in sorted(added.items(), reverse=True):
        left.setdefault(number, []).append(new)
    for old, number in removed.items():
        if partner[old] == _NONE and left.get(number):
            partner[old] = left[number].pop()


def _long_enough(places: Ints, sizes: Ints) -> npt.NDArray[np.bool_]:
    """Tell which pairs are long, or belong to a run of pairs that is."""
    starts = np.flatnonzero(np.append(True, (np.diff(places, axis=0) != 1).any(axis=1)))
    lengths = np.diff(np.append(starts, len(places)))
    is_long_run = (lengths > 1) & (np.add.reduceat(sizes, starts) >= _LONG_RUN)
    return (sizes >= _LONG_LINE) | np.repeat(is_long_run, lengths)
