"""Time zones by their IANA names, which browsers tell."""

from __future__ import annotations

from datetime import tzinfo
from zoneinfo import ZoneInfo


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone of a name such as ``Asia/Tokyo``; None for an empty and for an unknown name."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, KeyError, OSError):
        return None
