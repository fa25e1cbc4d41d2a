"""Waiting until an opened knowledge base can answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.api import KnowledgeBaseApi
    from core.model import Health

_LIMIT_S = 60.0
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


def wait_until_ready(kb: KnowledgeBaseApi) -> None:
    """Return when stores and models can answer, or after a minute: the search then says itself what it lacks."""
    deadline, pause = time.monotonic() + _LIMIT_S, _FIRST_PAUSE_S
    while time.monotonic() < deadline:
        health = kb.health()
        if health.models_ready and not lacks_rows(health):
            return
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def lacks_rows(health: Health) -> bool:
    """Tell whether a store is not open, has yet to be told something, or has not been looked at and may be empty."""
    return any(store.state in ("loading", "waiting") for store in health.stores)
