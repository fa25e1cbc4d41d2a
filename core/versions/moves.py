"""Lines that were removed at one place and added at another: the same text, long enough to be no chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_LONG_LINE, _LONG_RUN = 20, 12
"""Bytes that a line alone, or a run of at least two lines, must have."""


class Side(NamedTuple):
    """One side: numbers of all lines (equal lines have equal ones), their bytes, and which lines have no partner."""

    numbers: Ints
    sizes: Ints
    unmatched: Ints


def moved_lines(old: Side, new: Side) -> tuple[Ints, Ints]:
    """Return the places of moved lines on both sides, rising on the old side; each line is in one pair at most."""
    removed = old.unmatched[np.isin(old.numbers[old.unmatched], new.numbers[new.unmatched])]
    if not len(removed):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    added = new.unmatched[np.isin(new.numbers[new.unmatched], old.numbers[removed])]
    pairs = _pairs(dict(_numbered(old, removed)), dict(_numbered(new, added)))
    places = np.array(sorted(pairs.items()), np.int64)
    kept = _long_enough(places, old.sizes[places[:, 0]])
    return places[kept, 0], places[kept, 1]


def _numbered(side: Side, places: Ints) -> zip[tuple[int, int]]:
    return zip(places.tolist(), side.numbers[places].tolist(), strict=True)


def _pairs(removed: dict[int, int], added: dict[int, int]) -> dict[int, int]:
    """Pair texts that occur once on both sides, then their neighbours, then what is left in order."""
    old_places, new_places = _by_number(removed), _by_number(added)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for number, places in old_places.items():
        if len(places) == len(new_places[number]) == 1:
            pairs[places[0]] = new_places[number][0]
            taken.add(new_places[number][0])
    for step in (1, -1):
        for old, new in sorted(pairs.items(), reverse=step < 0):
            old, new = old + step, new + step
            while old not in pairs and new not in taken and removed.get(old, -1) == added.get(new) is not None:
                pairs[old] = new
                taken.add(new)
                old, new = old + step, new + step
    for number, places in old_places.items():
        left = [place for place in places if place not in pairs]
        pairs.update(zip(left, (place for place in new_places[number] if place not in taken), strict=False))
    return pairs


def _by_number(numbers: dict[int, int]) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for place, number in numbers.items():
        places.setdefault(number, []).append(place)
    return places


def _long_enough(places: Ints, sizes: Ints) -> npt.NDArray[np.bool_]:
    """Tell which pairs are long, or belong to a run of pairs that is."""
    starts = np.flatnonzero(np.append(True, (np.diff(places, axis=0) != 1).any(axis=1)))
    lengths = np.diff(np.append(starts, len(places)))
    is_long_run = (lengths > 1) & (np.add.reduceat(sizes, starts) >= _LONG_RUN)
    return (sizes >= _LONG_LINE) | np.repeat(is_long_run, lengths)
