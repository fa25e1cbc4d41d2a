"""Cutting a line of marked text into the pieces that a column of fixed width can show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from core.versions.diff.measure import char_cells

Piece = tuple[str, str]
"""An operation and the text it is about."""

_NEVER_FIRST = frozenset(
    "、。，．・：；！？」』】〕）｝〉》ーゝゞ々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.!?;:)]}%％°”’…‥"
)
_NEVER_LAST = frozenset("「『【〔（｛〈《([{“‘＄￥$¥")


def pieces_needed(widths: npt.NDArray[np.uint32], column: int) -> npt.NDArray[np.int64]:
    """Return in how many pieces lines of these widths are shown; some room is left for cutting between words."""
    wide = widths.astype(np.int64)
    return np.where(wide <= column, 1, -(-wide // (column - max(2, column // 8))))


def cut(pieces: Sequence[Piece], count: int, column: int) -> list[list[Piece]]:
    """Cut into exactly ``count`` lines of at most ``column`` cells, between words where that is possible.

    ``count`` is what ``pieces_needed`` says, or more. Marks that combine stay with their letter.
    """
    if count == 1:
        return [list(pieces)]
    text = "".join(text for _, text in pieces)
    ends = _ends(text, count, column)
    lines: list[list[Piece]] = [[] for _ in range(count)]
    at, line = 0, 0
    for change, part in pieces:
        done = 0
        while done < len(part):
            while at >= ends[line]:
                line += 1
            taken = min(len(part) - done, ends[line] - at)
            lines[line].append((change, part[done : done + taken]))
            done += taken
            at += taken
    return lines


def _ends(text: str, count: int, column: int) -> list[int]:
    """Return where each line ends; the last one ends the text."""
    widths = char_cells(text).tolist()
    reach = [0, *accumulate(widths)]
    total = reach[-1]
    ends: list[int] = []
    start = 0
    for left in range(count - 1, 0, -1):
        least = total - left * (column - 1)
        end = start
        while end < len(text) and reach[end + 1] - reach[start] <= column:
            end += 1
        if end < len(text):
            end = _border(text, widths, reach, start, end, least)
        ends.append(end)
        start = end
    ends.append(len(text))
    return ends


def _border(text: str, widths: Sequence[int], reach: Sequence[int], start: int, farthest: int, least: int) -> int:
    """Return the last good place to cut at or before ``farthest``, with at least ``least`` cells of the text behind."""
    hard = 0
    at = farthest
    while at > start and reach[at] >= least:
        if widths[at]:
            hard = hard or at
            if _is_border(text, widths, at):
                return at
        at -= 1
    return hard or farthest


def _is_border(text: str, widths: Sequence[int], at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after.isspace():
        return False
    if before.isspace() or before in "-/|":
        return True
    wide = widths[at] == 2 or widths[at - 1] == 2
    return wide and after not in _NEVER_FIRST and before not in _NEVER_LAST and before != "\u200d"
