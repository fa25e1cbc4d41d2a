"""An archive is taken in: checked as far as a moment allows, kept as a blob, and queued to be unpacked."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import Connection

from core import access
from core.blobs.pinned import PinnedBlobs
from core.blobs.quota import StorageQuota, disk_errors
from core.blobs.removal import remove_unless_named
from core.catalog.jobs.ledger import NewJob
from core.errors import EmptyDocument, StoreUnavailable
from core.ingest.archives import ArchiveLimits, check_archive
from core.ingest.archives.child import opened
from core.ingest.archives.members import Member
from core.ingest.intake import check_private
from core.ingest.receive import receive
from core.ingest.upload_options import check_filing
from core.ingest.validate import clean_name
from core.model import Filing, JobKind, Upload, UploadOutcome
from core.model.codec import to_dict
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

MarkFiled = Callable[[Connection, Upload], None]

_LOOK_S = 1.5


@dataclass(frozen=True, slots=True)
class StoredArchive:
    """The bytes of an archive that are a blob, and how it is packed."""

    sha256: str
    sha1: str
    size_bytes: int
    kind: str


def _nothing_to_mark(_tx: Connection, _receipt: Upload) -> None:
    """An upload in one piece has nothing else to settle."""


class ArchiveIntake:
    """Takes archives in, and removes their bytes once their jobs need them no more."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: PinnedBlobs,
        incoming: Path,
        limits: ArchiveLimits,
        quota: StorageQuota,
        kept_for: timedelta,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._unclaimed = blobs.unclaimed
        self._incoming = incoming
        self._limits = limits
        self._quota = quota
        self._kept_for = kept_for

    def take(self, name: str, stream: BinaryIO, filing: Filing) -> Upload:
        """Receive an archive and queue its job.

        Raises: ``BadFilename``, ``TooLarge``, ``InvalidInput``, and what ``check`` raises; then nothing is stored.
        """
        shown, filing = clean_name(name), check_filing(filing)
        with disk_errors():
            received = receive(stream, self._incoming, self._quota.max_bytes(), self._quota.too_much)
        try:
            kind = self.check(shown, received.path, received.head)
            with self._pins.held(received.sha256):
                self._unclaimed.announce([received.sha256])
                with disk_errors():
                    self._blobs.put(received.path, received.sha256)
                failpoint("archives.blob.kept")
                stored = StoredArchive(received.sha256, received.sha1, received.size_bytes, kind)
                return self.claim(shown, stored, filing)
        finally:
            received.path.unlink(missing_ok=True)

    def check(self, name: str, path: Path, head: bytes) -> str:
        """Return how an archive is packed, unless it shows to be hostile: in its directory, or in a first look into it.

        Raises: ``TypeMismatch``, ``ArchiveLimit``, ``Encrypted``, ``ParserFailed``, ``EmptyDocument``.
        """
        kind = check_archive(name, head)
        end = time.monotonic() + _LOOK_S
        with opened(path, kind, self._limits, self._incoming) as archive:
            members = archive.survey(lambda: time.monotonic() < end)
        if members is not None:
            check_members(members)
        return kind

    def claim(
        self, name: str, stored: StoredArchive, filing: Filing, mark_filed: MarkFiled = _nothing_to_mark
    ) -> Upload:
        """Queue the job of an archive whose bytes are a blob; one that waits to be unpacked already keeps its job.

        ``mark_filed`` is called with the receipt in the same transaction. Raises: ``InvalidInput``.
        """
        who = access.current()
        check_private(filing)

        def receipt(job_id: str, is_new: bool) -> Upload:
            return Upload(UploadOutcome.NEW if is_new else UploadOutcome.UNCHANGED, "", 0, stored.sha1, job_id)

        job = NewJob(
            kind=JobKind.UNPACK,
            name=name,
            size_bytes=stored.size_bytes,
            actor=filing.actor or who.name,
            owner_id=who.user_id if filing.private else None,
            priority=filing.priority,
            payload={
                "sha256": stored.sha256,
                "kind": stored.kind,
                "filing": to_dict(filing),
                "who": to_dict(who),
            },
        )
        made = self._catalog.archives.claim(job, lambda tx, job_id, is_new: mark_filed(tx, receipt(job_id, is_new)))
        failpoint("archives.job.queued")
        return receipt(*made)

    def sweep(self) -> None:
        """Remove the bytes of archives whose jobs have ended; those that could be unpacked yet are kept for a while."""
        kept = self._catalog.archives.kept(_now() - self._kept_for)
        needed = {each.sha256 for each in kept if each.is_needed}
        for each in kept:
            if each.is_needed:
                continue
            if each.sha256 not in needed:
                try:
                    remove_unless_named(self._blobs, self._pins, each.sha256, self._catalog.purges.is_named)
                except StoreUnavailable as error:
                    log.warning("the bytes of an archive are removed later: %s", error.message)
                    continue
                failpoint("archives.blob.removed")
            self._catalog.archives.forget(each.job_id)


def check_members(members: list[Member]) -> None:
    """Refuse an archive without documents. Raises: ``EmptyDocument``."""
    if all(member.refusal for member in members):
        raise EmptyDocument(
            "The archive holds no document of a type that is read.",
            remedy="Put documents (PDF, Word, Excel, PowerPoint, HTML, Markdown, text, CSV) into it.",
        )


def _now() -> datetime:
    return datetime.now(UTC)
