"""Pictures of text that lie askew: by how much, and turned straight, as scanners leave few pages."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from core.ports import Pixels

LEAST_DEGREES = 0.15
"""Less is neither seen nor does it harm."""
_MOST_DEGREES = 3.0
_COARSE, _FINE = 0.25, 0.05
_WIDE = 4
"""Rows that count as one while the turn is sought coarsely: single ones part at the very turn alone."""
_LOOKED_AT = 1_000
"""Pixels of the longest side in which the turn is sought."""
_DARKER = 60
"""A pixel is ink that is so much darker than the paper."""
_CLEARER = 1.05
"""How much more clearly the lines must part than as they are."""


def skew(pixels: Pixels) -> float:
    """Return by how many degrees lines of text rise to the right; 0 where nothing is clear.

    That turn is right in which rows of pixels, or columns where writing is vertical, are fullest and emptiest
    (projection profiles: Postl, 1986).
    """
    ink = _ink(pixels)
    rows, columns = np.nonzero(ink)
    if len(rows) < _LOOKED_AT:
        return 0.0
    found = [_turn(rows, columns), _turn(columns, -rows)]
    contrast, as_it_lies, turn = max(found)
    is_edge = abs(turn) > _MOST_DEGREES - _FINE
    return round(turn, 2) if contrast > _CLEARER * as_it_lies and not is_edge and abs(turn) >= LEAST_DEGREES else 0.0


def _turn(along: np.ndarray, across: np.ndarray) -> tuple[float, float, float]:
    """Return how clearly lines part at their turn, how clearly they do as the picture lies, and that turn."""

    def best(turns: np.ndarray, wide: int) -> float:
        return float(max(turns, key=lambda turn: (_contrast(along, across, turn, wide), -abs(turn))))

    rough = best(np.arange(-_MOST_DEGREES, _MOST_DEGREES + _FINE, _COARSE), _WIDE)
    fine = best(np.arange(rough - _COARSE, rough + _COARSE + _FINE / 2, _FINE), 1)
    return _contrast(along, across, fine), _contrast(along, across, 0.0), fine


def straightened(pixels: Pixels, degrees: float) -> Pixels:
    """Return a picture of the same size whose lines rise no more, with paper at its corners."""
    if not degrees:
        return pixels
    paper = tuple(int(value) for value in np.median(pixels[::16, ::16].reshape(-1, 3), axis=0))
    turned = Image.fromarray(pixels).rotate(-degrees, resample=Image.Resampling.BICUBIC, fillcolor=paper)
    return np.asarray(turned)


def _ink(pixels: Pixels) -> np.ndarray:
    picture = Image.fromarray(pixels).convert("L")
    picture.thumbnail((_LOOKED_AT, _LOOKED_AT), Image.Resampling.BOX)
    grey = np.asarray(picture, dtype=np.int16)
    return grey < np.median(grey) - _DARKER


def _contrast(along: np.ndarray, across: np.ndarray, degrees: float, wide: int = 1) -> float:
    """Return how unlike neighbouring rows are when pixels are moved along as a turn would move them."""
    places = np.round(along + across * math.tan(math.radians(degrees))).astype(np.int64)
    counts = np.bincount((places - places.min()) // wide).astype(np.float64)
    return float(np.square(np.diff(counts)).sum())
