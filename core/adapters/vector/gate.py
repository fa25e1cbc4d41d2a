"""Lets many readers in at once, or one writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """A lock for reading together and writing alone; a writer is not kept waiting by new readers."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._writers = threading.Lock()
        self._readers = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._closed)
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                self._condition.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._writers:
            with self._condition:
                self._closed = True
                self._condition.wait_for(lambda: self._readers == 0)
            try:
                yield
            finally:
                with self._condition:
                    self._closed = False
                    self._condition.notify_all()
