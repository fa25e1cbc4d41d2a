"""``evorag worker``: a process without pages that works on the jobs of all, until a signal ends it."""

from __future__ import annotations

import logging
import signal
from types import FrameType

from core.bootstrap import build_worker
from core.settings import Settings

log = logging.getLogger(__name__)


def work(settings: Settings) -> None:
    """Work on jobs; what is in hand at the end is queued again for another process.

    Raises: ``InvalidInput`` where no Redis carries hints, and what opening the knowledge base raises.
    """
    kb, hints = build_worker(settings)

    def end(_signal: int, _frame: FrameType | None) -> None:
        hints.stop()

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, end)
    log.info("a worker has begun")
    with kb:
        hints.run()
