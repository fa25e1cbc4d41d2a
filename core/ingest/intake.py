"""Intake: what is sent is checked and its bytes kept; the answer is a version that the catalogue can claim."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO

from core.errors import BadFilename, EmptyDocument, InvalidInput, TooLarge
from core.ingest.receive import receive
from core.ingest.validate import check_type, clean_name, doc_key
from core.ports import BlobStore
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog import NewVersion

TEXT_EXTENSIONS = ("txt", "md", "markdown")
_MOST_TAGS = 100
_TITLE_CHARS = 500


class Intake:
    """Takes files and text entries in; whatever is refused leaves nothing behind."""

    def __init__(self, blobs: BlobStore, incoming: Path, max_upload_bytes: int, max_text_chars: int) -> None:
        self._blobs = blobs
        self._incoming = incoming
        self._max_upload_bytes = max_upload_bytes
        self._max_text_chars = max_text_chars

    def file(
        self, name: str, stream: BinaryIO, tags: Sequence[str] = (), note: str = "", actor: str = ""
    ) -> NewVersion:
        """Keep a file's bytes. Raises: ``BadFilename``, ``TooLarge``, ``UnsupportedType``, ``EmptyDocument``."""
        shown = clean_name(name)
        check_tags(tags)
        return self._kept(shown, stream, self._max_upload_bytes, tags, note, actor)

    def text(
        self, name: str, text: str, title: str = "", tags: Sequence[str] = (), note: str = "", actor: str = ""
    ) -> NewVersion:
        """Keep a text entry's bytes. Raises: ``BadFilename``, ``TooLarge`` over the limit, ``EmptyDocument``."""
        if len(text) > self._max_text_chars:
            raise TooLarge(
                f"The text has {len(text):,} characters; an entry holds at most {self._max_text_chars:,}.",
                remedy="Shorten it, or upload it as a text file.",
            )
        if not text.strip():
            raise EmptyDocument("The text is empty.", remedy="Type some text and save again.")
        shown = clean_name(_with_extension(name))
        check_tags(tags)
        data = text.encode("utf-8", "replace")
        new = self._kept(shown, io.BytesIO(data), len(data), tags, note, actor)
        own_title = " ".join((title or PurePath(shown).stem).split())[:_TITLE_CHARS]
        return replace(new, is_text_entry=True, title=own_title)

    def _kept(self, shown: str, stream: BinaryIO, limit: int, tags: Sequence[str], note: str, actor: str) -> NewVersion:
        from core.catalog import NewVersion

        received = receive(stream, self._incoming, limit)
        try:
            extension = check_type(shown, received.head, received.path)
            self._blobs.put(received.path, received.sha256)
        finally:
            received.path.unlink(missing_ok=True)
        return NewVersion(
            doc_key=doc_key(shown),
            name=shown,
            extension=extension,
            sha256=received.sha256,
            sha1=received.sha1,
            size_bytes=received.size_bytes,
            tags=tuple(tags),
            note=_storable(note, 2000),
            actor=_storable(actor, 256),
        )


def check_tags(tags: Sequence[str]) -> None:
    """Refuse what cannot be a document's tags. Raises: ``InvalidInput``."""
    if len(tags) > _MOST_TAGS or not all(isinstance(tag, str) and is_storable(tag) for tag in tags):
        raise InvalidInput(f"A document has at most {_MOST_TAGS} tags, each a text.")


def _with_extension(name: str) -> str:
    """Text entries are named as people like; as files they are text unless they say Markdown."""
    if not isinstance(name, str) or not name.strip():
        raise BadFilename("The entry has no name.", remedy="Give it a name.")
    named = name.strip()
    return named if PurePath(named).suffix[1:].lower() in TEXT_EXTENSIONS else f"{named}.txt"


def _storable(text: str, limit: int) -> str:
    return text[:limit].encode("utf-8", "replace").decode()
