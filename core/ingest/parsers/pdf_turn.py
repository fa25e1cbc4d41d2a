"""How text is turned on a page: its direction in degrees, and places on the page when turned so that it reads upright.

Pages are turned by ``/Rotate``, tables and figures by the matrix of their text, often one to undo the other. What a
reader follows is the text: a *turn* is how far its lines are turned clockwise, from 0 for lines from left to right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import atan2, cos, degrees, radians, sin

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points, from the upper left corner of the page."""
Size = tuple[float, float]
"""Width and height of a page."""

NEARLY = 25
"""Text that leans by fewer degrees from a quarter turn counts as that quarter turn; other text is slanted."""


def turn_of(x: float, y: float) -> int:
    """Return the turn of a line that runs along ``(x, y)``, ``y`` downwards: 0, 90, 180, 270 or of a slanted line."""
    angle = degrees(atan2(y, x))
    quarter = round(angle / 90) * 90
    return (quarter if abs(angle - quarter) <= NEARLY else round(angle)) % 360


def is_slanted(turn: int) -> bool:
    return turn % 90 != 0


def turned_size(size: Size, turn: int) -> Size:
    """The size of a page when text of this turn reads upright."""
    return (size[1], size[0]) if turn % 180 == 90 else size


def turned(box: Box, turn: int, size: Size) -> Box:
    """The place of ``box`` when its page is turned back by ``turn`` so that text of that turn reads upright.

    A slanted turn leaves a box its width and height and counts its place from the middle of the page.
    """
    x0, y0, x1, y1 = box
    width, height = size
    if turn == 0:
        return box
    if turn == 90:
        return y0, width - x1, y1, width - x0
    if turn == 180:
        return width - x1, height - y1, width - x0, height - y0
    if turn == 270:
        return height - y1, x0, height - y0, x1
    x, y = _rotated((x0 + x1 - width) / 2, (y0 + y1 - height) / 2, turn)
    return x - (x1 - x0) / 2, y - (y1 - y0) / 2, x + (x1 - x0) / 2, y + (y1 - y0) / 2


def returned(box: Box, turn: int, size: Size) -> Box:
    """The place on a page of ``size`` of what stands at ``box`` when text of this turn reads upright."""
    if not is_slanted(turn):
        return turned(box, -turn % 360, turned_size(size, turn))
    x, y = _rotated((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, -turn)
    across, down = (box[2] - box[0]) / 2, (box[3] - box[1]) / 2
    c, s = abs(cos(radians(turn))), abs(sin(radians(turn)))
    half = across * c + down * s, across * s + down * c
    x, y = x + size[0] / 2, y + size[1] / 2
    return x - half[0], y - half[1], x + half[0], y + half[1]


def straightened(box: Box, turn: int, height: float) -> Box:
    """The upright box, around the same middle, of slanted text of this ``height`` that ``box`` encloses."""
    c, s = abs(cos(radians(turn))), abs(sin(radians(turn)))
    width = max((box[2] - box[0] + box[3] - box[1]) / (c + s) - height, 1.0)
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def prevailing(lengths: Iterable[tuple[int, int]], seen: int = 0) -> int:
    """Return the quarter turn of most of the text, from the turns and lengths of its lines.

    ``seen`` is the turn of text that stands upright for who looks at the page: it prevails over up to twice as much.
    """
    found = Counter({seen: 0})
    for turn, length in lengths:
        if not is_slanted(turn):
            found[turn] += length * (2 if turn == seen else 1)
    return max(found, key=lambda turn: (found[turn], turn == seen))


def _rotated(x: float, y: float, turn: int) -> tuple[float, float]:
    c, s = cos(radians(turn)), sin(radians(turn))
    return x * c + y * s, y * c - x * s


def leaned(place: Box, angle: float, width: float, height: float) -> Box:
    """Return where a place is, both in parts of the picture, when its middle turns with the picture.

    A positive ``angle``, in degrees, turns to the left. The place keeps its size: a leaning line has no upright box.
    """
    if not angle:
        return place
    left, top, right, bottom = place
    x, y = ((left + right) / 2 - 0.5) * width, ((top + bottom) / 2 - 0.5) * height
    sine, cosine = sin(radians(angle)), cos(radians(angle))
    right_by = (x * cosine + y * sine - x) / width
    down_by = (y * cosine - x * sine - y) / height
    return left + right_by, top + down_by, right + right_by, bottom + down_by
