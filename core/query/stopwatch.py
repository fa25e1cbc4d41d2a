"""How long the steps of a question take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Times of named steps, in milliseconds; a step that is taken again adds to its time."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self._started = time.perf_counter()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent_ms = (time.perf_counter() - started) * 1000
            self.timings_ms[name] = self.timings_ms.get(name, 0.0) + spent_ms

    def total(self) -> dict[str, float]:
        whole = (time.perf_counter() - self._started) * 1000
        return {name: round(value, 3) for name, value in {**self.timings_ms, "total": whole}.items()}
