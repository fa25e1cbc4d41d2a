"""Uploads in parts, as the knowledge base offers them: begun, continued from where they stand, joined, ended."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.access import current, require
from core.blobs.pinned import PinnedBlobs
from core.blobs.quota import StorageQuota
from core.catalog.documents.transfers import TransferLedger, TransferPiece, TransferRow
from core.errors import Conflict, InvalidInput, NotFound, OffsetConflict, UploadExpired
from core.ingest.uploads.checker import UploadFinisher
from core.ingest.uploads.checksums import ALGORITHMS, PartChecksum
from core.ingest.uploads.finalize import Destination, Finalizer
from core.ingest.uploads.part_writer import ByteStream, PartWriter
from core.ingest.uploads.upload_request import LARGEST, UploadRequest, checked_sha256, new_transfer
from core.model import Filing, Role, Transfer, TransferState
from core.platform.failpoints import failpoint

_ID = re.compile(r"[0-9a-f]{32}")
_MOST_UNFINISHED = 10_000
_MOST_PIECES = 1_000
_LOST = "There is no such upload."


class Transfers:
    """Every method works on the uploads of whoever acts; those of others are as if they were not there."""

    def __init__(
        self,
        ledger: TransferLedger,
        folder: Path,
        quota: StorageQuota,
        blobs: PinnedBlobs,
        destination: Destination,
        *,
        expiry: timedelta,
        threads: int,
        is_shared: bool = False,
    ) -> None:
        """Receive in ``folder``; with ``is_shared`` other processes do as well."""
        folder.mkdir(exist_ok=True)
        self._ledger = ledger
        self._folder = folder
        self._quota = quota
        self._expiry = expiry
        self._is_shared = is_shared
        self._receptions: dict[str, PartWriter] = {}
        self._lock = threading.Lock()
        self._finalizer = Finalizer(ledger, folder, blobs, destination, self._expires_at)
        self._checker = UploadFinisher(self._finalizer, self.expire, threads)

    @property
    def max_bytes(self) -> int:
        return self._quota.max_file_bytes

    @property
    def algorithms(self) -> tuple[str, ...]:
        """What the checksum of a part may be made with."""
        return ALGORITHMS

    def start(self) -> None:
        """Remove what ended uploads left, and go on with what a former process had received but not filed.

        The files of uploads that the catalogue does not know stay.
        """
        self.expire()
        over = self._ledger.left_over() - self._ledger.files()
        for name in over & {path.name for path in self._folder.iterdir()}:
            (self._folder / name).unlink(missing_ok=True)
            failpoint("uploads.orphan.removed")
        self._ledger.removed(over)
        waiting = self._ledger.checking()
        for row in waiting:
            self._finalizer.hold(row)
        self._checker.start()
        for row in waiting:
            self._checker.add(row.id, after=lambda row=row: self._finalizer.release(row))  # type: ignore[misc]

    def follow(self) -> None:
        """File what another process has received and has left, and forget what has ended in other processes."""
        for row in self._ledger.checking():
            if not self._checker.has(row.id):
                self._checker.add(row.id)
        if known := list(self._receptions):
            for each in set(known) - self._ledger.files():
                self._forget(each)

    # ---- beginning

    def create(
        self,
        name: str | None,
        size_bytes: int | None,
        *,
        filing: Filing,
        sha256: str | None = None,
        is_partial: bool = False,
        metadata: str = "",
    ) -> Transfer:
        """Begin an upload of a size that is known or said later.

        Raises: ``BadFilename``, ``UnsupportedType``, ``EmptyDocument``, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``,
        ``InvalidInput``.
        """
        require(Role.EDITOR)
        row = new_transfer(UploadRequest(name, size_bytes, filing, sha256, is_partial, metadata), self._expiry)
        self._quota.check(size_bytes or 0)
        if self._ledger.unfinished(row.owner_id) >= _MOST_UNFINISHED:
            raise Conflict("Too many uploads are under way.", remedy="Finish or end some of them first.")
        self._ledger.add(row)
        failpoint("uploads.transfer.created")
        return row.shown

    def concatenate(
        self,
        ids: Sequence[str],
        name: str,
        filing: Filing,
        *,
        sha256: str | None = None,
        metadata: str = "",
    ) -> Transfer:
        """Put finished partial uploads together, in this order; they are no uploads of their own any more.

        Raises: what ``create`` raises; ``NotFound``; ``Conflict`` where one is not finished.
        """
        require(Role.EDITOR)
        if not ids or len(ids) > _MOST_PIECES or len(set(ids)) != len(ids):
            raise InvalidInput(f"An upload is put together from 1 to {_MOST_PIECES:,} others, each of them once.")
        rows = [self._own(each) for each in ids]
        for each in rows:
            if not each.shown.is_partial:
                raise InvalidInput("Only partial uploads can be put together.")
            if not each.is_whole:
                raise Conflict("A partial upload has not arrived whole.", remedy="Send the rest of it first.")
        pieces = tuple(TransferPiece(each.id, each.shown.offset_bytes) for each in rows)
        size = sum(piece.size_bytes for piece in pieces)
        row = new_transfer(UploadRequest(name, size, filing, sha256, metadata=metadata), self._expiry)
        row = replace(row, pieces=pieces, shown=replace(row.shown, state=TransferState.CHECKING))
        copied = max((piece.size_bytes for piece in pieces[1:]), default=0)
        self._quota.check(size, on_disk=copied, except_ids=ids)
        if not self._ledger.add(row):
            raise Conflict("A partial upload was ended or put together meanwhile.")
        failpoint("uploads.join.claimed")
        for piece in pieces:
            self._forget(piece.id)
        self._checker.add(row.id)
        return self._shown(self._own(row.id))

    # ---- reading

    def get(self, transfer_id: str) -> Transfer:
        """Raises: ``NotFound``, ``UploadExpired``."""
        return self._shown(self._own(transfer_id))

    def metadata(self, transfer_id: str) -> str:
        """Return what was said about an upload when it began, as it was written. Raises: ``NotFound``."""
        return self._own(transfer_id).metadata

    def pieces(self, transfer_id: str) -> tuple[str, ...]:
        """Return from which uploads one is put together. Raises: ``NotFound``."""
        return tuple(piece.id for piece in self._own(transfer_id).pieces)

    def resume(self, transfer_id: str) -> Transfer:
        """Return an upload that is to be continued; a connection that still sends to it is overtaken.

        Raises: ``NotFound``, ``UploadExpired``; the latter also for one that was refused.
        """
        row = self._own(transfer_id)
        writer = self._receptions.get(row.id)
        if writer is not None:
            writer.acquire()
            row = self._went_on(row.id)
        if row.shown.state is TransferState.REFUSED:
            raise UploadExpired("The upload was refused, and its bytes were removed.")
        return self._shown(row)

    def mine(self, *, active: bool = True) -> list[Transfer]:
        """Return uploads, newest first; with ``active`` only those that are not filed or refused."""
        return [self._shown(row) for row in self._ledger.of(current().user_id, active=active)]

    def wait(self, transfer_id: str, timeout_s: float) -> Transfer:
        """Return an upload once it is filed or refused, or as it is when the time is over."""
        self._checker.wait(transfer_id, timeout_s)
        return self.get(transfer_id)

    # ---- continuing

    def append(
        self,
        transfer_id: str,
        offset: int,
        stream: ByteStream,
        *,
        size: int | None,
        checksum: tuple[str, bytes] | None = None,
        sha256: str | None = None,
    ) -> Transfer:
        """Write a part of ``size`` bytes (None: up to the end of the stream) at the upload's end; then it is durable.

        ``sha256`` announces that of the whole file, where it was not known at the start.
        Raises: ``OffsetConflict``, ``ChecksumMismatch`` (the part is thrown away), ``InvalidInput`` beyond the
        announced size, ``TooLarge``, ``QuotaExceeded``, ``DiskFull``, ``Conflict`` after the end, ``NotFound``.
        """
        require(Role.EDITOR)
        wanted = PartChecksum(*checksum) if checksum else None
        announced = checked_sha256(sha256)
        row = self._own(transfer_id)
        _check_open(row)
        if not 0 <= offset <= LARGEST or (size is not None and not 0 <= size <= LARGEST):
            raise InvalidInput("The offset and the size of a part are whole numbers of bytes.")
        token, durable, writer = self._acquire(row)
        row = self._went_on(row.id)
        _check_open(row)
        if offset != durable:
            raise OffsetConflict(f"The upload has {durable:,} bytes, and the part begins at {offset:,}.")
        most = row.shown.size_bytes
        if most is None:
            most = self._quota.max_bytes(except_ids=[row.id])
            if size is not None and offset + size > most:
                raise self._quota.too_much(offset + size)
        elif size is not None and offset + size > most:
            raise InvalidInput("The part goes beyond the announced end of the upload.")
        if announced is not None and not self._ledger.announce(row.id, announced):
            raise Conflict("The upload was ended meanwhile.")
        try:
            writer.receive(token, stream, most, size, wanted)
        except Exception:
            # What came before may have been all of it.
            with suppress(NotFound):
                self._went_on(row.id)
            raise
        return self._shown(self._went_on(row.id))

    def set_size(self, transfer_id: str, size_bytes: int) -> Transfer:
        """Say the size of an upload that began without one; it may be said once.

        Raises: ``InvalidInput``, ``Conflict``, and what ``create`` raises of sizes.
        """
        require(Role.EDITOR)
        row = self._own(transfer_id)
        _check_open(row)
        if row.shown.size_bytes is not None:
            if row.shown.size_bytes == size_bytes:
                return self._shown(row)
            raise InvalidInput("The size of this upload has been said, and is another one.")
        _, durable, _ = self._acquire(row)
        if not durable <= size_bytes <= LARGEST or not size_bytes:
            raise InvalidInput("The size of an upload is not less than what has arrived of it.")
        self._quota.check(size_bytes, on_disk=size_bytes - durable, except_ids=[row.id])
        is_whole = size_bytes == durable and not row.shown.is_partial
        state = TransferState.CHECKING if is_whole else TransferState.RECEIVING
        if not self._ledger.set_size(row.id, size_bytes, state):
            raise Conflict("The size of this upload has been said meanwhile.")
        failpoint("uploads.size.committed")
        return self._shown(self._went_on(row.id))

    def terminate(self, transfer_id: str) -> None:
        """End an upload and remove its bytes. Raises: ``NotFound``, ``Conflict`` while it is being filed."""
        require(Role.EDITOR)
        row = self._own(transfer_id)
        if row.shown.state is TransferState.CHECKING or not self._ledger.remove(row.id):
            raise Conflict("The upload has arrived whole and is being filed.", remedy="Delete the document instead.")
        failpoint("uploads.transfer.terminated")
        self._forget(row.id)
        (self._folder / row.id).unlink(missing_ok=True)
        self._ledger.removed([row.id])
        failpoint("uploads.transfer.removed")

    def expire(self) -> None:
        """Remove the uploads that nobody continues, and the receipts that were kept long enough."""
        expired = self._ledger.remove_expired(datetime.now(UTC))
        for each in expired:
            failpoint("uploads.transfer.expired")
            self._forget(each)
            (self._folder / each).unlink(missing_ok=True)
        if expired:
            self._ledger.removed(expired)

    def close(self) -> None:
        """Make durable what has arrived, and stop; what is not filed yet is at the next start."""
        with self._lock:
            receptions = list(self._receptions.values())
        for writer in receptions:
            writer.acquire()
        self._checker.close()

    # ---- within

    def _own(self, transfer_id: str) -> TransferRow:
        row = self._ledger.get(transfer_id) if _ID.fullmatch(transfer_id) else None
        if row is None or row.owner_id != current().user_id:
            raise NotFound(_LOST, remedy="Start the upload anew.")
        if row.shown.expires_at <= datetime.now(UTC) and row.shown.state is not TransferState.CHECKING:
            raise UploadExpired("Nobody continued this upload, and it has expired.")
        return row

    def _acquire(self, row: TransferRow) -> tuple[int, int, PartWriter]:
        with self._lock:
            writer = self._receptions.get(row.id)
            if writer is None:
                path = self._folder / row.id
                known = self._ledger.get(row.id)
                if known is None:
                    raise NotFound(_LOST, remedy="Start the upload anew.")
                at_present = (lambda: self._offset(row.id)) if self._is_shared else None
                writer = PartWriter(path, known.shown.offset_bytes, self._quota, self._commit_of(row.id), at_present)
                self._receptions[row.id] = writer
        token, durable = writer.acquire()
        if self._is_shared:
            durable = writer.go_on_from(token, self._offset(row.id))
        return token, durable, writer

    def _offset(self, transfer_id: str) -> int:
        """Return up to where the catalogue knows an upload to be. Raises: ``NotFound``."""
        row = self._ledger.get(transfer_id)
        if row is None:
            raise NotFound(_LOST, remedy="Start the upload anew.")
        return row.shown.offset_bytes

    def _commit_of(self, transfer_id: str) -> Callable[[int, int], bool]:
        def commit(start: int, end: int) -> bool:
            row = self._ledger.get(transfer_id)
            if row is None:
                return False
            is_whole = end == row.shown.size_bytes and not row.shown.is_partial
            state = TransferState.CHECKING if is_whole else TransferState.RECEIVING
            return self._ledger.advance(transfer_id, start, end, self._expires_at(), state)

        return commit

    def _went_on(self, transfer_id: str) -> TransferRow:
        """Return an upload as it is now, and have it filed where its last byte has come."""
        row = self._own(transfer_id)
        if row.shown.state is TransferState.CHECKING:
            writer = self._forget(transfer_id)
            self._checker.add(transfer_id, writer.hashes if writer else None)
            row = self._own(transfer_id)
        return row

    def _forget(self, transfer_id: str) -> PartWriter | None:
        with self._lock:
            writer = self._receptions.pop(transfer_id, None)
        if writer is not None:
            writer.close()
        return writer

    def _expires_at(self) -> datetime:
        return datetime.now(UTC) + self._expiry

    def _shown(self, row: TransferRow) -> Transfer:
        checked = max(row.shown.checked_bytes, self._checker.checked_bytes(row.id))
        return replace(row.shown, checked_bytes=checked) if checked != row.shown.checked_bytes else row.shown


def _check_open(row: TransferRow) -> None:
    if row.shown.state is not TransferState.RECEIVING:
        raise Conflict("The upload has arrived whole.", remedy="Ask what became of it.")
