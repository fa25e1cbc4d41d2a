"""A circuit breaker: after a failure, calls to a store fail at once for a while, then one call at a time tries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from core.errors import StoreUnavailable


class State(StrEnum):
    CLOSED = "closed"
    """Calls go through."""
    OPEN = "open"
    """Calls fail at once."""
    HALF_OPEN = "half-open"
    """The next call tries."""


class Circuit:
    """Guards calls to what ``name`` says; once one has failed, one every ``pause_s`` seconds goes through.

    A trying call holds nobody up for longer than the pause, however long it takes. Only a call that began after the
    last failure closes the circuit.
    """

    def __init__(self, name: str, pause_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._pause_s = pause_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failure: StoreUnavailable | None = None
        self._failed_at = 0.0
        self._next_try = 0.0

    @property
    def state(self) -> State:
        with self._lock:
            if self._failure is None:
                return State.CLOSED
            return State.OPEN if self._clock() < self._next_try else State.HALF_OPEN

    @contextmanager
    def call(self) -> Iterator[None]:
        """Let a call through, and learn how it ends. Raises: ``StoreUnavailable`` where the store is left alone."""
        began = self._begin()
        try:
            yield
        except StoreUnavailable as error:
            self._fail(error)
            raise
        self._succeed(began)

    def refuse_while_open(self) -> None:
        """Raises: ``StoreUnavailable`` where the store is left alone."""
        with self._lock:
            self._refuse(self._clock())

    def _refuse(self, now: float) -> None:
        if self._failure is not None and now < self._next_try:
            raise StoreUnavailable(
                f"{self._name} failed and is left alone for a moment: {self._failure.message}",
                remedy=self._failure.remedy,
            )

    def _begin(self) -> float:
        with self._lock:
            now = self._clock()
            self._refuse(now)
            if self._failure is not None:
                self._next_try = now + self._pause_s
            return now

    def _fail(self, error: StoreUnavailable) -> None:
        with self._lock:
            self._failure = error
            self._failed_at = self._clock()
            self._next_try = self._failed_at + self._pause_s

    def _succeed(self, began: float) -> None:
        with self._lock:
            if began >= self._failed_at:
                self._failure = None
