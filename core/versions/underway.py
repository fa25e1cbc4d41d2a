"""Comparisons that are being computed: how far each is, how long it still takes, and somebody's wish to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import Cancelled
from core.model import ComparisonProgress

_LEAST_SHARE = 0.05
_LEAST_S = 1.0
"""Before so much is done, and so long has passed, nobody can tell what is left."""


class Run:
    """One computation; it may take several attempts, each of which begins at nothing."""

    def __init__(self) -> None:
        self._began = self._attempt_began = self._told_at = time.monotonic()
        self._share = 0.0
        self._is_cancelled = threading.Event()

    def begin_attempt(self) -> None:
        self._attempt_began = self._told_at = time.monotonic()
        self._share = 0.0

    def told(self, done: int, total: int) -> None:
        """Take note of how far the attempt is. Raises: ``Cancelled``."""
        self._share, self._told_at = done / max(total, 1), time.monotonic()
        self.check()

    def check(self) -> None:
        """Raises: ``Cancelled`` where somebody wished to stop it."""
        if self._is_cancelled.is_set():
            raise Cancelled("The comparison was stopped.", remedy="Open it again to have it computed.")

    def cancel(self) -> None:
        self._is_cancelled.set()

    def progress(self) -> ComparisonProgress:
        now = time.monotonic()
        share, spent = self._share, self._told_at - self._attempt_began
        left = None
        if share >= _LEAST_SHARE and spent >= _LEAST_S:
            left = max(spent * (1 - share) / share - (now - self._told_at), 0.0)
        return ComparisonProgress(now - self._began, share, left)


class Underway:
    """The computations of this process by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}

    @contextmanager
    def run(self, name: str) -> Iterator[Run]:
        """Be known under this name within a context."""
        found = Run()
        with self._lock:
            self._runs[name] = found
        try:
            yield found
        finally:
            with self._lock:
                if self._runs.get(name) is found:
                    del self._runs[name]

    def progress(self, name: str) -> ComparisonProgress | None:
        with self._lock:
            found = self._runs.get(name)
        return None if found is None else found.progress()

    def cancel(self, *names: str) -> bool:
        """Stop these within a second, and return whether any of them was being computed."""
        with self._lock:
            found = [self._runs[name] for name in names if name in self._runs]
        for run in found:
            run.cancel()
        return bool(found)
