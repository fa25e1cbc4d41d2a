"""Pages of a PDF through pypdfium2, where PyMuPDF is not installed: lines without the weight of fonts, and no rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2

from core.errors import Encrypted, ParserFailed
from core.ingest.parsers.pdf_dates import pdf_date
from core.ingest.parsers.pdf_page import Line, Page
from core.ingest.parsers.reading import Reading

MAX_BAD_PAGES = 50
MAX_RECTS = 5_000
MAX_OUTLINE = 20_000
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

    def note_properties(self, reading: Reading) -> None:
        """Keep title, author and dates."""
        found = self._document.get_metadata_dict()
        reading.note(
            pages=self.page_count,
            title=found.get("Title"),
            author=found.get("Author"),
            created=pdf_date(found.get("CreationDate")),
            modified=pdf_date(found.get("ModDate")),
        )

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

    def sampled(self, count: int) -> Iterator[Page]:
        """Yield up to ``count`` pages, evenly spread."""
        for index in range(0, self.page_count, max(1, self.page_count // count)):
            try:
                yield self._page(index)
            except _ERRORS:
                continue

    def pages(self, reading: Reading) -> Iterator[Page]:
        """Yield the pages one by one; damaged ones cost a warning."""
        bad = 0
        for index in range(self.page_count):
            try:
                yield self._page(index)
                bad = 0
            except _ERRORS:
                reading.warn("Damaged pages were left out.")
                bad += 1
                if bad > MAX_BAD_PAGES:
                    break

    def _page(self, index: int) -> Page:
        page = self._document[index]
        try:
            width, height = page.get_size()
            content = page.get_textpage()
            lines = []
            for at in range(min(content.count_rects(), MAX_RECTS)):
                left, bottom, right, top = content.get_rect(at)
                text = content.get_text_bounded(left, bottom, right, top).replace("\r\n", " ").strip()
                if text:
                    lines.append(Line(text, (left, height - top, right, height - bottom), _size(top - bottom)))
            return Page(index + 1, width, height, lines)
        finally:
            page.close()

    def close(self) -> None:
        self._document.close()


def _size(height: float) -> float:
    return max(round(height), 1.0)
