"""Receiving parts: bytes are on the disk before the catalogue says so, and one connection at a time writes them.

Nothing is held while a connection is waited for. A newer one takes the upload over at once: what the older one has
written is made durable, and the older one finds, when it next has bytes, that it is not its turn any more. Where
several processes receive, the file is locked for as long as one of them writes; a connection to another one waits for
that.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from core.blobs.quota import StorageQuota, disk_errors
from core.errors import InvalidInput, NotFound, OffsetConflict, UploadExpired
from core.ingest.uploads.checksums import PartChecksum, RunningHashes
from core.platform.durable import sync
from core.platform.failpoints import failpoint

PIECE_BYTES = 256 * 1024
SYNC_BYTES = 32 * 1024 * 1024
"""So much of a long part is made durable at a time, so that a part of gigabytes is not lost with the process."""
_ATTEMPTS = 20
_PAUSE_S = 0.1


class ByteStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class PartWriter:
    """The file of one upload and whose turn it is to write it.

    ``commit(start, end)`` tells the catalogue what is durable; False where it does not know the upload any more.
    ``known`` returns up to where the catalogue knows it to be; it is given where several processes receive.
    """

    def __init__(
        self,
        path: Path,
        offset: int,
        quota: StorageQuota,
        commit: Callable[[int, int], bool],
        known: Callable[[], int] | None = None,
    ) -> None:
        self._path = path
        self._quota = quota
        self._commit = commit
        self._known = known
        self._lock = threading.Lock()
        self._token = 0
        self._file: int | None = None
        self._durable = self._written = offset
        self._is_checked = True
        self._hashes = RunningHashes()
        self._durable_hashes = RunningHashes()

    @property
    def hashes(self) -> RunningHashes:
        """The hashes of what is durable."""
        return self._durable_hashes

    def acquire(self) -> tuple[int, int]:
        """Return a turn, which ends every earlier one, and how much is durable now."""
        with self._lock:
            self._token += 1
            if self._is_checked:
                self._make_durable()
            self._drop()
            return self._token, self._durable

    def go_on_from(self, token: int, offset: int) -> int:
        """Go on behind what another process has received, while it is this turn; return how much is durable."""
        with self._lock:
            if token == self._token and offset != self._durable:
                self._durable = self._written = offset
                self._hashes, self._durable_hashes = RunningHashes(), RunningHashes()
            return self._durable

    def close(self) -> None:
        """End the present turn; what it has written and not committed has never arrived."""
        with self._lock:
            self._token += 1
            self._drop()

    def receive(
        self, token: int, stream: ByteStream, most: int, size: int | None, checksum: PartChecksum | None
    ) -> None:
        """Write a part that may reach up to ``most``; it is durable and committed when this returns.

        What came before a connection broke is kept, unless the part has a checksum; then all of it counts or nothing.
        Raises: ``OffsetConflict`` once another turn has begun, ``InvalidInput`` beyond ``most``, ``ChecksumMismatch``,
        ``DiskFull``, and whatever reading the stream raises.
        """
        with self._lock:
            self._check(token)
            self._is_checked = checksum is None
            with disk_errors():
                self._open()
            at = self._durable
        try:
            self._copy(token, stream, at, most, size, checksum)
        except OffsetConflict:
            raise
        except Exception as error:
            self._end(token, keep=checksum is None and not isinstance(error, InvalidInput))
            raise
        self._end(token, keep=True)

    def _copy(
        self, token: int, stream: ByteStream, at: int, most: int, size: int | None, checksum: PartChecksum | None
    ) -> None:
        end = None if size is None else at + size
        while at != end and (piece := stream.read(PIECE_BYTES if end is None else min(PIECE_BYTES, end - at))):
            if at + len(piece) > most:
                raise InvalidInput("The part goes beyond the end of the upload.")
            if checksum:
                checksum.update(piece)
            with self._lock:
                self._check(token)
                self._write(at, piece)
                at += len(piece)
                if self._is_checked and at < most and at - self._durable >= SYNC_BYTES:
                    self._make_durable()
        if checksum:
            checksum.check()
            failpoint("uploads.part.verified")
            with self._lock:
                self._check(token)
                self._is_checked = True

    def _check(self, token: int) -> None:
        if token != self._token:
            raise OffsetConflict("Another connection has taken this upload over.")

    def _open(self) -> None:
        is_new = not self._path.exists()
        if is_new and self._durable:
            raise UploadExpired("What had arrived of this upload is not in the data folder any more.")
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if self._known is not None:
            self._lock_file(self._file, self._known)
        if is_new:
            sync(self._path.parent)
            failpoint("uploads.file.created")
        length = os.fstat(self._file).st_size
        if length < self._durable:
            raise UploadExpired("What had arrived of this upload is not in the data folder any more.")
        if length > self._durable:
            os.ftruncate(self._file, self._durable)
            failpoint("uploads.file.truncated")

    def _lock_file(self, file: int, known: Callable[[], int]) -> None:
        """Keep other processes from writing; what they wrote before must be known. Raises: ``OffsetConflict``."""
        try:
            for attempt in range(_ATTEMPTS):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if attempt == _ATTEMPTS - 1:
                        raise OffsetConflict("Another connection still sends to this upload.") from None
                    time.sleep(_PAUSE_S)
            if known() != self._durable:
                raise OffsetConflict("Another connection has taken this upload over.")
        except BaseException:
            self._file = None
            os.close(file)
            raise

    def _write(self, at: int, piece: bytes) -> None:
        assert self._file is not None
        try:
            if at == self._durable:
                self._quota.check_disk(len(piece))
            with disk_errors():
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.pwrite(self._file, rest, at + len(piece) - len(rest)) :]
        except Exception:
            self._drop(closing=False)
            raise
        self._hashes.update(at, piece)
        self._written = at + len(piece)
        failpoint("uploads.part.written")

    def _make_durable(self) -> None:
        """Make what is written durable, then say so; what cannot be made durable has never arrived."""
        if self._written == self._durable or self._file is None:
            return
        try:
            with disk_errors():
                os.fdatasync(self._file)
            failpoint("uploads.part.synced")
            is_known = self._commit(self._durable, self._written)
        except Exception:
            self._drop(closing=False)
            raise
        if not is_known:
            self._drop()
            raise NotFound("There is no such upload any more.")
        self._durable = self._written
        self._durable_hashes = self._hashes.copy()
        failpoint("uploads.offset.committed")

    def _drop(self, *, closing: bool = True) -> None:
        """Go back to what is durable."""
        if self._file is not None and self._written > self._durable:
            with suppress(OSError):
                os.ftruncate(self._file, self._durable)
        if self._written != self._durable:
            self._written = self._durable
            self._hashes = self._durable_hashes.copy()
        if closing and self._file is not None:
            os.close(self._file)
            self._file = None

    def _end(self, token: int, *, keep: bool) -> None:
        with self._lock:
            if token != self._token:
                return
            try:
                if keep:
                    self._make_durable()
            finally:
                self._drop()
