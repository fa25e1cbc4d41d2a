"""Pages that are pictures of text, and an engine that recognises what it is told, for tests of recognition."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from core.model.recognition import RecognisedLine
from core.ports import Pixels

SIZE = (595.0, 842.0)


def picture_of(text: str, dpi: int = 150, font: str = "helv") -> bytes:
    """Return a page of text as a PNG."""
    with pymupdf.open() as document:
        page = document.new_page(width=SIZE[0], height=SIZE[1])
        page.insert_textbox((72, 72, 523, 770), text, fontsize=12, fontname=font)
        data: bytes = page.get_pixmap(dpi=dpi).tobytes("png")
        return data


def scanned(
    path: Path, texts: Sequence[str], plain: Sequence[int] = (), turn: int = 0, stamp: str = "", font: str = "helv"
) -> Path:
    """Write a PDF whose pages are pictures of texts, but for those numbered ``plain``, which hold theirs as text.

    A ``stamp`` stands on all of them as text.
    """
    with pymupdf.open() as document:
        for number, text in enumerate(texts, start=1):
            page = document.new_page(width=SIZE[0], height=SIZE[1])
            if number in plain:
                page.insert_textbox((72, 72, 523, 770), text, fontsize=12)
            else:
                page.insert_image(page.rect, stream=picture_of(text, font=font))
            if stamp:
                page.insert_text((72, 820), stamp, fontsize=8)
            page.set_rotation(turn)
        document.save(path)
    return path


def nameless(path: Path, texts: Sequence[str], legible: Sequence[int] = ()) -> Path:
    """Write a PDF whose font does not tell which letters its signs are, but on pages numbered ``legible``."""
    with pymupdf.open() as document:
        for number, text in enumerate(texts, start=1):
            page = document.new_page(width=SIZE[0], height=SIZE[1])
            if number in legible:
                page.insert_textbox((72, 72, 523, 770), text, fontsize=12)
            else:
                writer = pymupdf.TextWriter(page.rect)
                writer.fill_textbox((72, 72, 523, 770), text, font=pymupdf.Font("helv"), fontsize=12)
                writer.write_text(page)
        for number in range(1, document.xref_length()):
            if document.xref_get_key(number, "ToUnicode")[0] != "null":
                document.xref_set_key(number, "ToUnicode", "null")
        document.save(path)
    return path


class ToldOcr:
    """The port ``Ocr`` of tests: every picture says how large it is, but a black one that it cannot be read."""

    id = "told"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        if not pixels.any():
            raise ValueError("black")
        height, width = pixels.shape[:2]
        return [RecognisedLine(f"A picture of {width} by {height} pixels.", (0.1, 0.1, 0.9, 0.12), 0.75)]


class SlowOcr(ToldOcr):
    """Takes a moment for each picture, so that a process can be killed meanwhile."""

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        time.sleep(0.1)
        return super().lines(pixels)
