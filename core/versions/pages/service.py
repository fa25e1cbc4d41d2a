"""The pages of documents as they look, for whoever may read them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

from core.access import needs
from core.errors import InvalidInput, NotFound, Purged
from core.model import BLOCK_JOINT, PageRun, PageSize, PageText, Role, Version
from core.model.codec import from_dict
from core.versions.documents import DocumentReader
from core.versions.pages.kept import MOST_FOUND, KeptPages, has_pages
from core.versions.pages.marking import marks_of, plain
from core.versions.pages.recognised_text import RecognisedText

WIDTHS = (160, 800, 1200, 1600, 2400)
"""Pictures come in these widths, in pixels, so that few are kept of each page."""
_MOST_MARKED = 200
"""Chunks that one passage may go over."""


class DocumentPages:
    """The part of the knowledge base that shows pages: of a PDF and of a picture, and of what LibreOffice lays out."""

    def __init__(self, reader: DocumentReader, kept: KeptPages) -> None:
        self._reader = reader
        self._kept = kept

    @needs(Role.READER)
    def has_pages(self, key: str, version: int) -> bool:
        """Tell whether a version can be shown as pages on this machine. Raises: ``NotFound``, ``Purged``."""
        return has_pages(self._reader.kept(key, version).extension)

    @needs(Role.READER)
    def pages(self, key: str, version: int) -> list[PageSize]:
        """Return the sizes of a version's pages; LibreOffice may take a minute to lay them out, once.

        Raises: ``NotFound``, ``Purged``, ``UnreadableDocument`` and its kinds.
        """
        found = self._reader.kept(key, version)
        sizes = self._sizes(found)
        self._unless_purged(key, found, Path())
        return sizes

    @needs(Role.READER)
    def page_image(self, key: str, version: int, page: int, target: Path | None = None, *, width: int = 1200) -> Path:
        """Return a page as a WebP picture at least ``width`` pixels wide, up to 2,400, or write it to ``target``.

        Raises as ``pages`` does; ``InvalidInput`` for another width.
        """
        found = self._page(key, version, page)
        wanted = next((each for each in WIDTHS if each >= width), None)
        if wanted is None or width < 1:
            raise InvalidInput(f"Pages are drawn up to {WIDTHS[-1]:,} pixels wide.")
        kept = self._unless_purged(key, found, self._kept.picture(found, page, wanted))
        return kept if target is None else Path(shutil.copyfile(kept, target))

    @needs(Role.READER)
    def page_text(
        self,
        key: str,
        version: int,
        page: int,
        *,
        start: int | None = None,
        end: int | None = None,
        reading: int | None = None,
    ) -> PageText:
        """Return where the text of a page stands, marking characters ``start`` to ``end`` of the parsed text.

        They count in the reading in use, or in another one. Raises as ``pages`` does.
        """
        found = self._page(key, version, page)
        file = self._unless_purged(key, found, self._kept.text(found, page))
        written = json.loads(file.read_text(encoding="ascii"))
        runs = tuple(from_dict(PageRun, each) for each in written)
        if (recognised := self._recognised(found)) is not None:
            runs += recognised.runs(page)
        passage = self._passage(key, version, start, end, reading) if start is not None and end is not None else ""
        return PageText(runs, marks_of(runs, passage) if passage else ())

    @needs(Role.READER)
    def find_on_pages(self, key: str, version: int, text: str) -> list[int]:
        """Return the numbers of the pages that hold ``text``, whatever its blanks and hyphens; at most 500.

        Raises as ``pages`` does.
        """
        found = self._reader.kept(key, version)
        wanted = plain(text)
        if not wanted:
            return []
        pages = self._kept.find(found, wanted, len(self._sizes(found)))
        if (recognised := self._recognised(found)) is not None:
            pages = sorted({*pages, *recognised.find(wanted)})[:MOST_FOUND]
        return pages

    def forget(self, version_ids: Collection[int]) -> None:
        """Remove all that is kept of these versions."""
        self._kept.forget(version_ids)

    def close(self) -> None:
        """End what draws; a page that is being drawn is lost to whoever waits for it."""
        self._kept.close()

    def _unless_purged(self, key: str, version: Version, path: Path) -> Path:
        """Return what was made of a version, unless that was removed for good in the meantime."""
        try:
            self._reader.kept(key, version.number)
        except Purged:
            self._kept.forget([version.id])
            raise
        return path

    def _sizes(self, version: Version) -> list[PageSize]:
        written = json.loads(self._kept.sizes(version).read_text(encoding="ascii"))
        return [from_dict(PageSize, each) for each in written]

    def _recognised(self, version: Version) -> RecognisedText | None:
        """Return what was recognised of a version; None of what was read as text, or before places were kept."""
        if "recognised" not in version.metadata:
            return None
        parsed = self._reader.parsed(version)
        return None if parsed is None else RecognisedText(parsed)

    def _page(self, key: str, version: int, page: int) -> Version:
        found = self._reader.kept(key, version)
        if not 1 <= page <= len(self._sizes(found)):
            raise NotFound(f"Version {version} of “{key}” has no page {page}.")
        return found

    def _passage(self, key: str, version: int, start: int, end: int, reading: int | None) -> str:
        """Return characters of the parsed text, read from the chunks that hold them."""
        chunks = self._reader.texts_within(key, version, start, end, _MOST_MARKED, reading=reading)
        pieces = [text[max(start - begins, 0) : max(end - begins, 0)] for begins, text in chunks]
        return BLOCK_JOINT.join(piece for piece in pieces if piece)
