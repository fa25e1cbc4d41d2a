"""Hands the processes that parse and compare on from one knowledge base of the tests to the next.

To start one takes as long as a short test. Only knowledge bases do so: what is made without a folder for temporary
files has processes of its own.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.ingest.sandbox import ParserSandbox
from core.platform.child_pool import ChildPool
from core.platform.child_process import Child
from core.versions.process import ComparisonProcess

Left = dict[tuple[object, ...], list[Child]]


@contextmanager
def handed_on() -> Iterator[None]:
    """Let closed knowledge bases leave their idle processes to those that are opened later."""
    left: Left = defaultdict(list)
    with pytest.MonkeyPatch.context() as patch:
        for owner in (ParserSandbox, ComparisonProcess):
            _share(patch, owner, left)
        yield
    for child in (child for idle in left.values() for child in idle):
        child.kill()


def _share(patch: pytest.MonkeyPatch, owner: Any, left: Left) -> None:
    make = owner.__init__

    def made(one: Any, *values: Any, **named: Any) -> None:
        make(one, *values, **named)
        if one._children._scratch is not None:
            # A process cannot widen the limits with which it was started.
            memory = getattr(one, "_memory_bytes", None) or one._limits.memory_bytes
            one._children = _Handing(one._children, left, (owner, memory, os.environ.get("PATH")))

    patch.setattr(owner, "__init__", made)


class _Handing(ChildPool):
    """A pool whose idle processes outlive it, and so have their temporary folders elsewhere."""

    def __init__(self, like: ChildPool, left: Left, key: tuple[object, ...]) -> None:
        super().__init__(like._module, None, max_idle=like._max_idle, max_orders=like._max_orders)
        self._left, self._key = left, key

    def _take(self) -> Child:
        with self._lock:
            if not self._idle and self._left[self._key]:
                self._idle.append(self._left[self._key].pop())
        return super()._take()

    def close(self) -> None:
        with self._lock:
            self._left[self._key] += self._idle
            self._idle = []
        super().close()
