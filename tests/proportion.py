"""Shows that work grows no faster than its input, whatever else the machine does."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_ROUNDS = 5


def grows_in_proportion(work: Callable[[int], object], short: int, long: int, allowed: float = 4.0) -> bool:
    """Whether ``work(long)`` needs at most ``allowed`` times its share of what ``work(short)`` needs.

    Processor time of this thread is compared, without the garbage collector, which would walk through all that other
    tests have left. One round of five that keeps within is enough: what grows with the square never does.
    """
    work(short // 10)
    gc.collect()
    gc.disable()
    try:
        return any(_seconds(work, long) < long / short * allowed * _seconds(work, short) for _ in range(_ROUNDS))
    finally:
        gc.enable()


def _seconds(work: Callable[[int], object], size: int) -> float:
    before = time.thread_time()
    work(size)
    return time.thread_time() - before
