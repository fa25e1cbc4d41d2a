"""The memory of the process: threads share their heaps, so that none keeps what it needed once for something large."""

from __future__ import annotations

import contextlib
import ctypes

_ARENA_MAX = -8
_HEAPS = 2


def share_heaps() -> None:
    """Have all threads take memory from few heaps, where the C library is glibc.

    Without it every thread has a heap of its own, which keeps what the thread once needed: hundreds of megabytes
    after the indexing of a large text.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _HEAPS)
