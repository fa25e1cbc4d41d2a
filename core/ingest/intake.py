"""Intake: what is sent is checked and its bytes kept; the answer is a version that the catalogue can claim."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO

from core.errors import BadFilename, EmptyDocument, TooLarge
from core.ingest.filing import check_filing
from core.ingest.holds import Holds
from core.ingest.receive import receive
from core.ingest.validate import check_type, clean_name, doc_key
from core.model import Filing
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import NewVersion

TEXT_EXTENSIONS = ("txt", "md", "markdown")
_TITLE_CHARS = 500


class Intake:
    """Takes files and text entries in; whatever is refused leaves nothing behind."""

    def __init__(
        self, blobs: BlobStore, holds: Holds, incoming: Path, max_upload_bytes: int, max_text_chars: int
    ) -> None:
        self._blobs = blobs
        self._holds = holds
        self._incoming = incoming
        self._max_upload_bytes = max_upload_bytes
        self._max_text_chars = max_text_chars

    def file(self, name: str, stream: BinaryIO, filing: Filing) -> NewVersion:
        """Keep a file's bytes, and hold them until ``release``.

        Raises: ``BadFilename``, ``TooLarge``, ``UnsupportedType``, ``EmptyDocument``, ``InvalidInput``.
        """
        shown = clean_name(name)
        return self._kept(shown, stream, self._max_upload_bytes, check_filing(filing))

    def text(self, name: str, text: str, title: str, filing: Filing) -> NewVersion:
        """Keep a text entry's bytes. Raises: ``BadFilename``, ``TooLarge`` over the limit, ``EmptyDocument``."""
        if len(text) > self._max_text_chars:
            raise TooLarge(
                f"The text has {len(text):,} characters; an entry holds at most {self._max_text_chars:,}.",
                remedy="Shorten it, or upload it as a text file.",
            )
        if not text.strip():
            raise EmptyDocument("The text is empty.", remedy="Type some text and save again.")
        shown = clean_name(_with_extension(name))
        data = text.encode("utf-8", "replace")
        new = self._kept(shown, io.BytesIO(data), len(data), check_filing(filing))
        own_title = " ".join((title or PurePath(shown).stem).split())[:_TITLE_CHARS]
        return replace(new, is_text_entry=True, title=own_title)

    def release(self, news: Sequence[NewVersion]) -> None:
        """Let go of the bytes once the catalogue names them."""
        for new in news:
            self._holds.release(new.sha256)

    def _kept(self, shown: str, stream: BinaryIO, limit: int, filing: Filing) -> NewVersion:
        from core.catalog import NewVersion

        received = receive(stream, self._incoming, limit)
        try:
            extension = check_type(shown, received.head, received.path)
            self._holds.take(received.sha256)
            try:
                self._blobs.put(received.path, received.sha256)
            except BaseException:
                self._holds.release(received.sha256)
                raise
        finally:
            received.path.unlink(missing_ok=True)
        return NewVersion(
            doc_key=doc_key(shown),
            name=shown,
            extension=extension,
            sha256=received.sha256,
            sha1=received.sha1,
            size_bytes=received.size_bytes,
            filing=filing,
        )


def _with_extension(name: str) -> str:
    """Text entries are named as people like; as files they are text unless they say Markdown."""
    if not isinstance(name, str) or not name.strip():
        raise BadFilename("The entry has no name.", remedy="Give it a name.")
    named = name.strip()
    return named if PurePath(named).suffix[1:].lower() in TEXT_EXTENSIONS else f"{named}.txt"
