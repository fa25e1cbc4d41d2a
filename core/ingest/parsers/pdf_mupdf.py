"""Pages of a PDF through PyMuPDF."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from core.errors import Encrypted, ParserFailed
from core.ingest.parsers.pdf_annotations import of_document, of_page
from core.ingest.parsers.pdf_dates import pdf_date
from core.ingest.parsers.pdf_fonts import Fonts, is_drawn_heavier
from core.ingest.parsers.pdf_page import MOST_OF_PAGE, SIGNS, Page, PageLine, has_strange_signs, is_stamp
from core.ingest.parsers.pdf_pictures import PageImage
from core.ingest.parsers.pdf_turn import Box, Size, is_slanted, prevailing, straightened, turn_of, turned
from core.ingest.parsers.pdf_vertical import with_columns
from core.ingest.parsers.reading import ParserInput

# Its models of page layout, which nothing here asks, take most of the time of its import.
sys.modules.setdefault("pymupdf.layout", None)  # type: ignore[arg-type]
pymupdf: Any = import_module("pymupdf")

MAX_DRAWINGS = 20_000
MAX_OUTLINE = 20_000
MAX_LINKS = 500
"""Of a page."""
PICTURE = 0.02
"""Share of a page from which an image may hold text."""
STROKES = 50
WIDE_BLANK = 0.4
"""In sizes of the text: wider than most blanks between words, and as wide as some between the cells of a row."""
MIN_SHADE, MAX_SHADE = 6.0, 150.0
"""Heights, in points, of areas that may be filled rows of tables."""
_SET_HYPHEN = re.compile("\xad(?=\\s*\\Z)")
_PAGES_KEPT = 64
"""Pages after which MuPDF gives back half of what it keeps of them."""
_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP

Outline = dict[int, list[tuple[int, str]]]
"""The bookmarks of each page: level and title."""


class MuPdfDocument:
    """A PDF opened for reading its text. Raises: ``Encrypted``, ``ParserFailed``."""

    name = "pymupdf"

    def __init__(self, path: Path) -> None:
        self._read = 0
        pymupdf.TOOLS.mupdf_display_errors(False)
        pymupdf.TOOLS.mupdf_display_warnings(False)
        try:
            self._document: Any = pymupdf.open(path, filetype="pdf")
            locked = bool(self._document.needs_pass and not self._document.authenticate(""))
            self.page_count: int = 0 if locked else self._document.page_count
        except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
            raise ParserFailed("The PDF is damaged beyond reading.") from error
        self._fonts = Fonts(self._document)
        if locked:
            raise Encrypted("The PDF is protected by a password.")

    def note_properties(self, reading: ParserInput) -> None:
        """Keep title, author and dates."""
        found = self._document.metadata or {}
        reading.note(
            pages=self.page_count,
            title=found.get("title"),
            author=found.get("author"),
            created=pdf_date(found.get("creationDate")),
            modified=pdf_date(found.get("modDate")),
        )

    def outline(self) -> Outline:
        """The document's bookmarks by page."""
        found: Outline = {}
        try:
            entries = self._document.get_toc(simple=True)
        except (RuntimeError, ValueError, IndexError, KeyError, AttributeError, TypeError):
            return found
        for level, title, page in entries[:MAX_OUTLINE]:
            if page > 0 and isinstance(title, str):
                found.setdefault(page, []).append((int(level), title))
        return found

    def page(self, index: int) -> Page | None:
        """Read one page; None where it is damaged."""
        self._read += 1
        if self._read % _PAGES_KEPT == 0:
            pymupdf.TOOLS.store_shrink(50)
        try:
            return self._page(self._document.load_page(index), index + 1)
        except (RuntimeError, ValueError, IndexError, pymupdf.mupdf.FzErrorBase):
            return None

    def _page(self, page: Any, number: int) -> Page:
        # How signs are drawn takes as long again to tell.
        flags = _FLAGS | pymupdf.TEXT_COLLECT_STYLES if is_drawn_heavier(page) else _FLAGS
        content = page.get_text("dict", flags=flags)
        size = content["width"], content["height"]
        found = [raw for block in content["blocks"] for raw in block.get("lines", ())]
        lines = [line for raw in found for line in _lines(raw, size, page, self._fonts) if _is_legible(line.text)]
        lines = with_columns(lines, size)
        turn = prevailing((line.length for line in lines), -page.rotation % 360)
        read = Page.of(number, size, lines, turn, *(_drawn(page) if lines else ((), ())))
        read.plain = "\n".join("".join(span["text"] for span in raw["spans"]) for raw in found)
        is_scan = _is_drawn_on(page) if not lines else is_stamp(lines) and _shown(page) > MOST_OF_PAGE
        read.has_picture = is_scan or has_strange_signs(read.plain)
        if lines:
            read.links = _links(page)
        read.remarks, read.files = of_page(page)
        return read

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that hang on the document, by their names."""
        yield from of_document(self._document)

    def images(self, index: int) -> list[PageImage]:
        """Return the pictures that a page shows, with the words that stand on each."""
        try:
            page = self._document.load_page(index)
            found = [(each, pymupdf.Rect(each["bbox"]) & page.rect) for each in page.get_image_info()]

            def key(number: int) -> str:
                return str(page.get_image_info(hashes=True)[number]["digest"].hex())

            size = page.rect.width or 1.0, page.rect.height or 1.0
            return [
                PageImage(
                    (box.x0 / size[0], box.y0 / size[1], box.x1 / size[0], box.y1 / size[1]),
                    (each["width"], each["height"]),
                    size,
                    partial(key, number),
                    partial(page.get_text, "text", clip=box),
                )
                for number, (each, box) in enumerate(found)
                if not box.is_empty
            ]
        except (RuntimeError, ValueError, IndexError):
            return []

    def close(self) -> None:
        self._document.close()


def _lines(raw: dict[str, Any], sheet: Size, page: Any, fonts: Fonts) -> Iterator[PageLine]:
    """The parts of a line of MuPDF's that blanks wider than two letters separate, with their wider blanks."""
    turn = turn_of(*raw["dir"])
    text = ""
    box: Box | None = None
    weight = bold = mono = 0
    size = 0.0
    gaps: list[tuple[int, float, float]] = []
    for span in raw["spans"]:
        piece = span["text"]
        if not piece.isascii():
            # A soft hyphen that is set parts a word at the end of a line.
            piece = _SET_HYPHEN.sub("-", piece).translate(SIGNS)
        count = len(piece.strip())
        spot = span["bbox"] if turn == 0 else _spot(span, turn, sheet)
        gap = spot[0] - box[2] if box else 0.0
        if box is not None and count and gap > 2 * span["size"]:
            yield PageLine(text, box, size / weight, bold > 0.8 * weight, mono > 0.8 * weight, turn=turn, gaps=gaps)
            text, box, weight, bold, mono, size, gaps = "", None, 0, 0, 0, 0.0, []
        if count:
            if box is not None and gap > WIDE_BLANK * span["size"] and text[-1:] != "\u3000":
                gaps.append((len(text), box[2], spot[0]))
            box = spot if box is None else (box[0], min(box[1], spot[1]), max(box[2], spot[2]), max(box[3], spot[3]))
            weight += count
            size += span["size"] * count
            bold += count if fonts.is_bold(span, page) else 0
            mono += count if fonts.is_mono(span, page) else 0
        if box is not None:
            text += piece
    if box is not None:
        yield PageLine(text, box, size / weight, bold > 0.8 * weight, mono > 0.8 * weight, turn=turn, gaps=gaps)


def _links(page: Any) -> list[tuple[str, str]]:
    """Return the words that links of a page stand on, and where these lead; one over several lines is one."""
    found: list[tuple[str, str]] = []
    links = [link for link in page.get_links()[:MAX_LINKS] if link.get("uri")]
    words = page.get_text("words", flags=_FLAGS) if links else []
    for link in links:
        # Links are told as the page is shown, words as it is stored.
        left, top, right, bottom = pymupdf.Rect(link["from"]) * page.derotation_matrix
        inside = (
            word[4] for word in words
            if left <= (word[0] + word[2]) / 2 <= right and top <= (word[1] + word[3]) / 2 <= bottom
        )  # fmt: skip
        text = " ".join(inside)
        if found and found[-1][1] == link["uri"]:
            text = f"{found.pop()[0]} {text}".strip()
        found.append((text, link["uri"]))
    return found


def _shown(page: Any) -> float:
    """Return the part of a page that its largest picture covers."""
    parts = (abs(pymupdf.Rect(each["bbox"]) & page.rect) / (abs(page.rect) or 1) for each in page.get_image_info())
    return float(max(parts, default=0.0))


def _is_drawn_on(page: Any) -> bool:
    """Tell whether a page shows a picture of some size, or so many strokes that they may be letters."""
    if _shown(page) > PICTURE:
        return True
    return len(page.get_cdrawings()) >= STROKES


def _is_legible(text: str) -> bool:
    """Whether a line says anything: fonts of formulas often do not tell which signs they draw."""
    return "\ufffd" not in text or any(map(str.isalnum, text))


def _spot(span: dict[str, Any], turn: int, page: Size) -> Box:
    """Where a span stands when its text reads upright."""
    box: Box = span["bbox"]
    if is_slanted(turn):
        box = straightened(box, turn, span["size"] * (span["ascender"] - span["descender"]))
    return turned(box, turn, page)


def _drawn(page: Any) -> tuple[list[Box], list[Box]]:
    """The straight rules of a page, and the areas that are filled behind its text."""
    rules: list[Box] = []
    shades: list[Box] = []
    drawings = page.get_cdrawings()
    if len(drawings) > MAX_DRAWINGS:
        return rules, shades
    for drawing in drawings:
        stroked = "s" in drawing["type"]
        for item in drawing["items"]:
            if item[0] == "l":
                (x0, y0), (x1, y1) = item[1], item[2]
                if abs(x1 - x0) < 1 or abs(y1 - y0) < 1:
                    rules.append((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
            elif item[0] == "re":
                x0, y0, x1, y1 = item[1]
                if min(x1 - x0, y1 - y0) < 3:
                    rules.append((x0, y0, x1, y1))
                elif stroked:
                    rules.extend(((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)))
                elif MIN_SHADE < y1 - y0 < MAX_SHADE:
                    shades.append((x0, y0, x1, y1))
    return rules, shades
