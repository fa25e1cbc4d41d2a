"""A picture as pixels becomes its lines of text, how they look, and the straight lines that are drawn in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.ingest.parsers.pdf_turn import leaned
from core.ingest.recognition.looks import with_looks
from core.ingest.recognition.rulings import rulings
from core.ingest.recognition.straight import skew, straightened
from core.model.recognition import Place, RecognisedLine, RecognisedPicture
from core.ports import Ocr, Pixels

_BRIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_WITHIN = 0.1
"""Lines this far, in heights of a line of text, below its upper edge and above its lower one are strokes of letters."""


def read_picture(pixels: Pixels, engine: Ocr) -> RecognisedPicture:
    """Recognise a picture, which is turned straight before; places of its lines are where they lie in it."""
    turn = skew(pixels)
    pixels = straightened(pixels, turn)
    grey = np.asarray(pixels, dtype=np.float32) @ _BRIGHTNESS
    height, width = grey.shape
    lines = engine.lines(pixels)
    drawn = _apart([_in_parts(place, width, height) for place in rulings(grey)], lines)
    lines = with_looks(lines, _without(grey, drawn))
    placed = (replace(line, box=leaned(line.box, turn, width, height)) for line in lines)
    return RecognisedPicture(tuple(placed), tuple(drawn), turn)


def _in_parts(place: Place, width: int, height: int) -> Place:
    left, top, right, bottom = place
    return round(left / width, 5), round(top / height, 5), round(right / width, 5), round(bottom / height, 5)


def _apart(drawn: Sequence[Place], lines: Sequence[RecognisedLine]) -> list[Place]:
    """Leave out what lies within a line of text: letters that hang together, words that are struck out."""
    boxes = np.array([line.box for line in lines], dtype=np.float64).reshape(-1, 4)
    inset = _WITHIN * (boxes[:, 3] - boxes[:, 1])
    found = []
    for place in drawn:
        x, y = (place[0] + place[2]) / 2, (place[1] + place[3]) / 2
        across = (boxes[:, 0] < x) & (x < boxes[:, 2])
        down = (boxes[:, 1] + inset < y) & (y < boxes[:, 3] - inset)
        if not (across & down).any():
            found.append(place)
    return found


def _without(grey: np.ndarray, drawn: Sequence[Place]) -> np.ndarray:
    """Return a picture with paper where lines are drawn, which are no ink of letters."""
    height, width = grey.shape
    paper = np.median(grey)
    clean = grey.copy()
    for left, top, right, bottom in drawn:
        rows = slice(max(round(top * height) - 1, 0), round(bottom * height) + 2)
        clean[rows, max(round(left * width) - 1, 0) : round(right * width) + 2] = paper
    return clean
