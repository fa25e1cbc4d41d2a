"""Threads that run what would hold up the loop, in the order in which it comes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_Task = Callable[[], None]


class Threads:
    """At most ``most`` threads, each begun when it is first needed; none of them keeps the process from ending."""

    def __init__(self, most: int, name: str) -> None:
        self.most = most
        self.pending = 0
        """Functions that have not returned, those that still wait for a thread included."""
        self._name = name
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._count = 0

    @property
    def is_full(self) -> bool:
        return self.pending >= self.most

    async def run(self, function: Callable[..., Result], *given: Any) -> Result:
        """Return what the function returns, called in one of the threads."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()

        def task() -> None:
            result: Any = None
            failure: BaseException | None = None
            try:
                result = function(*given)
            except BaseException as error:
                failure = error
            # The loop may have ended in the meantime.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._done, future, result, failure)

        self.pending += 1
        if self.pending > self._count and self._count < self.most:
            self._count += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._count}", daemon=True).start()
        self._tasks.put(task)
        return await future

    def close(self) -> None:
        """End the threads, each after what it is doing."""
        for _ in range(self._count):
            self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task

    def _done(self, future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
        self.pending -= 1
        if future.cancelled():
            return
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)
