"""Recognition by PP-OCRv6 on ONNX Runtime, with the weights that the package ``rapidocr`` holds."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from core.model.recognition import RecognisedLine
from core.ports import Pixels

_LONGEST_SIDE = 2_600
"""Pixels; with this and the thresholds below the fewest lines were lost, or found where there are none."""
_LIKE_A_PAGE = 2_000
"""Pixels of the longest side from which a picture is like a page that was drawn or scanned, and no screenshot."""
_FOUND_AT = 0.75
"""How large a picture like a page is looked at to find its lines: in little over half the time no more are lost."""
_SMALL = 31
"""Pixels: where a quarter of the lines are lower (7 points at 200 dpi), some are lost in a smaller picture."""
_SOFTER = 0.8
"""Radius of a blur in pixels: of letters with hard edges more lines are overlooked as a whole."""
_UNLIKE_PAPER = 40
"""How much darker or brighter than most of the picture what is drawn in it is."""
_MARGIN = 24
"""Pixels that are left around what is drawn."""
_LEAST_INKED = 0.05
"""A smaller part is not cut out: the models enlarge small pictures."""
_SURE, _LEAST_SURE = 0.9, 0.5
"""Lines that are less sure are also read upside down; what is still less sure than the second is none."""
_FEET = re.compile(r"\d\s?′")


class RapidOcr:
    """The port ``Ocr`` for Japanese, Chinese and languages in Latin letters."""

    id = "rapidocr"

    def __init__(self, threads: int) -> None:
        """Find lines with so many threads, and read as many of them at a time: one line is too little for several."""
        self._threads = threads
        self._finder, self._reader = _engine(threads), _engine(1)

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        height, width = pixels.shape[:2]
        left, top, right, bottom = _inked(pixels)
        pixels = pixels[top:bottom, left:right]
        like_a_page = max(height, width) >= _LIKE_A_PAGE
        if like_a_page:
            pixels = np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(_SOFTER)))
        # The models were trained on pictures whose colours come in the order of OpenCV.
        pixels = np.ascontiguousarray(pixels[:, :, ::-1])
        boxes = self._found(pixels, _FOUND_AT if like_a_page else 1.0)
        if like_a_page and boxes is not None and _are_small(boxes):
            boxes = self._found(pixels, 1.0)
        if boxes is None:
            return []
        found = zip(boxes, self._read(self._finder.crop_text_regions(pixels, boxes)), strict=True)
        lines = []
        for corners, (text, score) in found:
            if text.strip() and score < _SURE:
                text, score = max((text, score), self._upside_down(pixels, corners), key=lambda read: read[1])
            if text.strip() and score >= _LEAST_SURE:
                lines.append(
                    RecognisedLine(
                        _written(text), _box(np.add(corners, (left, top)), width, height), round(float(score), 3)
                    )
                )
        return lines

    def _found(self, pixels: Pixels, scale: float) -> Any:
        """Return the four corners of each line of a picture that is looked at in this size, ``None`` without a line."""
        height, width = pixels.shape[:2]
        seen = Image.fromarray(pixels).resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR)
        boxes = self._finder(np.asarray(seen), use_det=True, use_rec=False).boxes
        if boxes is None:
            return None
        return np.asarray(boxes, dtype=np.float32) * np.array([width / seen.width, height / seen.height], np.float32)

    def _read(self, pictures: Sequence[Pixels]) -> list[tuple[str, float]]:
        """Return what stands in pictures of lines, and how sure that is."""
        dealt = [pictures[first :: self._threads] for first in range(min(self._threads, len(pictures)))]
        read: list[tuple[str, float]] = [("", 0.0)] * len(pictures)
        with ThreadPoolExecutor(len(dealt)) as workers:
            for first, found in enumerate(workers.map(self._reader.recognize_txt, dealt)):
                read[first :: self._threads] = zip(map(str, found.txts), map(float, found.scores), strict=True)
        return read

    def _upside_down(self, pixels: Pixels, corners: Any) -> tuple[str, float]:
        """Read a line turned by 180 degrees; return its text and how sure it is."""
        [line] = self._finder.crop_text_regions(pixels, np.asarray([corners], dtype=np.float32))
        return self._read([np.ascontiguousarray(line[::-1, ::-1])])[0]


def _engine(threads: int) -> Any:
    """Return an engine that loads its models when it first needs them."""
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": _LONGEST_SIDE,
            "Global.text_score": 0.0,
            # Its classifier takes lines of code and formulas to be upside down.
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
            "Rec.rec_batch_num": 1,
            "Det.thresh": 0.2,
            "Det.box_thresh": 0.3,
        }
    )


def _inked(pixels: Pixels) -> tuple[int, int, int, int]:
    """Return the pixels of a picture without its margins, which are a third of a page and would take as long."""
    grey = np.asarray(Image.fromarray(pixels).convert("L"))
    paper = int(np.searchsorted(np.cumsum(np.bincount(grey.ravel(), minlength=256)), grey.size / 2))
    ink = np.array([abs(shade - paper) > _UNLIKE_PAPER for shade in range(256)])[grey]
    columns, rows = np.nonzero(ink.any(axis=0))[0], np.nonzero(ink.any(axis=1))[0]
    height, width = grey.shape
    if not len(columns) or (columns[-1] - columns[0]) * (rows[-1] - rows[0]) < _LEAST_INKED * width * height:
        return 0, 0, width, height
    return (
        max(int(columns[0]) - _MARGIN, 0),
        max(int(rows[0]) - _MARGIN, 0),
        min(int(columns[-1]) + _MARGIN, width),
        min(int(rows[-1]) + _MARGIN, height),
    )


def _are_small(boxes: Any) -> bool:
    """Tell whether many lines, given by four corners each, are those of small print."""
    sides = np.linalg.norm(boxes - np.roll(boxes, -1, axis=1), axis=2)
    return float(np.percentile(sides.min(axis=1), 25)) < _SMALL


def _written(text: str) -> str:
    """Return a line with apostrophes where the model knows only primes, unless these stand behind numbers alone."""
    return text if len(_FEET.findall(text)) == text.count("′") else text.replace("′", "'")


def _box(corners: Any, width: int, height: int) -> tuple[float, float, float, float]:
    """Return the place of a line whose four corners are given clockwise, in parts of the picture."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = ((float(x), float(y)) for x, y in corners)
    # Of a line that is a little slanted the height is that of its ends, not that of all it covers.
    middle, half = (y0 + y1 + y2 + y3) / 4, ((y3 - y0) + (y2 - y1)) / 4
    return min(x0, x3) / width, (middle - half) / height, max(x1, x2) / width, (middle + half) / height
