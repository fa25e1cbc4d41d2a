"""Precedence: while somebody asks, threads that take documents in wait between two of their small steps.

One thread at a time runs Python, so a question waits for whoever is at work. The state is that of the process, as the
interpreter's lock is. What goes on for long gives no precedence: documents get their part of the time even while
questions never end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WAIT_S = 0.3
"""How long questions, one or many, go before documents; then these have their turn."""
TURN_S = 0.1
SWITCH_S = 0.001
"""How long a thread keeps the interpreter that others wait for; a question asks for it some twenty times."""

_changed = threading.Condition()
_asking = 0
_closed_at = 0.0
_open_until = 0.0


def share_interpreter() -> None:
    """Have the threads of this process take turns more often than Python does by itself."""
    sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))


@contextmanager
def asked() -> Iterator[None]:
    """Go before those who give way."""
    global _asking, _closed_at
    with _changed:
        if not _asking:
            _closed_at = time.monotonic()
        _asking += 1
    try:
        yield
    finally:
        with _changed:
            _asking -= 1
            if not _asking:
                _changed.notify_all()


def give_way() -> None:
    """Wait while somebody asks, at most ``LONGEST_WAIT_S``; costs next to nothing while nobody does."""
    global _open_until
    if not _asking:
        return
    with _changed:
        while _asking:
            now = time.monotonic()
            if now < _open_until:
                return
            left = max(_closed_at, _open_until) + LONGEST_WAIT_S - now
            if left <= 0:
                _open_until = now + TURN_S
                return
            _changed.wait(left)
