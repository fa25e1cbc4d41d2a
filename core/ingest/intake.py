"""Intake: what is sent is checked and its bytes kept; the answer is a version that the catalogue can claim."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol

from core.access import current
from core.errors import BadFilename, EmptyDocument, InvalidInput, StoreUnavailable, TooLarge, UnsupportedType
from core.ingest.archives import archive_kind
from core.ingest.filing import check_filing
from core.ingest.holds import Holds
from core.ingest.receive import receive
from core.ingest.room import Room, disk_errors
from core.ingest.validate import EXTENSIONS, check_type, clean_name, doc_key
from core.model import Filing
from core.points import point
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import NewVersion

TEXT_EXTENSIONS = ("txt", "md", "markdown")
_TITLE_CHARS = 500


class Intake:
    """Takes files and text entries in; whatever is refused leaves nothing behind."""

    def __init__(self, blobs: BlobStore, holds: Holds, incoming: Path, room: Room, max_text_chars: int) -> None:
        self._blobs = blobs
        self._holds = holds
        self._incoming = incoming
        self._room = room
        self._max_text_chars = max_text_chars

    def file(self, name: str, stream: BinaryIO, filing: Filing) -> NewVersion:
        """Keep a file's bytes, and hold them until ``release``.

        Raises: ``BadFilename``, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``, ``UnsupportedType``, ``EmptyDocument``,
        ``InvalidInput``.
        """
        return self._kept(clean_name(name), stream, filing)

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
        new = self._kept(shown, io.BytesIO(data), filing)
        own_title = " ".join((title or PurePath(shown).stem).split())[:_TITLE_CHARS]
        return replace(new, is_text_entry=True, title=own_title)

    def hold(self, new: NewVersion) -> None:
        """Hold bytes that are kept already, until ``release``."""
        self._holds.take(new.sha256)

    def release(self, news: Sequence[NewVersion]) -> None:
        """Let go of the bytes once the catalogue names them."""
        for new in news:
            self._holds.release(new.sha256)

    def forget(self, news: Sequence[NewVersion], is_named: Callable[[str], bool]) -> None:
        """Remove the bytes of what was not claimed in the end, but for those that the catalogue names."""

        def remove(sha256: str) -> None:
            if not is_named(sha256):
                # Otherwise it is removed at the next start, since nothing names it.
                with suppress(StoreUnavailable):
                    self._blobs.delete(sha256)

        for sha256 in {new.sha256 for new in news}:
            self._holds.unless_held(sha256, partial(remove, sha256))

    def _kept(self, shown: str, stream: BinaryIO, filing: Filing) -> NewVersion:
        filing = check_filing(filing)
        check_private(filing)
        most = self._room.most()
        with disk_errors():
            received = receive(stream, self._incoming, most, self._room.too_much)
        try:
            extension = check_type(shown, received.head, received.path)
            self._room.check_disk(0)
            self._holds.take(received.sha256)
            try:
                with disk_errors():
                    self._blobs.put(received.path, received.sha256)
                point("intake.blob.put")
            except BaseException:
                self._holds.release(received.sha256)
                raise
        finally:
            received.path.unlink(missing_ok=True)
        return new_version(shown, extension, received, filing)


class Measured(Protocol):
    """A file whose hashes are known."""

    @property
    def sha256(self) -> str: ...

    @property
    def sha1(self) -> str: ...

    @property
    def size_bytes(self) -> int: ...


def new_version(shown: str, extension: str, file: Measured, filing: Filing) -> NewVersion:
    """Return the version that a file becomes on behalf of whoever acts."""
    from core.catalog import NewVersion

    who = current()
    key = doc_key(shown)
    return NewVersion(
        doc_key=f"~{who.name}/{key}" if filing.private else key,
        name=shown,
        extension=extension,
        sha256=file.sha256,
        sha1=file.sha1,
        size_bytes=file.size_bytes,
        filing=filing,
        owner_id=who.user_id if filing.private else None,
    )


def check_private(filing: Filing) -> None:
    """Refuse a private document that would have no owner. Raises: ``InvalidInput``."""
    if filing.private and current().user_id is None:
        raise InvalidInput("A private document needs an owner: sign in, or use a key.")


def check_extension(shown: str) -> None:
    """Refuse a file by its name where its type is neither that of a document nor of an archive.

    Raises: ``UnsupportedType``.
    """
    stem, dot, extension = shown.rpartition(".")
    if dot and stem and extension.lower() not in EXTENSIONS and not archive_kind(shown):
        raise UnsupportedType(f"Files of type .{extension[:20]} are not accepted.")


def _with_extension(name: str) -> str:
    """Text entries are named as people like; as files they are text unless they say Markdown."""
    if not isinstance(name, str) or not name.strip():
        raise BadFilename("The entry has no name.", remedy="Give it a name.")
    named = name.strip()
    return named if PurePath(named).suffix[1:].lower() in TEXT_EXTENSIONS else f"{named}.txt"
