"""Calls that are waited for only so long; those given up go on in threads that no end of the process waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, TypeVar

from core.errors import StoreUnavailable

T = TypeVar("T")

_AT_ONCE = 32


class TimedCalls:
    """Calls to what ``name`` says, each in a thread of its own, ``_AT_ONCE`` at the same time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._free = threading.Semaphore(_AT_ONCE)
        self._lock = threading.Lock()
        self._waited_for: set[Future[Any]] = set()
        self._is_closed = False

    def within(self, timeout_s: float, act: Callable[[], T]) -> T:
        """Return what ``act`` gives in time. Raises: ``StoreUnavailable``, what ``act`` raises."""
        until = time.monotonic() + timeout_s
        late = StoreUnavailable(f"{self._name} did not answer within {timeout_s:g} s.")
        if not self._free.acquire(timeout=timeout_s):
            raise late
        doing: Future[T] = Future()
        with self._lock:
            if self._is_closed:
                self._free.release()
                raise self._closed()
            self._waited_for.add(doing)
        threading.Thread(target=self._do, args=(act, doing), name="evorag-store", daemon=True).start()
        try:
            return doing.result(max(until - time.monotonic(), 0.0))
        except FutureTimeout:
            raise late from None
        except CancelledError:
            raise self._closed() from None
        finally:
            with self._lock:
                self._waited_for.discard(doing)

    def _do(self, act: Callable[[], T], doing: Future[T]) -> None:
        try:
            outcome = act()
        except BaseException as error:
            with suppress(InvalidStateError):
                doing.set_exception(error)
        else:
            with suppress(InvalidStateError):
                doing.set_result(outcome)
        finally:
            self._free.release()

    def _closed(self) -> StoreUnavailable:
        return StoreUnavailable(f"{self._name} is closed.")

    def close(self) -> None:
        """Take no more calls; whoever waits for one stops waiting."""
        with self._lock:
            self._is_closed = True
            for doing in self._waited_for:
                doing.cancel()
