"""Turns: what waits gets its turn fairly between users, then by priority, then one after another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from core.catalog.jobs.job_scheduler import Rotation

T = TypeVar("T")


class FairQueue(Generic[T]):
    """A line of waiting things for each user and priority; what had its turn is the last of its line if put back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rotation = Rotation()
        self._lines: dict[str, dict[int, deque[T]]] = {}

    def put(self, user: str, priority: int, waiting: T) -> None:
        with self._lock:
            self._lines.setdefault(user, {}).setdefault(priority, deque()).append(waiting)

    def next(self) -> T | None:
        """Take what has its turn out of its line; its user is the last to have another one."""
        with self._lock:
            if not self._lines:
                return None
            user = self._rotation.next(self._lines)
            self._rotation.had_turn(user)
            lines = self._lines[user]
            highest = max(lines)
            waiting = lines[highest].popleft()
            self._tidy(user, highest)
            return waiting

    def remove(self, is_meant: Callable[[T], bool]) -> T | None:
        """Take the first thing that is meant out of its line."""
        with self._lock:
            for user, lines in self._lines.items():
                for priority, line in lines.items():
                    for waiting in line:
                        if is_meant(waiting):
                            line.remove(waiting)
                            self._tidy(user, priority)
                            return waiting
        return None

    def is_empty(self) -> bool:
        with self._lock:
            return not self._lines

    def _tidy(self, user: str, priority: int) -> None:
        lines = self._lines[user]
        if not lines[priority]:
            del lines[priority]
        if not lines:
            del self._lines[user]
