"""How many rows the stores have, for whoever asks again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Protocol
from weakref import WeakKeyDictionary

from core.errors import StoreUnavailable
from core.model import Part

_DEAR_S = 0.1
"""What a count takes that is not made anew for each who asks."""
_KEPT_S = 5.0
_WAIT_S = 2.0


class Countable(Protocol):
    def count(self) -> Mapping[Part, int]: ...


class RowCounts:
    """Counts in threads of its own: nobody waits longer than ``wait_s`` seconds, and a store is counted once at a time.

    A number that took long to get is told for some seconds, and while the store is counted again.
    """

    def __init__(self, wait_s: float = _WAIT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._wait_s = wait_s
        self._clock = clock
        self._lock = threading.Lock()
        self._stores: WeakKeyDictionary[Countable, _Counted] = WeakKeyDictionary()

    def of(self, store: Countable) -> int:
        """Return how many rows a store has. Raises: ``StoreUnavailable``, what counting raises."""
        with self._lock:
            counted = self._stores.setdefault(store, _Counted())
            if counted.rows is not None and self._clock() < counted.kept_until:
                return counted.rows
            counting = counted.counting
            if counting is None:
                counting = counted.counting = Future()
                threading.Thread(target=self._count, args=(store, counted, counting), daemon=True).start()
            before = counted.rows
        try:
            return counting.result(self._wait_s)
        except FutureTimeout:
            if before is None:
                raise StoreUnavailable("The store did not say in time how many rows it has.") from None
            return before

    def _count(self, store: Countable, counted: _Counted, counting: Future[int]) -> None:
        began = self._clock()
        rows: int | None = None
        failed: BaseException | None = None
        try:
            rows = sum(store.count().values())
        except BaseException as error:
            failed = error
        with self._lock:
            now = self._clock()
            counted.rows, counted.counting = rows, None
            counted.kept_until = now + _KEPT_S if now - began > _DEAR_S else now
        if rows is None:
            counting.set_exception(failed)
        else:
            counting.set_result(rows)


class _Counted:
    """What is known of one store; ``rows`` is None where the last count failed."""

    def __init__(self) -> None:
        self.rows: int | None = None
        self.kept_until = 0.0
        self.counting: Future[int] | None = None
