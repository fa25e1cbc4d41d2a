"""What happens to an upload that has arrived: it is put together, read, checked, kept as a blob, and claimed once.

Each step can be done again, and the catalogue says which were: a process that is killed in between leaves nothing
behind that the next one does not finish.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from core.access import acting
from core.blobs.pinned import PinnedBlobs
from core.catalog.documents.transfers import Findings, TransferLedger, TransferRow, file_away
from core.errors import (
    ChecksumMismatch,
    EvoRAGError,
    Forbidden,
    NotFound,
    UnreadableDocument,
    UnsupportedType,
    UploadExpired,
)
from core.ingest.receive import Received
from core.ingest.uploads.checksums import RunningHashes
from core.ingest.uploads.concatenation import join
from core.ingest.uploads.measure import measure
from core.model import Filing, Principal, Role, TransferState, Upload
from core.platform.failpoints import failpoint

log = logging.getLogger(__name__)

MarkFiled = Callable[[Connection, Upload], None]
"""Writes within a claim's transaction what the upload became; what it raises takes the claim back."""

_FINAL = (ChecksumMismatch, UnsupportedType, UnreadableDocument, UploadExpired)
"""What will not be otherwise at another attempt."""


class Destination(Protocol):
    """What a whole file becomes: a version of a document, or the work of unpacking an archive."""

    def check(self, name: str, received: Received) -> tuple[str, bool]:
        """Return what kind of file it is, and whether it is an archive. Raises: ``UnsupportedType``, …"""

    def claim(self, name: str, findings: Findings, filing: Filing, mark_filed: MarkFiled) -> Upload:
        """Claim what the blob with these findings becomes, calling ``mark_filed`` in the same transaction."""


class Gone(Exception):
    """Somebody else has filed the upload, or it is known no more."""


class Finalizer:
    """Takes uploads that are being checked to their end, which is a receipt or a refusal."""

    def __init__(
        self,
        ledger: TransferLedger,
        folder: Path,
        blobs: PinnedBlobs,
        destination: Destination,
        expiry: Callable[[], datetime],
    ) -> None:
        self._ledger = ledger
        self._folder = folder
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._unclaimed = blobs.unclaimed
        self._destination = destination
        self._expiry = expiry

    def finish(self, transfer_id: str, hashes: RunningHashes | None, tell: Callable[[int], bool]) -> bool:
        """Take an upload to its end; False where that cannot be done now and is worth another attempt.

        Raises: ``Cancelled`` where ``tell`` does not allow to go on.
        """
        with self._ledger.alone(transfer_id) as is_ours:
            return is_ours and self._finish_alone(transfer_id, hashes, tell)

    def _finish_alone(self, transfer_id: str, hashes: RunningHashes | None, tell: Callable[[int], bool]) -> bool:
        row = self._ledger.get(transfer_id)
        if row is None or row.shown.state is not TransferState.CHECKING:
            return True
        if row.owner_id is not None and not row.shown.owner:
            self._refuse(row, Forbidden("Whoever sent this upload is no user any more."))
            return True
        with acting(_principal(row)):
            try:
                self._finish(row, hashes, tell)
            except _FINAL as error:
                self._refuse(row, error)
            except Gone:
                pass
            except EvoRAGError as error:
                if error.status == 400:
                    self._refuse(row, error)
                    return True
                if error.code == "cancelled":
                    raise
                log.warning("an upload waits to be filed: %s", error.message)
                self._ledger.note(row.id, error.as_dict())
                return False
        return True

    def hold(self, row: TransferRow) -> None:
        """Keep a purge from removing the blob of an upload that a former process had put there."""
        if row.findings:
            self._pins.take(row.findings.sha256)

    def release(self, row: TransferRow) -> None:
        if row.findings:
            self._pins.release(row.findings.sha256)

    def _finish(self, row: TransferRow, hashes: RunningHashes | None, tell: Callable[[int], bool]) -> None:
        path = self._folder / row.id
        findings = row.findings
        if findings is None:
            if row.pieces:
                join(row, self._folder, self._ledger)
            findings = self._read(row, path, hashes, tell)
            if not self._ledger.found(row.id, findings):
                raise Gone
            failpoint("uploads.findings.committed")
        with self._pins.held(findings.sha256):
            if path.exists():
                self._unclaimed.announce([findings.sha256])
                self._blobs.put(path, findings.sha256)
                failpoint("uploads.blob.put")
            else:
                self._check_blob(findings)
            self._destination.claim(row.shown.name, findings, row.shown.filing, self._mark_filed(row))
            failpoint("uploads.claim.committed")

    def _read(
        self, row: TransferRow, path: Path, hashes: RunningHashes | None, tell: Callable[[int], bool]
    ) -> Findings:
        size = row.shown.size_bytes or 0
        if not path.exists() or path.stat().st_size < size:
            raise UploadExpired("What had arrived of this upload is not in the data folder any more.")
        if path.stat().st_size > size:
            os.truncate(path, size)
        received = measure(path, size, hashes, tell)
        failpoint("uploads.file.hashed")
        if row.shown.sha256 not in (None, received.sha256):
            raise ChecksumMismatch("The whole file is not what was announced: its SHA-256 differs.")
        kind, is_archive = self._destination.check(row.shown.name, received)
        failpoint("uploads.file.checked")
        return Findings(received.sha256, received.sha1, received.size_bytes, kind, is_archive)

    def _check_blob(self, findings: Findings) -> None:
        try:
            self._blobs.path(findings.sha256)
        except NotFound as error:
            raise UploadExpired("What had arrived of this upload is not in the data folder any more.") from error

    def _mark_filed(self, row: TransferRow) -> MarkFiled:
        def mark_filed(tx: Connection, receipt: Upload) -> None:
            if not file_away(tx, row.id, receipt, self._expiry()):
                raise Gone
            failpoint("uploads.claim.written")

        return mark_filed

    def _refuse(self, row: TransferRow, error: EvoRAGError) -> None:
        self._ledger.refuse(row.id, error.as_dict(), self._expiry())
        failpoint("uploads.refusal.committed")
        names = (row.id, *(piece.id for piece in row.pieces))
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        self._ledger.removed(names)
        if (findings := row.findings) is not None:
            self._unclaimed.remove([findings.sha256])
        failpoint("uploads.refusal.removed")


def _principal(row: TransferRow) -> Principal:
    """Return on whose behalf the upload is filed; what it needs was asked of them when it began."""
    if row.owner_id is None:
        return Principal()
    return Principal(row.shown.owner, Role.EDITOR, row.owner_id)
