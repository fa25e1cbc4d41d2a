"""Straight lines that are drawn in a picture: the rulings of tables, and lines below headings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.model.recognition import Place

_DARKER = 40
"""A pixel belongs to a line that is so much darker than the paper: rulings are often grey."""
_LEVEL, _UPRIGHT = 0.02, 0.012
"""Least lengths in parts of the longest side: cells are wider than high, and letters hang together in their lines."""
_THICKEST = 0.004
_FILLED = 0.8
"""Share of a line's pixels that are ink; in patterns and photographs it is less."""
_MOST = 2_000
"""A picture with more is no page with tables: hatching, a photograph."""
_CLOSED = 2
"""Pixels that may be missing in a line, or by which its parts may lie beside one another."""


def rulings(grey: np.ndarray) -> list[Place]:
    """Return the lines of a picture, upright and level ones, from start to end in pixels: left, top, right, bottom."""
    ink = grey < np.median(grey) - _DARKER
    longest = max(ink.shape)
    level = list(_lines(ink, longest, _LEVEL))
    upright = [(top, left, bottom, right) for left, top, right, bottom in _lines(ink.T, longest, _UPRIGHT)]
    found = level + upright
    return found if len(found) <= _MOST else []


def _lines(ink: np.ndarray, longest: int, least: float) -> Iterator[Place]:
    """Yield what is long and thin along the rows of ``ink``."""
    shortest, thickest = least * longest, max(_THICKEST * longest, 3.0)
    open_lines: list[list[float]] = []
    for row, start, end in _runs(ink, shortest):
        still = []
        for line in open_lines:
            if row - line[3] <= _CLOSED:
                still.append(line)
            elif line[3] - line[1] <= thickest:
                yield (line[0], line[1], line[2], line[3])
        open_lines = still
        joined = [line for line in open_lines if start <= line[2] + _CLOSED and end >= line[0] - _CLOSED]
        if not joined:
            open_lines.append([start, row, end, row + 1])
            continue
        first = joined[0]
        for other in joined[1:]:
            open_lines.remove(other)
            first[:] = [min(first[0], other[0]), min(first[1], other[1]), max(first[2], other[2]), first[3]]
        first[:] = [min(first[0], start), first[1], max(first[2], end), row + 1]
    yield from ((a, b, c, d) for a, b, c, d in open_lines if d - b <= thickest)


def _runs(ink: np.ndarray, shortest: float) -> Iterator[tuple[int, int, int]]:
    """Yield runs of ink of some length by rows: the row, the start and the end."""
    closed = ink.copy()
    for by in range(1, _CLOSED + 1):
        closed[:, by:] |= ink[:, :-by]
    edges = np.diff(np.pad(closed, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1] - _CLOSED
    inked = np.pad(np.cumsum(ink, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    filled = inked[rows, ends] - inked[rows, starts]
    long = (ends - starts >= shortest) & (filled >= _FILLED * (ends - starts))
    yield from zip(rows[long].tolist(), starts[long].tolist(), ends[long].tolist(), strict=True)
