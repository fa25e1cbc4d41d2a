"""Which lines of two texts are the same: both come as arrays of small numbers, equal lines have equal numbers.

Lines that occur once on both sides are the anchors (patience diff); what lies between them is divided in the same way,
all gaps of a level at once, then compared exactly. A stretch too large for that has anchors of several lines, and is
compared in windows only where even those repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from core.versions.diff.anchors import context_anchors, counts, no_pairs, rare_anchors, renumbered, single_anchors

Ints = npt.NDArray[np.int64]
Pairs = tuple[Ints, Ints]
Regions = Ints
"""Where regions start and end on the old side, then on the new one, rising on both. Shape ``(4, n)``."""

_EXACT_CELLS, _EXACT_WHOLE = 1 << 28, 1 << 30
"""Lines of one side times lines of the other that are compared exactly: in one stretch of many, and of whole texts."""
_WINDOW = 4_096
_DEEPEST = 16
_FIRST_STEP = 64
_TRIM_ROUNDS = 8
_FEW = 16
_THIN = 64
"""One anchor in more lines than these may be chance, and is held against anchors of several lines."""


class Matches(NamedTuple):
    """Pairs of equal lines, rising on both sides; ``is_coarse`` when more lines may be equal."""

    old: Ints
    new: Ints
    is_coarse: bool


class _Side(NamedTuple):
    """The lines of some regions that are on the other side of their region too: where, in which region, which text."""

    places: Ints
    region: Ints
    numbers: Ints


def align(old: Ints, new: Ints) -> Matches:
    """Pair the equal numbers of both sides in order."""
    aligner = _Aligner(old, new)
    aligner.run()
    return aligner.matches()


@dataclass(slots=True)
class _Aligner:
    old: Ints
    new: Ints
    is_coarse: bool = False
    _exact_cells: int = field(init=False)
    _found: list[Pairs] = field(default_factory=list)

    def __post_init__(self) -> None:
        is_short = len(self.old) * len(self.new) <= _EXACT_WHOLE
        self._exact_cells = _EXACT_WHOLE if is_short else _EXACT_CELLS

    def run(self) -> None:
        regions = np.array([[0], [len(self.old)], [0], [len(self.new)]], np.int64)
        for depth in range(_DEEPEST + 1):
            regions = self._trimmed(regions)
            if not regions.size:
                break
            regions = self._divided(regions, depth)

    def matches(self) -> Matches:
        if not self._found:
            return Matches(*no_pairs(), self.is_coarse)
        old = np.concatenate([pairs[0] for pairs in self._found])
        new = np.concatenate([pairs[1] for pairs in self._found])
        order = np.argsort(old, kind="stable")
        return Matches(old[order], new[order], self.is_coarse)

    def _trimmed(self, regions: Regions) -> Regions:
        """Match what both sides of each region begin and end with, and return what is left of those with both sides."""
        left = regions[:, _is_filled(regions)]
        done = [left[:, :0]]
        # Of few regions each is trimmed faster by itself.
        for _round in range(_TRIM_ROUNDS if left.shape[1] > _FEW else 0):
            goes_on = np.zeros(left.shape[1], bool)
            for own, other, step in ((0, 2, 0), (1, 3, -1)):
                is_same = self.old[left[own] + step] == self.new[left[other] + step]
                self._found.append((left[own, is_same] + step, left[other, is_same] + step))
                left[own, is_same] += 1 + 2 * step
                left[other, is_same] += 1 + 2 * step
                goes_on |= is_same
                is_filled = _is_filled(left)
                left, goes_on = left[:, is_filled], goes_on[is_filled]
            done.append(left[:, ~goes_on])
            left = left[:, goes_on]
        alone = [self._trimmed_alone(*region) for region in left.T.tolist()]
        done.append(np.array([region for region in alone if region], np.int64).reshape(-1, 4).T)
        trimmed = np.concatenate(done, axis=1)
        return trimmed[:, np.argsort(trimmed[0])]

    def _trimmed_alone(self, old_start: int, old_end: int, new_start: int, new_end: int) -> tuple[int, ...]:
        """Trim one region; nothing is returned where it is settled."""
        old, new = self.old[old_start:old_end], self.new[new_start:new_end]
        before = _common(old, new)
        self._match(old_start, new_start, before)
        after = _common(old[before:][::-1], new[before:][::-1])
        self._match(old_end - after, new_end - after, after)
        left = old_start + before, old_end - after, new_start + before, new_end - after
        return left if left[0] < left[1] and left[2] < left[3] else ()

    def _match(self, old_start: int, new_start: int, length: int) -> None:
        if length:
            steps = np.arange(length)
            self._found.append((old_start + steps, new_start + steps))

    def _divided(self, regions: Regions, depth: int) -> Regions:
        """Match lines of each region; where they are anchors, return what lies between them."""
        old, new = self._shared(regions)
        anchors = single_anchors(old.numbers, new.numbers) if depth < _DEEPEST else no_pairs()
        sizes = [np.bincount(side.region, minlength=regions.shape[1]) for side in (old, new)]
        anchored = np.bincount(old.region[anchors[0]], minlength=regions.shape[1])
        is_large = sizes[0] * sizes[1] > self._exact_cells
        is_alone = (anchored == 0) | (is_large & (anchored * _THIN < np.minimum(*sizes)))
        kept = ~is_alone[old.region[anchors[0]]]
        anchors = anchors[0][kept], anchors[1][kept]
        found, divides = [(old.places[anchors[0]], new.places[anchors[1]])], ~is_alone
        borders = [np.searchsorted(side.region, np.arange(regions.shape[1] + 1)) for side in (old, new)]
        for region in np.flatnonzero(is_alone & (sizes[0] > 0)).tolist():
            own, other = (slice(*border[region : region + 2].tolist()) for border in borders)
            pairs, divides[region] = self._alone(old.numbers[own], new.numbers[other], depth)
            found.append((old.places[own][pairs[0]], new.places[other][pairs[1]]))
        self._found += found
        return _between(regions[:, divides], *map(np.concatenate, zip(*found, strict=True)))

    def _shared(self, regions: Regions) -> tuple[_Side, _Side]:
        old, new = _lines_of(regions[0], regions[1]), _lines_of(regions[2], regions[3])
        old_numbers, new_numbers = self.old[old[0]], self.new[new[0]]
        if regions.shape[1] > 1:
            # The same line in two regions counts as two.
            many = int(max(old_numbers.max(), new_numbers.max())) + 1
            old_numbers, new_numbers = renumbered(old[1] * many + old_numbers, new[1] * many + new_numbers)
        in_old, in_new = counts(old_numbers, new_numbers)
        is_shared = (in_old > 0) & (in_new > 0)
        sides = []
        for (places, region), numbers in ((old, old_numbers), (new, new_numbers)):
            kept = is_shared[numbers]
            sides.append(_Side(places[kept], region[kept], numbers[kept]))
        return sides[0], sides[1]

    def _alone(self, old: Ints, new: Ints, depth: int) -> tuple[Pairs, bool]:
        """Pair lines of one region, and tell whether they are anchors with more to be found between them."""
        if len(old) * len(new) <= self._exact_cells:
            return _longest(old, new), False
        if depth < _DEEPEST:
            old, new = renumbered(old, new)
            for anchors_of in (context_anchors, single_anchors, rare_anchors):
                anchors = anchors_of(old, new)
                if len(anchors[0]):
                    return anchors, True
        self.is_coarse = True
        return _in_windows(old, new), False


def _is_filled(regions: Regions) -> npt.NDArray[np.bool_]:
    is_filled: npt.NDArray[np.bool_] = (regions[0] < regions[1]) & (regions[2] < regions[3])
    return is_filled


def _lines_of(starts: Ints, ends: Ints) -> Pairs:
    """Return all lines from each start to its end, and the number of the region each is in."""
    sizes = ends - starts
    region = np.repeat(np.arange(len(starts)), sizes)
    return np.arange(len(region)) + (starts - np.cumsum(sizes) + sizes)[region], region


def _between(regions: Regions, old: Ints, new: Ints) -> Regions:
    """Return the gaps that anchors, given in any order, leave in their regions."""
    columns = []
    for anchors, starts, ends in ((np.sort(old), *regions[:2]), (np.sort(new), *regions[2:])):
        # Anchors of other regions fall between no start and its end.
        inside = np.searchsorted(starts, anchors, "right") - 1
        inner = anchors[(inside >= 0) & (anchors < ends[inside])] if len(starts) else anchors[:0]
        columns += [np.concatenate((starts, inner + 1)), np.concatenate((inner, ends))]
    between = np.stack(columns)
    # Regions are apart and in order, so that each start and its end take the same place.
    between.sort(axis=1, kind="stable")
    return between


def _common(old: Ints, new: Ints) -> int:
    """Return how many numbers both begin with."""
    shorter = min(len(old), len(new))
    done, step = 0, _FIRST_STEP
    while done < shorter:
        end = min(done + step, shorter)
        differs = old[done:end] != new[done:end]
        if differs.any():
            return done + int(differs.argmax())
        done, step = end, step * 4
    return shorter


def _longest(old: Ints, new: Ints) -> Pairs:
    """Pair a longest common subsequence."""
    blocks = [code for code in Indel.opcodes(old.tolist(), new.tolist()) if code.tag == "equal"]
    if not blocks:
        return no_pairs()
    return (
        np.concatenate([np.arange(code.src_start, code.src_end) for code in blocks]),
        np.concatenate([np.arange(code.dest_start, code.dest_end) for code in blocks]),
    )


def _in_windows(old: Ints, new: Ints) -> Pairs:
    """Pair common subsequences of windows that move down both sides together."""
    found: list[Pairs] = []
    old_done = new_done = 0
    while old_done < len(old) and new_done < len(new):
        window = old[old_done : old_done + _WINDOW], new[new_done : new_done + _WINDOW]
        pairs = _longest(*window)
        is_last = old_done + _WINDOW >= len(old) and new_done + _WINDOW >= len(new)
        near = (pairs[0] < _WINDOW // 2) & (pairs[1] < _WINDOW // 2) | is_last
        kept = pairs[0][near], pairs[1][near]
        found.append((old_done + kept[0], new_done + kept[1]))
        if is_last:
            break
        old_done, new_done = _advanced(old_done, new_done, kept)
    return np.concatenate([pairs[0] for pairs in found]), np.concatenate([pairs[1] for pairs in found])


def _advanced(old_done: int, new_done: int, kept: Pairs) -> tuple[int, int]:
    """Move behind the last pair; where both sides had little in common, half a window on."""
    half = _WINDOW // 2
    old_step, new_step = (int(kept[0][-1]) + 1, int(kept[1][-1]) + 1) if len(kept[0]) else (half, half)
    if max(old_step, new_step) < half // 2:
        old_step, new_step = old_step + half // 2, new_step + half // 2
    return old_done + old_step, new_done + new_step
