"""Waits for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(is_so: Callable[[], object], timeout_s: float = 120.0) -> None:
    """Wait until it is so. Raises: ``AssertionError`` after ``timeout_s`` seconds."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
