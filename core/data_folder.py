"""The data folder: its layout, and the lock that lets only one process work on it."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import IO

from core.errors import DataFolderInUse


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
        # What a killed process had not finished receiving was never acknowledged.
        shutil.rmtree(self.incoming, ignore_errors=True)
        self.incoming.mkdir()

    @property
    def catalog_file(self) -> Path:
        return self.root / "catalog.db"

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
