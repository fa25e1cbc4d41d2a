"""The recency multiplier: what changed lately counts for more, and age halves a score at most."""

from __future__ import annotations

from datetime import datetime

LEAST = 0.5
DAYS = 60.0


def recency(updated_at: datetime | None, asked_at: datetime) -> float:
    """Return ``max(0.5, 1 − days / 60)`` since the last change; 1 where that is not known or lies ahead."""
    if updated_at is None:
        return 1.0
    days = max(0.0, (asked_at - updated_at).total_seconds() / 86_400)
    return max(LEAST, 1.0 - days / DAYS)
