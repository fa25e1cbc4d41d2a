"""A pool of child processes of one module: an idle one carries out the next order, a new one where none is idle."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.platform.child_process import Child, Told
from core.platform.confinement import Rooms


class Order:
    """An order that a child of a pool is carrying out, until its reply is there or ``end`` is called."""

    def __init__(self, pool: ChildPool, child: Child) -> None:
        self._pool = pool
        self._child = child
        self._is_low = False
        self.is_open = True

    def reply(self, told: Told | None = None, wait_s: float = math.inf) -> Mapping[str, Any] | None:
        """Return the reply, None where there is none yet after ``wait_s``. Raises: ``ChildLost``.

        A child that is lost is killed with all that it started, and so is one whose reply says that it is ``spent``.
        """
        is_over, is_spent = True, True
        try:
            reply = self._child.reply(told, wait_s)
            is_over = reply is not None
            is_spent = self._is_low or bool(reply and reply.get("spent"))
            return reply
        finally:
            if is_over:
                self._close(is_spent)

    @property
    def used_s(self) -> float:
        """Return the processor time that the order has taken."""
        return self._child.used_s

    def lower(self, niceness: int) -> None:
        """Let other processes go first; a wait for them is not counted for the order."""
        self._is_low = True
        self._child.lower(niceness)

    def end(self) -> None:
        """Kill the child and what it has started, where it has not replied."""
        if self.is_open:
            self._close(is_spent=True)

    def _close(self, is_spent: bool) -> None:
        self.is_open = False
        self._pool.give_back(self._child, is_spent)


class ChildPool:
    """Keeps at most ``max_idle`` children ready, for starting one takes a while; one ends after ``max_orders`` orders.

    As many are at work as threads ask at the same time.
    """

    def __init__(
        self,
        module: str,
        scratch: Path | None = None,
        *,
        max_idle: int | None = None,
        max_orders: int | None = None,
        rooms: Rooms | None = None,
    ) -> None:
        self._module = module
        self._scratch = scratch
        self._rooms = rooms
        self._max_idle = max_idle
        self._max_orders = max_orders
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self.is_closed = False

    @property
    def at_work(self) -> int:
        return len(self._busy)

    def ask(self, order: Mapping[str, Any], timeout_s: float, told: Told | None = None) -> Mapping[str, Any]:
        """Have one order carried out. Raises: ``ChildLost``."""
        reply = self.begin(order, timeout_s).reply(told)
        assert reply is not None
        return reply

    def begin(self, order: Mapping[str, Any], timeout_s: float) -> Order:
        """Have a child begin with an order. Raises: ``ChildLost``."""
        child = self._take()
        try:
            child.begin(order, timeout_s)
        except BaseException:
            self.give_back(child, is_spent=True)
            raise
        return Order(self, child)

    def close(self) -> None:
        """End all children; an order that is being carried out is lost to its asker."""
        with self._lock:
            self.is_closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.interrupt()
        for child in idle:
            child.kill()

    def rest(self) -> None:
        """End the children that are idle, with what they hold in memory; the next order starts one anew."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.kill()

    def _take(self) -> Child:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.alive():
                    self._busy.add(child)
                    return child
                child.kill()
        child = Child(self._module, self._scratch, self._rooms)
        with self._lock:
            self._busy.add(child)
            if self.is_closed:
                child.interrupt()
        return child

    def give_back(self, child: Child, is_spent: bool) -> None:
        """Keep a child for the next order, or end it."""
        with self._lock:
            self._busy.discard(child)
            has_room = self._max_idle is None or len(self._idle) < self._max_idle
            is_fresh = self._max_orders is None or child.orders < self._max_orders
            is_kept = has_room and is_fresh and not is_spent and not self.is_closed
            if is_kept:
                self._idle.append(child)
        if not is_kept:
            child.kill()
