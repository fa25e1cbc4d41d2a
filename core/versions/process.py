"""The child processes that compare: each order is carried out by one, with bounded time and memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import Cancelled
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost
from core.versions.underway import Run

log = logging.getLogger(__name__)

_LOOK_S = 0.3
"""How often is looked whether somebody wishes to stop it."""
_AT_ONCE = 2
"""Children at work at the same time; each may take all the memory that one comparison is allowed."""


class ComparisonProcess:
    """Runs orders of ``core.versions.worker``; one child stays ready, for starting it takes a while."""

    def __init__(self, memory_bytes: int, scratch: Path | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._children = ChildPool("core.versions.worker", scratch, max_idle=1)

    def ask(self, order: Mapping[str, Any], seconds: float, run: Run) -> str | None:
        """Have an order carried out; return why it could not be: ``time``, ``processor``, ``memory`` or ``crash``.

        ``run`` is told how far it is. Raises: ``Cancelled`` when closed meanwhile, or where the run was stopped.
        """
        with self._place(run):
            try:
                reply = self._reply({**order, "seconds": seconds, "memory_bytes": self._memory_bytes}, seconds, run)
            except ChildLost as gone:
                if self._children.is_closed:
                    raise Cancelled("The knowledge base was closed meanwhile.") from gone
                return gone.reason
        if "type" in reply:
            log.warning("the process that compares met a %s", reply["type"])
        lost: str | None = reply.get("lost")
        return lost

    def _reply(self, order: Mapping[str, Any], seconds: float, run: Run) -> Mapping[str, Any]:
        given = self._children.begin(order, seconds)
        run.begin_attempt()
        try:
            while (reply := given.reply(run.told, _LOOK_S)) is None:
                run.check()
            return reply
        finally:
            given.end()

    @contextmanager
    def _place(self, run: Run) -> Iterator[None]:
        """Wait for a place among those at work, and hold it within a context."""
        while not self._places.acquire(timeout=_LOOK_S):
            run.check()
        try:
            yield
        finally:
            self._places.release()

    @property
    def at_work(self) -> int:
        return self._children.at_work

    def close(self) -> None:
        """End all children; whoever waits for one is told."""
        self._children.close()
