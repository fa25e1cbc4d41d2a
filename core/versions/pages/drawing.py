"""Pages of a PDF by PDFium: drawn, and their text with its places. Runs in the child process alone."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from core.errors import ParserFailed
from core.model.pages import PageArea, PageRun, PageSize
from core.versions.pages.marking import plain

_FINE = 1_000_000
"""Places are asked of PDFium in whole steps of so many to a page's width or height, since it rounds them."""
_SAME_LINE = 0.4
_APART = 0.25
"""Signs further apart than this, in heights of a sign, belong to different runs."""
_LONGEST_RUN = 60
_MOST_SIGNS = 200_000


@dataclass(slots=True)
class _Sign:
    text: str
    left: float
    top: float
    right: float
    bottom: float


class PdfPages:
    """The pages of one file. Raises: ``ParserFailed`` where it cannot be opened."""

    def __init__(self, source: Path) -> None:
        try:
            self._document = pypdfium2.PdfDocument(source)
        except pypdfium2.PdfiumError as error:
            raise ParserFailed("The pages could not be opened.") from error

    def sizes(self) -> list[PageSize]:
        found = []
        for index in range(len(self._document)):
            try:
                width, height = self._document.get_page_size(index)
            except pypdfium2.PdfiumError:
                width, height = 612.0, 792.0
            found.append(PageSize(round(max(width, 1.0), 2), round(max(height, 1.0), 2)))
        return found

    def draw(self, number: int, width: int, most_pixels: int) -> Image.Image:
        """Return page ``number``, from 1, ``width`` pixels wide, or less where it would be too high."""
        page = self._page(number)
        across, down = page.get_size()
        scale = min(width / max(across, 1.0), (most_pixels / max(across * down, 1.0)) ** 0.5)
        image: Image.Image = page.render(scale=scale).to_pil()
        return image.convert("RGB")

    def text(self, number: int) -> list[PageRun]:
        """Return the runs of page ``number`` in the order of the file."""
        page = self._page(number)
        signs = self._signs(page)
        across, down = page.get_size()
        return list(_runs(signs, across / max(down, 1.0)))

    def plain_texts(self) -> Iterator[str]:
        """Yield the text of each page, in the order of the file."""
        for number in range(1, len(self._document) + 1):
            yield self._page(number).get_textpage().get_text_range()

    def holds(self, number: int, wanted: str) -> bool:
        """Whether the text of a page, without its blanks, holds ``wanted``, which ``plain`` has made."""
        textpage = self._page(number).get_textpage()
        return wanted in plain(textpage.get_text_range())

    def _page(self, number: int) -> pypdfium2.PdfPage:
        try:
            return self._document[number - 1]
        except (pypdfium2.PdfiumError, IndexError) as error:
            raise ParserFailed("The page could not be drawn.") from error

    @staticmethod
    def _signs(page: pypdfium2.PdfPage) -> list[_Sign]:
        textpage = page.get_textpage()
        found = []
        for index in range(min(textpage.count_chars(), _MOST_SIGNS)):
            code = pdfium.FPDFText_GetUnicode(textpage, index)
            text = chr(code) if 0 < code < 0x110000 else ""
            left, bottom, right, top = textpage.get_charbox(index, loose=True)
            first, last = _on_page(page, left, top), _on_page(page, right, bottom)
            found.append(
                _Sign(
                    text,
                    min(first[0], last[0]),
                    min(first[1], last[1]),
                    max(first[0], last[0]),
                    max(first[1], last[1]),
                )
            )
        return found


def _on_page(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
    """Return the place of a point as shares of the page as it is shown, whichever way it is turned."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, x, y, across, down)
    return across.value / _FINE, down.value / _FINE


def _runs(signs: list[_Sign], aspect: float) -> Iterator[PageRun]:
    """Gather signs to runs; ``aspect`` is the page's width over its height, since shares of the two differ."""
    held: list[_Sign] = []
    for sign in signs:
        if not sign.text or sign.text.isspace() or not sign.text.isprintable():
            if held:
                yield _run(held, ends_line=sign.text in ("\r", "\n"))
                held = []
            continue
        if held and (len(held) >= _LONGEST_RUN or not _goes_on(held[-1], sign, aspect)):
            yield _run(held, ends_line=abs(held[-1].bottom - sign.bottom) > _SAME_LINE * (sign.bottom - sign.top))
            held = []
        held.append(sign)
    if held:
        yield _run(held, ends_line=True)


def _goes_on(before: _Sign, sign: _Sign, aspect: float) -> bool:
    height = max(sign.bottom - sign.top, before.bottom - before.top)
    is_level = abs(before.bottom - sign.bottom) <= _SAME_LINE * height
    gap = (sign.left - before.right) * aspect
    return is_level and -height <= gap <= _APART * height


def _run(signs: list[_Sign], *, ends_line: bool) -> PageRun:
    area = PageArea(
        left=round(min(sign.left for sign in signs), 5),
        top=round(min(sign.top for sign in signs), 5),
        right=round(max(sign.right for sign in signs), 5),
        bottom=round(max(sign.bottom for sign in signs), 5),
    )
    return PageRun("".join(sign.text for sign in signs), area, ends_line)
