"""Accounts of questions that were kept or read lately: those of answers that are given again are wanted many times."""

from __future__ import annotations

from threading import Lock

from core.model import Trace


class LatelyRead:
    """Remembers accounts by their ids, each with the checksum of what is kept of it, ``most`` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, tuple[bytes, Trace]] = {}
        self._changing = Lock()

    def get(self, trace_id: str) -> tuple[bytes, Trace] | None:
        return self._known.get(trace_id)

    def add(self, trace: Trace, checksum: bytes) -> None:
        with self._changing:
            self._known.pop(trace.id, None)
            self._known[trace.id] = checksum, trace
            while len(self._known) > self._most:
                del self._known[next(iter(self._known))]

    def clear(self) -> None:
        with self._changing:
            self._known = {}
