"""The data folder: its layout, and the lock that lets only one process work on it."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path
from typing import IO

from core.errors import DataFolderInUse

_ATTEMPTS = 20
_PAUSE_S = 0.1


class DataFolder:
    """A locked data folder with its sub-folders. Raises: ``DataFolderInUse`` naming the process that holds it."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.root.mkdir(parents=True, exist_ok=True)
        self.blobs = self.root / "blobs"
        self.incoming = self.root / "incoming"
        self.keywords = self.root / "keywords"
        self.vectors = self.root / "vectors"
        self.comparisons = self.root / "comparisons"
        self._lock = self._take_lock()
        self._empty_incoming()

    @property
    def catalog_file(self) -> Path:
        return self.root / "catalog.db"

    def _empty_incoming(self) -> None:
        """Remove what a killed process had not finished receiving, reading or comparing; none of it was acknowledged.

        Its children end within a second of it, and may write until then.
        """
        for _ in range(_ATTEMPTS):
            shutil.rmtree(self.incoming, ignore_errors=True)
            if not self.incoming.exists():
                break
            time.sleep(_PAUSE_S)
        self.incoming.mkdir(exist_ok=True)

    def _take_lock(self) -> IO[str]:
        lock = (self.root / "lock").open("a+", encoding="ascii")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise DataFolderInUse(
                f"The data folder “{self.root}” is in use by the process {holder}.",
                remedy=f"Stop the process {holder}, or choose another folder with EVORAG_DATA_DIR.",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        return lock

    def close(self) -> None:
        self._lock.close()
