"""Named points of uploading and indexing, at which tests kill the process to see that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

_act: Callable[[str], None] | None = None


def failpoint(name: str) -> None:
    """Say that the point ``name`` was reached; nobody listens outside tests."""
    if _act is not None:
        _act(name)


def on_failpoint(act: Callable[[str], None] | None) -> None:
    """Have ``act`` called with the name of every point that is reached from now on."""
    global _act
    _act = act
