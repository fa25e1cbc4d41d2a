"""Intake: what is sent is checked and its bytes kept; the answer is a version that the catalogue can claim."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol

from core.access import current
from core.blobs.pinned import PinnedBlobs
from core.blobs.quota import StorageQuota, disk_errors
from core.errors import BadFilename, EmptyDocument, InvalidInput, TooLarge, UnsupportedType
from core.ingest.archives import archive_kind
from core.ingest.receive import Received, receive
from core.ingest.upload_options import check_filing
from core.ingest.validate import check_type, clean_name, doc_key
from core.model import Filing
from core.model.file_types import EXTENSIONS
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import NewVersion

TEXT_EXTENSIONS = ("txt", "md", "markdown")
_TITLE_CHARS = 500
_TOGETHER = 64
"""Text entries whose bytes are kept at a time."""


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A checked file in the folder of what is not acknowledged."""

    name: str
    extension: str
    received: Received
    filing: Filing
    is_text_entry: bool = False
    title: str = ""

    def close(self) -> None:
        self.received.path.unlink(missing_ok=True)


class Intake:
    """Takes files and text entries in; whatever is refused leaves nothing behind."""

    def __init__(
        self,
        blobs: PinnedBlobs,
        incoming: Path,
        quota: StorageQuota,
        max_text_chars: int,
    ) -> None:
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._unclaimed = blobs.unclaimed
        self._incoming = incoming
        self._quota = quota
        self._max_text_chars = max_text_chars

    def file(self, name: str, stream: BinaryIO, filing: Filing) -> NewVersion:
        """Keep a file's bytes, and hold them until ``release``.

        Raises: ``BadFilename``, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``, ``UnsupportedType``, ``EmptyDocument``,
        ``InvalidInput``.
        """
        return self._kept(clean_name(name), stream, filing)

    def text(self, name: str, text: str, title: str, filing: Filing) -> NewVersion:
        """Keep a text entry's bytes. Raises: ``BadFilename``, ``TooLarge`` over the limit, ``EmptyDocument``."""
        return next(self.texts([(name, title, text)], filing))

    def texts(self, entries: Iterable[tuple[str, str, str]], filing: Filing) -> Iterator[NewVersion]:
        """Keep the bytes of text entries, each (name, title, text), some at a time; raises what ``text`` raises."""
        left = iter(entries)
        while few := list(islice(left, _TOGETHER)):
            with ExitStack() as received:
                news = self.kept([received.enter_context(closing(self._text(*entry, filing))) for entry in few])
            yield from news

    def _text(self, name: str, title: str, text: str, filing: Filing) -> ReceivedFile:
        if len(text) > self._max_text_chars:
            raise TooLarge(
                f"The text has {len(text):,} characters; an entry holds at most {self._max_text_chars:,}.",
                remedy="Shorten it, or upload it as a text file.",
            )
        if not text.strip():
            raise EmptyDocument("The text is empty.", remedy="Type some text and save again.")
        shown = clean_name(_with_extension(name))
        data = text.encode("utf-8", "replace")
        file = self._received(shown, io.BytesIO(data), filing)
        own_title = " ".join((title or PurePath(shown).stem).split())[:_TITLE_CHARS]
        return replace(file, is_text_entry=True, title=own_title)

    def hold(self, new: NewVersion) -> None:
        """Hold bytes that are kept already, until ``release``."""
        self._pins.take(new.sha256)

    def release(self, news: Sequence[NewVersion]) -> None:
        """Let go of the bytes once the catalogue names them."""
        for new in news:
            self._pins.release(new.sha256)

    def forget(self, news: Sequence[NewVersion]) -> None:
        """Remove the bytes of what was not claimed in the end, but for those that the catalogue names."""
        self._unclaimed.remove({new.sha256 for new in news})

    def received(self, name: str, stream: BinaryIO, filing: Filing) -> ReceivedFile:
        """Receive and check a file, which ``kept`` makes a blob and ``close`` removes.

        Raises: what ``file`` raises.
        """
        return self._received(clean_name(name), stream, filing)

    def kept(self, files: Sequence[ReceivedFile]) -> list[NewVersion]:
        """Make files blobs, and hold them until ``release``; either all of them or none is held."""
        held: list[str] = []
        try:
            for file in files:
                self._pins.take(file.received.sha256)
                held.append(file.received.sha256)
            self._unclaimed.announce(held)
            for file in files:
                with disk_errors():
                    self._blobs.put(file.received.path, file.received.sha256)
                failpoint("intake.blob.put")
        except BaseException:
            for sha256 in held:
                self._pins.release(sha256)
            raise
        return [
            replace(
                new_version(file.name, file.extension, file.received, file.filing),
                is_text_entry=file.is_text_entry,
                title=file.title,
            )
            for file in files
        ]

    def _kept(self, shown: str, stream: BinaryIO, filing: Filing) -> NewVersion:
        with closing(self._received(shown, stream, filing)) as file:
            return self.kept([file])[0]

    def _received(self, shown: str, stream: BinaryIO, filing: Filing) -> ReceivedFile:
        filing = check_filing(filing)
        check_private(filing)
        most = self._quota.max_bytes()
        with disk_errors():
            received = receive(stream, self._incoming, most, self._quota.too_much)
        try:
            extension = check_type(shown, received.head, received.path)
            self._quota.check_disk(0)
        except BaseException:
            received.path.unlink(missing_ok=True)
            raise
        return ReceivedFile(shown, extension, received, filing)


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
