"""A picture of a document by the name that its parser gave it, as pixels; read in the child process that recognises."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from core.errors import ParserFailed, ParserLimit
from core.ingest.parsers.embedded import OWN
from core.ingest.parsers.pdf_pictures import part_of
from core.ingest.parsers.pdf_turn import Box
from core.ports import Pixels

DPI = 200
"""At which a page is drawn: letters of 8 points are then 22 pixels high."""
MOST_PIXELS = 12_000_000
"""Pictures with more are read smaller."""
MOST_STORED_PIXELS = 400_000_000


def pixels_of(source: Path, extension: str, name: str, embedded: Path | None = None) -> Pixels:
    """Return a page of a PDF or a picture of an image file, by its number from 1, or one that stands within.

    ``embedded`` is the folder of those that are no part of a page. Raises: ``UnreadableDocument``.
    """
    if (part := part_of(name)) is not None:
        number, box, dpi = part
        return _page(source, number - 1, dpi, box)
    if embedded is not None and name.startswith(OWN):
        return _frame(embedded / name, 0)
    return _page(source, int(name) - 1) if extension == "pdf" else _frame(source, int(name) - 1)


def _page(source: Path, index: int, dpi: float = DPI, box: Box = (0.0, 0.0, 1.0, 1.0)) -> Pixels:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(source)
        page = document[index]
        width, height = page.get_size()
        left, top, right, bottom = box
        shown = width * (right - left) * height * (bottom - top)
        scale = min(dpi / 72, (MOST_PIXELS / max(shown, 1)) ** 0.5)
        cut = (left * width, (1 - bottom) * height, (1 - right) * width, top * height)
        drawn: Any = page.render(scale=scale, crop=cut, rev_byteorder=True).to_numpy()
    except (pypdfium2.PdfiumError, IndexError, ValueError) as error:
        raise ParserFailed("The page could not be drawn.") from error
    grey = drawn.ndim == 2 or drawn.shape[2] == 1
    return np.repeat(drawn.reshape(*drawn.shape[:2], 1), 3, axis=2) if grey else np.ascontiguousarray(drawn[:, :, :3])


def _frame(source: Path, index: int) -> Pixels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(source) as image:
                if image.width * image.height > MOST_STORED_PIXELS:
                    raise ParserLimit("The picture has more pixels than are read.")
                for number, frame in enumerate(ImageSequence.Iterator(image)):
                    if number == index:
                        return _upright(frame)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise ParserFailed("The picture is damaged.") from error
    raise ParserFailed("The picture is not there.")


def _upright(frame: Image.Image) -> Pixels:
    """Return a picture as it is shown: turned as it says, on white where it is transparent, not too large."""
    if frame.width * frame.height > MOST_PIXELS:
        part = (MOST_PIXELS / (frame.width * frame.height)) ** 0.5
        frame = frame.resize((max(round(frame.width * part), 1), max(round(frame.height * part), 1)))
    frame = ImageOps.exif_transpose(frame).convert("RGBA")
    white = Image.new("RGBA", frame.size, "white")
    return np.asarray(Image.alpha_composite(white, frame).convert("RGB"))
