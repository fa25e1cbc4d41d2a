"""``evorag worker``: a process without pages that works on the jobs of all, until a signal ends it."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from core.bootstrap import build_worker
from core.errors import StoreUnavailable
from core.settings import Settings

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 15.0
Opened = TypeVar("Opened")


def work(settings: Settings) -> None:
    """Work on jobs; what is in hand at the end is queued again for another process.

    Servers that do not answer at the start are waited for. Raises: ``InvalidInput`` where no Redis carries hints, and
    what opening the knowledge base raises.
    """
    stopping = threading.Event()

    def leave(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    _on_end(leave)
    opened = await_servers(lambda: build_worker(settings), stopping)
    if opened is None:
        return
    kb, hints = opened

    def end(_signal: int, _frame: FrameType | None) -> None:
        hints.stop()

    _on_end(end)
    if stopping.is_set():
        hints.stop()
    log.info("a worker has begun")
    with kb:
        hints.run()


def await_servers(open_all: Callable[[], Opened], stopping: threading.Event) -> Opened | None:
    """Return what ``open_all`` opens, once the servers that it needs answer; None where ``stopping`` is set before."""
    pause_s = _FIRST_PAUSE_S
    while not stopping.is_set():
        try:
            return open_all()
        except StoreUnavailable:
            log.warning("a server does not answer and is asked again")
            stopping.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return None


def _on_end(act: Callable[[int, FrameType | None], None]) -> None:
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, act)
