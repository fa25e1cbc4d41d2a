"""Recognition by PP-OCRv6 on ONNX Runtime, with the weights that the package ``rapidocr`` holds."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from core.model.recognition import RecognisedLine
from core.ports import Pixels

_LONGEST_SIDE = 2_600
"""Pixels; with this and the thresholds below the fewest lines were lost, or found where there are none."""
_LIKE_A_PAGE = 2_000
"""Pixels of the longest side from which a picture is like a page that was drawn or scanned, and no screenshot."""
_SOFTER = 0.8
"""Radius of a blur in pixels: of letters with hard edges more lines are overlooked as a whole."""


class RapidOcr:
    """The port ``Ocr`` for Japanese, Chinese and languages in Latin letters."""

    id = "rapidocr"

    def __init__(self, threads: int) -> None:
        from rapidocr import RapidOCR

        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.max_side_len": _LONGEST_SIDE,
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
                "Rec.rec_batch_num": 1,
                "Det.thresh": 0.2,
                "Det.box_thresh": 0.3,
            }
        )

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        height, width = pixels.shape[:2]
        if max(height, width) >= _LIKE_A_PAGE:
            pixels = np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(_SOFTER)))
        # The models were trained on pictures whose colours come in the order of OpenCV.
        found = self._engine(np.ascontiguousarray(pixels[:, :, ::-1]))
        if found.boxes is None:
            return []
        return [
            RecognisedLine(text, _box(corners, width, height), round(float(score), 3))
            for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
            if text.strip()
        ]


def _box(corners: Any, width: int, height: int) -> tuple[float, float, float, float]:
    """Return the place of a line whose four corners are given clockwise, in parts of the picture."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = ((float(x), float(y)) for x, y in corners)
    # Of a line that is a little slanted the height is that of its ends, not that of all it covers.
    middle, half = (y0 + y1 + y2 + y3) / 4, ((y3 - y0) + (y2 - y1)) / 4
    return min(x0, x3) / width, (middle - half) / height, max(x1, x2) / width, (middle + half) / height
