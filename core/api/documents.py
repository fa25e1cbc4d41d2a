"""Documents: reading them, adding them, tagging them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from core.model import Document, LeftOut, PageSize, PageText, Preview, Upload


class DocumentsApi(Protocol):
    """Documents of a knowledge base. ``key`` is the normalised, lower-case name that a document is kept under."""

    # ---- reading

    def documents(self, search: str = "", *, include_deleted: bool = False, limit: int | None = None) -> list[Document]:
        """Return documents by name, at most ``limit``; ``search`` is literal text in the name, the title or a tag."""

    def document(self, key: str) -> Document:
        """Return one document, deleted or not. Raises: ``NotFound``."""

    def preview(
        self, key: str, version: int, start: int = 0, count: int = 50, *, reading: int | None = None
    ) -> Preview:
        """Return up to 500 consecutive chunks of a version. Raises: ``NotFound``, ``Purged``."""

    def text_of(self, key: str, version: int | None = None) -> str:
        """Return the text of a version, by default of the published one, or of the newest where none is published.

        A text entry is returned as it was typed, a file as it was parsed. Raises: ``NotFound``, ``Purged``.
        """

    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every published document with its text."""

    def download(self, key: str, version: int, target: Path) -> Path:
        """Write the original of a version to a file, or into a folder under its own name; return the path written.

        Raises: ``NotFound``, ``Purged``.
        """

    def image(self, key: str, version: int, number: int, target: Path) -> Path:
        """Write an image of a version to a file as PNG; images count from 1. Raises: ``NotFound``, ``Conflict``."""

    def has_pages(self, key: str, version: int) -> bool:
        """Tell whether a version can be shown as pages. Raises: ``NotFound``, ``Purged``."""

    def pages(self, key: str, version: int) -> list[PageSize]:
        """Return the sizes of a version's pages; LibreOffice may take a minute to lay them out, once.

        Raises: ``NotFound``, ``Purged``, ``UnreadableDocument`` and its kinds.
        """

    def page_image(self, key: str, version: int, page: int, target: Path, *, width: int = 1200) -> Path:
        """Write a page to a file as a WebP picture at least ``width`` pixels wide, up to 2,400; pages count from 1.

        Raises as ``pages`` does; ``InvalidInput`` for another width.
        """

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

        Raises as ``pages`` does.
        """

    def find_on_pages(self, key: str, version: int, text: str) -> list[int]:
        """Return the numbers of the pages that hold ``text``, whatever its blanks and hyphens; at most 500.

        Raises as ``pages`` does.
        """

    def tags(self) -> list[str]:
        """Return all tags in use, sorted."""

    # ---- changing

    def set_tags(self, key: str, tags: Sequence[str]) -> Document:
        """Replace the tags of a document. Raises: ``NotFound``, ``InvalidInput``."""

    def add_file(
        self,
        name: str,
        stream: BinaryIO,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
    ) -> Upload:
        """Store a file as the next version of the document that its name says, and queue its indexing.

        A draft is indexed but not published; with ``publish_at`` it is published at that moment. Tags belong to the
        document and apply at once. ``early`` tells whether a version is published before its vectors are there; without
        it this is so where the document shows nothing yet. Raises: ``BadFilename``, ``TooLarge``, ``QuotaExceeded``,
        ``UnsupportedType``, ``EmptyDocument``, ``InvalidInput``, ``DiskFull``; then nothing is stored.
        """

    def add_path(self, path: Path | str, **filing: Any) -> Upload:
        """Store a file of this machine, as ``add_file`` does, or ``add_archive`` for an archive.

        Raises: ``NotFound`` for a link or what is no file, and what those raise.
        """

    def add_archive(self, name: str, stream: BinaryIO, **filing: Any) -> Upload:
        """Store a zip or tar and queue its unpacking; each document in it gets a job of its own.

        ``filing`` are the options of ``add_file``, for all documents. The receipt names no document. Raises: what
        ``add_file`` raises, ``ArchiveLimit``, ``Encrypted``.
        """

    def add_text(
        self,
        name: str,
        text: str,
        *,
        title: str = "",
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
        private: bool = False,
        early: bool | None = None,
        priority: int = 0,
    ) -> Upload:
        """Store a text entry, as ``add_file`` stores a file. Raises: ``TooLarge``, ``EmptyDocument``, …"""

    def add_texts(self, entries: Sequence[tuple[str, str, str]]) -> list[Upload]:
        """Store text entries, each (name, title, text). Raises: what ``add_text`` raises."""

    def load_sample(self) -> list[Upload]:
        """Add the sample documents, except those that ``sample_left_out`` lists."""

    def sample_left_out(self) -> list[LeftOut]:
        """Return the sample documents that cannot be read for want of a program, and why."""
