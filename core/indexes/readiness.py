"""Waiting until an opened knowledge base can answer."""

from __future__ import annotations

import time
from typing import Protocol

from core.model import Health

_LIMIT_S = 60.0
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


class HealthSource(Protocol):
    """What tells how it is, here or at a URL."""

    def health(self) -> Health: ...


def wait_until_ready(kb: HealthSource) -> None:
    """Return when stores and models can answer, or after a minute: the search then says itself what it lacks."""
    deadline, pause = time.monotonic() + _LIMIT_S, _FIRST_PAUSE_S
    while time.monotonic() < deadline:
        health = kb.health()
        if health.models_ready and not any(store.state in ("loading", "waiting") for store in health.stores):
            return
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
