"""Time zones by the names that the IANA gives them, as browsers tell them."""

from __future__ import annotations

from datetime import tzinfo
from zoneinfo import ZoneInfo


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone ``Asia/Tokyo`` names; None for no name and for one that this machine does not know."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, KeyError, OSError):
        return None
