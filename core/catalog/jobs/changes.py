"""Changes of the job ledger, told to whoever waits for one: at once in this process, soon after in another one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from sqlalchemy import Connection, func, select

from core.catalog.beside import CHANGES, holds
from core.catalog.schema import jobs

_NOTED = "evorag_job_change"
_POLL_S = 0.5
_MOST_OWN = 1_000


def next_change(tx: Connection) -> int:
    """Return the number of the change that this write transaction makes; it is told once it is committed."""
    change = tx.info.get(_NOTED)
    if change is None:
        assert holds(tx, CHANGES)
        change = tx.info[_NOTED] = newest_change(tx) + 1
    return int(change)


def newest_change(tx: Connection) -> int:
    return int(tx.scalar(select(func.coalesce(func.max(jobs.c.change), 0))) or 0)


def noted(tx: Connection) -> int:
    """Take the number of the change that a transaction has made, 0 where it made none."""
    return int(tx.info.pop(_NOTED, 0))


class Changes:
    """The newest change that is known, and a way to wait for a newer one."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self._newest = 0
        self._looked = float("-inf")
        self._told = threading.Condition()
        self._own: deque[int] = deque(maxlen=_MOST_OWN)

    def committed(self, change: int) -> None:
        """Tell of a change that this process has made."""
        with self._told:
            self._own.append(change)
            self._told.notify_all()
        self.tell(change)

    def take_own(self, timeout_s: float) -> set[int]:
        """Return what this process has changed since the last call, once there is something or the time is over.

        The oldest of a great many changes are left out.
        """
        with self._told:
            self._told.wait_for(lambda: self._own, timeout_s)
            own = set(self._own)
            self._own.clear()
        return own

    def tell(self, change: int) -> None:
        with self._told:
            if change > self._newest:
                self._newest = change
                self._told.notify_all()

    def wait(self, seen: int, timeout_s: float) -> int:
        """Return the newest change once it is beyond ``seen``, or when the time is over."""
        deadline = time.monotonic() + timeout_s
        while True:
            newest = self._look()
            left = deadline - time.monotonic()
            if newest > seen or left <= 0:
                return newest
            with self._told:
                if self._newest <= seen:
                    self._told.wait(min(left, _POLL_S))

    def _look(self) -> int:
        """Return the newest change; what other processes write is looked for now and then, by one waiter for all."""
        with self._told:
            is_due = time.monotonic() - self._looked >= _POLL_S
            if is_due:
                self._looked = time.monotonic()
        if is_due:
            self.tell(self._read())
        with self._told:
            return self._newest
