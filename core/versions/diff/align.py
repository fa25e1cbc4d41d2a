"""Which lines of two texts are the same: both come as arrays of small numbers, equal lines have equal numbers.

Lines that occur once on both sides are the anchors (patience diff); what lies between them is divided in the same way,
then compared exactly where that is affordable, and in windows where it is not.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

Ints = npt.NDArray[np.int64]
Pairs = tuple[Ints, Ints]

_EXACT_CELLS = 1 << 26
_WINDOW = 4_096
_DEEPEST = 16
_RARE = 8
_FIRST_STEP = 64
_TRIM_ROUNDS = 4


class Matches(NamedTuple):
    """Pairs of equal lines, rising on both sides; ``is_coarse`` when more lines may be equal."""

    old: Ints
    new: Ints
    is_coarse: bool


class _Region(NamedTuple):
    old_start: int
    old_end: int
    new_start: int
    new_end: int
    depth: int = 0


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
    _found: list[Pairs] = field(default_factory=list)
    _open: list[_Region] = field(default_factory=list)

    def run(self) -> None:
        self._open.append(_Region(0, len(self.old), 0, len(self.new)))
        while self._open:
            region = self._trimmed(self._open.pop())
            if region.old_start < region.old_end and region.new_start < region.new_end:
                self._divide(region)

    def matches(self) -> Matches:
        if not self._found:
            return Matches(np.zeros(0, np.int64), np.zeros(0, np.int64), self.is_coarse)
        old = np.concatenate([pairs[0] for pairs in self._found])
        new = np.concatenate([pairs[1] for pairs in self._found])
        order = np.argsort(old, kind="stable")
        return Matches(old[order], new[order], self.is_coarse)

    def _trimmed(self, region: _Region) -> _Region:
        """Match what both sides begin and end with, and return what is left."""
        old_start, old_end, new_start, new_end, depth = region
        old, new = self.old[old_start:old_end], self.new[new_start:new_end]
        before = _common(old, new)
        self._match(old_start, new_start, before)
        after = _common(old[before:][::-1], new[before:][::-1])
        self._match(old_end - after, new_end - after, after)
        return _Region(old_start + before, old_end - after, new_start + before, new_end - after, depth)

    def _match(self, old_start: int, new_start: int, length: int) -> None:
        if length:
            steps = np.arange(length)
            self._found.append((old_start + steps, new_start + steps))

    def _divide(self, region: _Region) -> None:
        """Match lines of a region; where they are anchors, what lies between them is left for later."""
        old, new = self.old[region.old_start : region.old_end], self.new[region.new_start : region.new_end]
        if region.depth:
            old, new = renumbered(old, new)
        count = int(max(old.max(), new.max())) + 1
        in_old, in_new = np.bincount(old, minlength=count), np.bincount(new, minlength=count)
        is_shared = (in_old > 0) & (in_new > 0)
        old_places, new_places = np.flatnonzero(is_shared[old]), np.flatnonzero(is_shared[new])
        if not len(old_places):
            return
        old, new = old[old_places], new[new_places]
        is_shallow = region.depth < _DEEPEST
        anchors = _anchors(old, new, (in_old == 1) & (in_new == 1)) if is_shallow else None
        is_small = len(old) * len(new) <= _EXACT_CELLS
        if anchors is None and is_shallow and not is_small:
            anchors = _anchors(old, new, (in_old == in_new) & (in_old <= _RARE) & is_shared)
        if anchors is None:
            found = _longest(old, new) if is_small else _in_windows(old, new)
            self.is_coarse |= not is_small
        else:
            found = anchors
        self._found.append((region.old_start + old_places[found[0]], region.new_start + new_places[found[1]]))
        if anchors is not None:
            self._leave_gaps(region, (old_places, new_places), anchors)

    def _leave_gaps(self, region: _Region, places: Pairs, anchors: Pairs) -> None:
        """Leave the gaps between anchors that have lines of both sides in them that are on the other side too."""
        columns = []
        is_open = np.ones(len(anchors[0]) + 1, bool)
        sides = ((region.old_start, region.old_end), (region.new_start, region.new_end))
        for (start, end), side_places, side_anchors in zip(sides, places, anchors, strict=True):
            is_open &= np.diff(side_anchors, prepend=-1, append=len(side_places)) > 1
            anchored = start + side_places[side_anchors]
            columns += [np.concatenate(([start], anchored + 1)), np.concatenate((anchored, [end]))]
        gaps = self._trimmed_gaps(np.stack([column[is_open] for column in columns]))
        for old_start, old_end, new_start, new_end in gaps.T.tolist():
            self._open.append(_Region(old_start, old_end, new_start, new_end, region.depth + 1))

    def _trimmed_gaps(self, gaps: Ints) -> Ints:
        """Match the first and the last lines of many gaps at once, and return those that still have both sides."""
        for _round in range(_TRIM_ROUNDS):
            for own, other, step in ((0, 2, 0), (1, 3, -1)):
                is_same = self.old[gaps[own] + step] == self.new[gaps[other] + step]
                if is_same.any():
                    self._found.append((gaps[own, is_same] + step, gaps[other, is_same] + step))
                    gaps[own, is_same] += 1 + 2 * step
                    gaps[other, is_same] += 1 + 2 * step
                    gaps = gaps[:, (gaps[0] < gaps[1]) & (gaps[2] < gaps[3])]
        return gaps


def renumbered(old: Ints, new: Ints) -> Pairs:
    """Return both sides with numbers from 0 on in place of any values."""
    numbers = np.unique(np.concatenate((old, new)), return_inverse=True)[1]
    return numbers[: len(old)], numbers[len(old) :]


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


def _anchors(old: Ints, new: Ints, is_eligible: npt.NDArray[np.bool_]) -> Pairs | None:
    """Pair eligible numbers, which occur equally often on both sides, as far as they rise; None where none is."""
    old_places, new_places = np.flatnonzero(is_eligible[old]), np.flatnonzero(is_eligible[new])
    if not len(old_places):
        return None
    by_old = old_places[np.argsort(old[old_places], kind="stable")]
    by_new = new_places[np.argsort(new[new_places], kind="stable")]
    partner = np.empty(len(old), np.int64)
    partner[by_old] = by_new
    rising = longest_rise(partner[old_places])
    kept = old_places[rising]
    return kept, partner[kept]


def longest_rise(values: Ints) -> Ints:
    """Return the places of a longest strictly rising subsequence of distinct values."""
    if len(values) < 2 or bool((np.diff(values) > 0).all()):
        return np.arange(len(values))
    tails: list[int] = []
    tail_places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values.tolist()):
        length = bisect_left(tails, value)
        before.append(tail_places[length - 1] if length else -1)
        if length == len(tails):
            tails.append(value)
            tail_places.append(place)
        else:
            tails[length] = value
            tail_places[length] = place
    place = tail_places[-1]
    rise = []
    while place >= 0:
        rise.append(place)
        place = before[place]
    return np.array(rise[::-1], np.int64)


def _longest(old: Ints, new: Ints) -> Pairs:
    """Pair a longest common subsequence."""
    blocks = [code for code in Indel.opcodes(old.tolist(), new.tolist()) if code.tag == "equal"]
    if not blocks:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
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
