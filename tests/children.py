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

from core.ingest import sandbox
from core.platform.child_process import Child
from core.versions import process


@contextmanager
def handed_on() -> Iterator[None]:
    """Let closed knowledge bases leave their idle processes to those that are opened later."""
    left: dict[tuple[object, ...], list[Child]] = defaultdict(list)
    with pytest.MonkeyPatch.context() as patch:
        for module, owner in ((sandbox, sandbox.ParserSandbox), (process, process.CompareChildren)):
            # Their temporary folder must outlive the first knowledge base.
            patch.setattr(module, "Child", lambda name, _scratch: Child(name))
            _share(patch, owner, left)
        yield
    for child in (child for idle in left.values() for child in idle):
        child.kill()


def _share(patch: pytest.MonkeyPatch, owner: Any, left: dict[tuple[object, ...], list[Child]]) -> None:
    take, close = owner._taken, owner.close

    def key(one: Any) -> tuple[object, ...]:
        """Say with what a process was started, and with which limits, since it cannot widen them."""
        memory = getattr(one, "_memory_bytes", None) or one._limits.memory_bytes
        return owner, memory, os.environ.get("PATH")

    def taken(one: Any) -> Child:
        with one._lock:
            if one._scratch is not None and not one._idle and left[key(one)]:
                one._idle.append(left[key(one)].pop())
        child: Child = take(one)
        return child

    def closed(one: Any) -> None:
        if one._scratch is not None:
            with one._lock:
                left[key(one)] += one._idle
                one._idle = []
        close(one)

    patch.setattr(owner, "_taken", taken)
    patch.setattr(owner, "close", closed)
