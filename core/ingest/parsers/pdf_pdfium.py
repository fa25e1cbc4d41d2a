"""Pages of a PDF through pypdfium2, where PyMuPDF is not installed: lines without the weight of fonts, and no rules."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from math import cos, hypot, sin
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as _untyped

from core.errors import Encrypted, ParserFailed
from core.ingest.parsers.pdf_dates import pdf_date
from core.ingest.parsers.pdf_page import MOST_OF_PAGE, SIGNS, Page, PageLine, has_strange_signs, is_stamp
from core.ingest.parsers.pdf_pictures import PageImage
from core.ingest.parsers.pdf_turn import Box, Size, is_slanted, prevailing, straightened, turn_of, turned
from core.ingest.parsers.pdf_vertical import with_columns
from core.ingest.parsers.reading import ParserInput

pdfium: Any = _untyped

MAX_LETTERS = 200_000
"""Most signs of one page that are read."""
MAX_OUTLINE, MAX_FILES = 20_000, 500
MAX_LINKS, MAX_ADDRESS = 500, 2_000
"""Links of a page, and bytes of an address."""
WIDE = 1.5
"""Blanks wider than this, in sizes of the text, part a line."""
HYPHEN = "\x02"
"""What PDFium writes for a hyphen at the end of a line."""
_FINE = 1_000_000
"""Places are asked of PDFium in whole steps of so many to a page's width or height, since it rounds them."""
_ERRORS = (pypdfium2.PdfiumError, RuntimeError, ValueError, IndexError)


class PdfiumDocument:
    """A PDF opened for reading its text. Raises: ``Encrypted``, ``ParserFailed``."""

    name = "pypdfium2"

    def __init__(self, path: Path) -> None:
        try:
            self._document: Any = pypdfium2.PdfDocument(path)
            self.page_count: int = len(self._document)
        except _ERRORS as error:
            if "password" in str(error).lower():
                raise Encrypted("The PDF is protected by a password.") from error
            raise ParserFailed("The PDF is damaged beyond reading.") from error

    def note_properties(self, reading: ParserInput) -> None:
        """Keep title, author and dates."""
        found = self._document.get_metadata_dict()
        reading.note(
            pages=self.page_count,
            title=found.get("Title"),
            author=found.get("Author"),
            created=pdf_date(found.get("CreationDate")),
            modified=pdf_date(found.get("ModDate")),
        )

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that hang on the document, by their names; damaged ones without their bytes."""
        for number in range(min(self._document.count_attachments(), MAX_FILES)):
            name, data = "", b""
            with suppress(*_ERRORS):
                attachment = self._document.get_attachment(number)
                name = attachment.get_name()
                data = bytes(attachment.get_data())
            yield name, data

    def outline(self) -> dict[int, list[tuple[int, str]]]:
        """The document's bookmarks by page."""
        found: dict[int, list[tuple[int, str]]] = {}
        try:
            for count, mark in enumerate(self._document.get_toc()):
                place = mark.get_dest()
                index = place.get_index() if place is not None else None
                if index is not None and count < MAX_OUTLINE:
                    found.setdefault(index + 1, []).append((mark.level + 1, mark.get_title()))
        except _ERRORS:
            return found
        return found

    def page(self, index: int) -> Page | None:
        """Read one page; None where it is damaged."""
        try:
            return self._page(index)
        except _ERRORS:
            return None

    def _page(self, index: int) -> Page:
        page = self._document[index]
        try:
            left, bottom, right, top = page.get_bbox()
            corner, size, rotation = (left, top), (right - left, top - bottom), page.get_rotation()
            lines = with_columns(list(_lines(page.get_textpage(), corner, size)), size)
            turn = prevailing((line.length for line in lines), -rotation % 360)
            if (turn + rotation) % 360:
                # PDFium joins letters to words and lines only where they read upright for who looks at the page.
                page.set_rotation(-turn % 360)
                lines = with_columns(list(_lines(page.get_textpage(), corner, size)), size)
            read = Page.of(index + 1, size, lines, turn)
            read.plain = page.get_textpage().get_text_range()
            is_scan = is_stamp(lines) and _shown(page) > (MOST_OF_PAGE if lines else 0)
            read.has_picture = is_scan or has_strange_signs(read.plain)
            read.links = list(_links(self._document.raw, page)) if lines else []
            return read
        finally:
            page.close()

    def images(self, index: int) -> list[PageImage]:
        """Return the pictures that a page shows itself, with the words that stand on each."""
        try:
            page = self._document[index]
            return list(_images(page))
        except _ERRORS:
            return []

    def close(self) -> None:
        self._document.close()


def _links(document: Any, page: Any) -> Iterator[tuple[str, str]]:
    """Yield the text that links of a page stand on, and where these lead."""
    text, start, link = page.get_textpage(), ctypes.c_int(0), pdfium.FPDF_LINK()
    box, count = pdfium.FS_RECTF(), 0
    while count < MAX_LINKS and pdfium.FPDFLink_Enumerate(page.raw, start, link):
        count += 1
        action = pdfium.FPDFLink_GetAction(link)
        size = pdfium.FPDFAction_GetURIPath(document, action, None, 0) if action else 0
        if not 1 < size <= MAX_ADDRESS or not pdfium.FPDFLink_GetAnnotRect(link, box):
            continue
        address = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(document, action, address, size)
        said = text.get_text_bounded(box.left, box.bottom, box.right, box.top)
        yield " ".join(said.split()), address.value.decode("ascii", "replace")


def _shown(page: Any) -> float:
    """Return the part of a page that its largest picture covers."""
    whole = page.get_width() * page.get_height() or 1
    images = (each.get_bounds() for each in page.get_objects() if each.type == pdfium.FPDF_PAGEOBJ_IMAGE)
    return max(((right - left) * (top - bottom) / whole for left, bottom, right, top in images), default=0.0)


def _images(page: Any) -> Iterator[PageImage]:
    size = page.get_size()
    across, down = ctypes.c_int(), ctypes.c_int()

    def on_page(x: float, y: float) -> tuple[float, float]:
        pdfium.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, x, y, across, down)
        return across.value / _FINE, down.value / _FINE

    for each in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=1):
        left, bottom, right, top = each.get_bounds()
        (x0, y0), (x1, y1) = on_page(left, top), on_page(right, bottom)
        box = max(min(x0, x1), 0.0), max(min(y0, y1), 0.0), min(max(x0, x1), 1.0), min(max(y0, y1), 1.0)
        text = partial(page.get_textpage().get_text_bounded, left, bottom, right, top)
        if box[0] < box[2] and box[1] < box[3]:
            yield PageImage(box, each.get_px_size(), size, partial(_key, each), text)


def _key(image: Any) -> str:
    return hashlib.sha256(image.get_data()).hexdigest()


def _lines(content: Any, corner: tuple[float, float], page: Size) -> Iterator[PageLine]:
    """The lines of a page, parted where PDFium ends a line, where the text turns, and at wide blanks."""
    text = ""
    box: Box | None = None
    turn = 0
    size = 1.0
    for at, letter, towards, spot in _letters(content, corner, page):
        if letter.isspace() and letter != "\n":
            text += " " if box is not None else ""
            continue
        if box is not None and (letter == "\n" or towards != turn or not _goes_on(box, spot, size)):
            yield PageLine(text.replace(HYPHEN, "-").translate(SIGNS), box, size, turn=turn)
            text, box = "", None
        if letter == "\n":
            continue
        if box is None:
            size = _size(content.raw, at)
        turn, text = towards, text + letter
        box = spot if box is None else _around(box, spot)
    if box is not None:
        yield PageLine(text.replace(HYPHEN, "-").translate(SIGNS), box, size, turn=turn)


def _letters(content: Any, corner: tuple[float, float], page: Size) -> Iterator[tuple[int, str, int, Box]]:
    """Each sign with its number in PDFium's order, its turn, and its place when text of that turn reads upright."""
    raw = content.raw
    found = pdfium.FS_RECTF()
    turns: dict[float, int] = {}
    for at in range(min(content.count_chars(), MAX_LETTERS)):
        letter = chr(pdfium.FPDFText_GetUnicode(raw, at))
        angle = pdfium.FPDFText_GetCharAngle(raw, at)
        pdfium.FPDFText_GetLooseCharBox(raw, at, found)
        x0, x1 = round(found.left - corner[0], 2), round(found.right - corner[0], 2)
        y0, y1 = round(corner[1] - found.top, 2), round(corner[1] - found.bottom, 2)
        if (turn := turns.get(angle)) is None:
            turn = turns[angle] = turn_of(cos(angle), sin(angle))
        box = x0, y0, x1, y1
        if is_slanted(turn):
            # PDFium's box of a slanted letter is as wide as high.
            box = straightened(box, turn, (y1 - y0) / (abs(cos(angle)) + abs(sin(angle))))
        yield at, letter, turn, turned(box, turn, page)


def _goes_on(box: Box, letter: Box, size: float) -> bool:
    beside = box[0] - size < letter[0] < box[2] + WIDE * size
    return beside and box[1] <= (letter[1] + letter[3]) / 2 <= box[3]


def _around(box: Box, other: Box) -> Box:
    return min(box[0], other[0]), min(box[1], other[1]), max(box[2], other[2]), max(box[3], other[3])


def _size(raw: Any, at: int) -> float:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(raw, at, matrix)
    return max(float(pdfium.FPDFText_GetFontSize(raw, at)) * hypot(matrix.c, matrix.d), 1.0)
