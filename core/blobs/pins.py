"""Holds: a blob that is being written, and that no row of the catalogue names yet, is not removed by a purge."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACE_DIGITS = 15
"""How much of a hash names the byte that is locked for it: 60 of the 63 bits that an offset may have."""


class BlobPins:
    """Blobs in the hands of uploads and jobs, by their SHA-256.

    Those of this process alone; where several share a data folder, those of all: each blob has a byte in the file
    ``shared``, which is never read or written, only locked. Locks go with a process that is killed.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._file = None if shared is None else os.open(shared, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def take(self, sha256: str) -> None:
        with self._lock:
            self._held[sha256] += 1
            if self._held[sha256] == 1:
                self._set(sha256, fcntl.F_RDLCK, fcntl.F_OFD_SETLKW)

    def release(self, sha256: str) -> None:
        with self._lock:
            self._held[sha256] -= 1
            if self._held[sha256] <= 0:
                del self._held[sha256]
                self._set(sha256, fcntl.F_UNLCK, fcntl.F_OFD_SETLK)

    @contextmanager
    def held(self, sha256: str) -> Iterator[None]:
        self.take(sha256)
        try:
            yield
        finally:
            self.release(sha256)

    def unless_held(self, sha256: str, remove: Callable[[], None]) -> bool:
        """Call ``remove`` while nobody can take the blob; tell whether it was called."""
        with self._lock:
            if self._held[sha256] > 0:
                return False
            try:
                self._set(sha256, fcntl.F_WRLCK, fcntl.F_OFD_SETLK)
            except OSError:
                return False
            try:
                remove()
            finally:
                self._set(sha256, fcntl.F_UNLCK, fcntl.F_OFD_SETLK)
            return True

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _set(self, sha256: str, kind: int, how: int) -> None:
        """Lock or unlock the byte of a blob for this object alone, also against others of the same process."""
        if self._file is not None:
            place = int(sha256[:_PLACE_DIGITS], 16)
            fcntl.fcntl(self._file, how, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
