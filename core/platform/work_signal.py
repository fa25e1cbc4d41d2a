"""A signal between those who queue work and those who wait for it."""

from __future__ import annotations

import threading


class WorkSignal:
    """Counts notifications, so that none is missed between looking for work and waiting for more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """How often it was notified; read it before looking for work, then ``wait`` with it."""
        with self._changed:
            return self._count

    def notify(self) -> None:
        """Wake whoever waits."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait(self, seen: int) -> None:
        """Return once there were more notifications than ``seen``."""
        with self._changed:
            self._changed.wait_for(lambda: self._count != seen)
