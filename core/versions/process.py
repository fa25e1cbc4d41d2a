"""The child processes that compare: each order is carried out by one, with bounded time and memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import Cancelled
from core.platform.child_pool import ChildPool
from core.platform.child_process import ChildLost

log = logging.getLogger(__name__)

_AT_ONCE = 2
"""Children at work at the same time; each may take all the memory that one comparison is allowed."""


class ComparisonProcess:
    """Runs orders of ``core.versions.worker``; one child stays ready, for starting it takes a while."""

    def __init__(self, memory_bytes: int, scratch: Path | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._children = ChildPool("core.versions.worker", scratch, max_idle=1)

    def ask(self, order: Mapping[str, Any], seconds: float) -> str | None:
        """Have an order carried out; return why it could not be: ``time``, ``processor``, ``memory`` or ``crash``.

        Raises: ``Cancelled`` when closed meanwhile.
        """
        with self._places:
            try:
                reply = self._children.ask({**order, "seconds": seconds, "memory_bytes": self._memory_bytes}, seconds)
            except ChildLost as gone:
                if self._children.is_closed:
                    raise Cancelled("The knowledge base was closed meanwhile.") from gone
                return gone.reason
        if "type" in reply:
            log.warning("the process that compares met a %s", reply["type"])
        lost: str | None = reply.get("lost")
        return lost

    @property
    def at_work(self) -> int:
        return self._children.at_work

    def close(self) -> None:
        """End all children; whoever waits for one is told."""
        self._children.close()
