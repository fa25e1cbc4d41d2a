"""Moves removed or added lines to the more natural of two places, where the same lines stand before and after them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.model import BlockKind
from core.versions.diff.align import Matches
from core.versions.diff.lines import Lines

Ints = npt.NDArray[np.int64]

_FURTHEST = 40


def slide_hunks(lines: tuple[Lines, Lines], numbers: tuple[Ints, Ints], matches: Matches) -> Matches:
    """Return the matches with each one-sided gap at a heading or the beginning of a block, if it can stand there."""
    old, new = matches.old.copy(), matches.new.copy()
    _slide_side(lines[0], numbers[0], old, new)
    _slide_side(lines[1], numbers[1], new, old)
    return Matches(old, new, matches.is_coarse)


def _slide_side(lines: Lines, numbers: Ints, own: Ints, other: Ints) -> None:
    """Shift gaps of one side in place. A gap of lines from ``first`` to ``last`` moves up by one when the line above it
    is matched with the line that ``last`` equals.
    """
    follows = np.flatnonzero((np.diff(own) > 1) & (np.diff(other) == 1)) + 1
    firsts, lasts = own[follows - 1] + 1, own[follows] - 1
    movable = (numbers[firsts - 1] == numbers[lasts]) | (numbers[firsts] == numbers[lasts + 1])
    for pair in follows[movable].tolist():
        _slide_gap(lines, numbers, own, other, pair)


def _slide_gap(lines: Lines, numbers: Ints, own: Ints, other: Ints, pair: int) -> None:
    first, last = int(own[pair - 1]) + 1, int(own[pair]) - 1
    up = down = 0
    while (
        up < min(_FURTHEST, pair)
        and own[pair - 1 - up] == first - 1 - up
        and other[pair - 1 - up] == other[pair] - 1 - up
        and numbers[first - 1 - up] == numbers[last - up]
    ):
        up += 1
    while (
        down < min(_FURTHEST, len(own) - pair)
        and own[pair + down] == last + 1 + down
        and other[pair + down] == other[pair] + down
        and numbers[last + 1 + down] == numbers[first + down]
    ):
        down += 1
    best = max(range(-up, down + 1), key=lambda step: (_naturalness(lines, first + step), -abs(step)))
    size = last - first + 1
    if best < 0:
        own[pair + best : pair] += size
    elif best > 0:
        own[pair : pair + best] -= size


def _naturalness(lines: Lines, line: int) -> tuple[bool, int]:
    """Rank a line as the first of a gap: headings first, then lines after an empty one."""
    return lines.place(line).kind is BlockKind.HEADING, int(lines.starts[line] - (lines.ends[line - 1] if line else 0))
