"""Turns: what waits gets its turn fairly between users, then by priority, then one after another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Turns(Generic[T]):
    """A line of waiting things for each user and priority; whoever had its turn stands at the end if put back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: deque[str] = deque()
        self._lines: dict[str, dict[int, deque[T]]] = {}

    def put(self, user: str, priority: int, waiting: T) -> None:
        with self._lock:
            if user not in self._lines:
                self._lines[user] = {}
                self._users.append(user)
            self._lines[user].setdefault(priority, deque()).append(waiting)

    def next(self) -> T | None:
        """Take what has its turn out of its line; its user is the last to have another one."""
        with self._lock:
            if not self._users:
                return None
            user = self._users.popleft()
            lines = self._lines[user]
            highest = max(lines)
            waiting = lines[highest].popleft()
            if not lines[highest]:
                del lines[highest]
            if lines:
                self._users.append(user)
            else:
                del self._lines[user]
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
            return not self._users

    def _tidy(self, user: str, priority: int) -> None:
        lines = self._lines[user]
        if not lines[priority]:
            del lines[priority]
        if not lines:
            del self._lines[user]
            self._users.remove(user)
