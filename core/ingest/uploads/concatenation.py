"""Putting an upload together from partial ones: the first file grows by the others, and the catalogue knows how far."""

from __future__ import annotations

import os
from pathlib import Path

from core.blobs.quota import disk_errors
from core.catalog.documents.transfers import TransferLedger, TransferRow
from core.errors import UploadExpired
from core.platform.durable import sync
from core.platform.failpoints import failpoint

_STEP_BYTES = 16 * 1024 * 1024


def join(row: TransferRow, folder: Path, ledger: TransferLedger) -> None:
    """Bring the bytes of all pieces into the file of the upload, going on where a former process ended.

    Raises: ``DiskFull``; ``UploadExpired`` where the file of a piece is gone.
    """
    target = folder / row.id
    joined = row.shown.offset_bytes
    start = 0
    for number, piece in enumerate(row.pieces):
        end = start + piece.size_bytes
        source = folder / piece.id
        if end > joined or (number == 0 and not joined):
            if number == 0:
                _begin(source, target, piece.size_bytes)
            else:
                _append(source, target, start, piece.size_bytes)
            ledger.joined(row.id, joined, end)
            joined = end
            failpoint("uploads.join.committed")
        if number > 0 or not piece.size_bytes:
            source.unlink(missing_ok=True)
            failpoint("uploads.join.piece_removed")
        start = end


def _begin(source: Path, target: Path, size_bytes: int) -> None:
    if not target.exists():
        if source.exists():
            os.rename(source, target)
        elif size_bytes:
            raise _lost()
        else:
            target.touch()
        failpoint("uploads.join.begun")
        sync(target.parent)
    if target.stat().st_size < size_bytes:
        raise _lost()


def _append(source: Path, target: Path, start: int, size_bytes: int) -> None:
    if not size_bytes:
        return
    if not source.exists() or source.stat().st_size < size_bytes:
        raise _lost()
    with source.open("rb") as reading, target.open("r+b") as writing, disk_errors():
        os.ftruncate(writing.fileno(), start)
        done = 0
        while done < size_bytes:
            done += _copy(reading.fileno(), writing.fileno(), done, start + done, min(_STEP_BYTES, size_bytes - done))
        failpoint("uploads.join.copied")
        os.fdatasync(writing.fileno())
        failpoint("uploads.join.synced")


def _copy(source: int, target: int, at: int, to: int, count: int) -> int:
    """Copy bytes without taking them through this process, where the file system can."""
    try:
        copied = os.copy_file_range(source, target, count, at, to)
    except OSError:
        copied = os.pwrite(target, os.pread(source, min(count, 1024 * 1024), at), to)
    if not copied:
        raise _lost()
    return copied


def _lost() -> UploadExpired:
    return UploadExpired("What had arrived of this upload is not in the data folder any more.")
