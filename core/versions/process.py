"""The child processes that compare: each order is carried out by one, with bounded time and memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import Cancelled
from core.platform.child_process import Child, ChildLost

log = logging.getLogger(__name__)

_AT_ONCE = 2
"""Children at work at the same time; each may take all the memory that one comparison is allowed."""


class CompareChildren:
    """Runs orders of ``core.versions.worker``; one child stays ready, for starting it takes a while."""

    def __init__(self, memory_bytes: int, scratch: Path | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._scratch = scratch
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._idle: list[Child] = []
        self._busy: list[Child] = []
        self._closed = False

    def ask(self, order: Mapping[str, Any], seconds: float) -> str | None:
        """Have an order carried out; return why it could not be: ``time``, ``processor``, ``memory`` or ``crash``.

        Raises: ``Cancelled`` when closed meanwhile.
        """
        with self._places:
            return self._carried_out(order, seconds)

    def _carried_out(self, order: Mapping[str, Any], seconds: float) -> str | None:
        child = self._taken()
        spent = True
        try:
            reply = child.ask({**order, "seconds": seconds, "memory_bytes": self._memory_bytes}, seconds)
            spent = bool(reply["spent"])
            if "type" in reply:
                log.warning("the process that compares met a %s", reply["type"])
            lost: str | None = reply.get("lost")
            return lost
        except ChildLost as gone:
            if self._closed:
                raise Cancelled("The knowledge base was closed meanwhile.") from gone
            return gone.reason
        finally:
            self._give_back(child, spent)

    @property
    def at_work(self) -> int:
        return len(self._busy)

    def close(self) -> None:
        """End all children; whoever waits for one is told."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.interrupt()
        for child in idle:
            child.kill()

    def _taken(self) -> Child:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is not None and not child.alive():
            child.kill()
            child = None
        child = child or Child("core.versions.worker", self._scratch)
        with self._lock:
            self._busy.append(child)
            if self._closed:
                child.interrupt()
        return child

    def _give_back(self, child: Child, spent: bool) -> None:
        with self._lock:
            self._busy.remove(child)
            is_kept = not spent and not self._idle and not self._closed
            if is_kept:
                self._idle.append(child)
        if not is_kept:
            child.kill()
