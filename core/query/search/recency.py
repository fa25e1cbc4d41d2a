"""The recency multiplier: what was written lately counts for more, and age halves a score at most."""

from __future__ import annotations

from datetime import datetime

LEAST = 0.5
DAYS = 60.0


def recency(dated: datetime | None, asked_at: datetime) -> float:
    """Return ``max(0.5, 1 − days / 60)`` since a document's date; 1 where that is not known or lies ahead."""
    if dated is None:
        return 1.0
    days = max(0.0, (asked_at - dated).total_seconds() / 86_400)
    return max(LEAST, 1.0 - days / DAYS)
