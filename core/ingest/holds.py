"""Holds: a blob that is being written, and that no row of the catalogue names yet, is not removed by a purge."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Holds:
    """Blobs in the hands of uploads and jobs of this process, by their SHA-256."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, sha256: str) -> None:
        with self._lock:
            self._held[sha256] += 1

    def release(self, sha256: str) -> None:
        with self._lock:
            self._held[sha256] -= 1
            if self._held[sha256] <= 0:
                del self._held[sha256]

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
            remove()
            return True
