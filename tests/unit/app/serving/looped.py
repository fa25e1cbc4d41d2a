"""Coroutines in a loop of their own: a browser test of the same process leaves one running in the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def looped(work: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
