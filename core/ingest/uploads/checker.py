"""Threads that take arrived uploads to their end, try again what could not be done, and remove what has expired."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.errors import Cancelled
from core.ingest.uploads.checksums import RunningHashes
from core.ingest.uploads.finalize import Finalizer

log = logging.getLogger(__name__)

_AGAIN_S = 15.0
_SWEEP_S = 60.0


@dataclass(slots=True)
class _Check:
    hashes: RunningHashes | None
    due: float
    checked_bytes: int = 0
    is_running: bool = False
    also: list[Callable[[], None]] = field(default_factory=list)


class UploadFinisher:
    """Uploads that wait to be filed; without threads each is filed by whoever brings it."""

    def __init__(self, finalizer: Finalizer, sweep: Callable[[], None], threads: int) -> None:
        self._finalizer = finalizer
        self._sweep = sweep
        self._changed = threading.Condition()
        self._checks: dict[str, _Check] = {}
        self._is_closing = False
        self._swept = time.monotonic()
        self._threads = [
            threading.Thread(target=self._run, name=f"evorag-uploads-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def add(
        self, transfer_id: str, hashes: RunningHashes | None = None, after: Callable[[], None] | None = None
    ) -> None:
        """Have an upload filed that has arrived whole; ``after`` is called once it is."""
        with self._changed:
            check = self._checks.setdefault(transfer_id, _Check(hashes, time.monotonic()))
            if after is not None:
                check.also.append(after)
            is_taken = check.is_running
            check.is_running = check.is_running or not self._threads
            self._changed.notify_all()
        if not self._threads and not is_taken:
            self._finish(transfer_id, check)

    def has(self, transfer_id: str) -> bool:
        """Tell whether an upload waits to be filed here."""
        with self._changed:
            return transfer_id in self._checks

    def checked_bytes(self, transfer_id: str) -> int:
        """Return how much of an upload has been read again."""
        check = self._checks.get(transfer_id)
        return check.checked_bytes if check else 0

    def wait(self, transfer_id: str, timeout_s: float) -> None:
        """Return once the upload is filed or refused, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing or transfer_id not in self._checks, timeout_s)

    def close(self) -> None:
        """Leave what is not filed yet to the next start."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=30)

    def _run(self) -> None:
        while (found := self._next()) is not None:
            transfer_id, check = found
            if check is not None:
                self._finish(transfer_id, check)
                continue
            try:
                self._sweep()
            except Exception:
                log.exception("expired uploads could not be removed and are at the next sweep")

    def _next(self) -> tuple[str, _Check | None] | None:
        """Return an upload to be filed, nothing where it is time to sweep, and None at the end."""
        with self._changed:
            while not self._is_closing:
                now = time.monotonic()
                waiting = [(check.due, each) for each, check in self._checks.items() if not check.is_running]
                if waiting and min(waiting)[0] <= now:
                    found = min(waiting)[1]
                    self._checks[found].is_running = True
                    return found, self._checks[found]
                if now - self._swept >= _SWEEP_S:
                    self._swept = now
                    return "", None
                until = min([self._swept + _SWEEP_S, *(due for due, _ in waiting)])
                self._changed.wait(max(until - now, 0.01))
        return None

    def _finish(self, transfer_id: str, check: _Check) -> None:
        def tell(done: int) -> bool:
            check.checked_bytes = done
            return not self._is_closing

        try:
            is_over = self._finalizer.finish(transfer_id, check.hashes, tell)
        except Cancelled:
            is_over = False
        except Exception:
            log.exception("an upload could not be filed and is tried again")
            is_over = False
        if is_over:
            for act in check.also:
                act()
        with self._changed:
            if is_over or not self._threads:
                self._checks.pop(transfer_id, None)
            else:
                check.is_running, check.due = False, time.monotonic() + _AGAIN_S
            self._changed.notify_all()
