"""The “as of” of a run, as somebody writes it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from app.i18n import reader_zone
from core.model import AsOf, parse_as_of, zone_named

DAY = re.compile(r"\d{4}-\d\d-\d\d")


def as_of_written(text: str) -> AsOf:
    """Return what somebody means by an “as of”: days are those where they are, and one means until its end.

    Raises: ``InvalidInput``.
    """
    as_of = parse_as_of(text, zone_named(reader_zone()))
    now = datetime.now(UTC)
    if not isinstance(as_of, datetime) or not DAY.fullmatch(text.strip()) or as_of > now:
        return as_of
    return min(as_of.replace(hour=23, minute=59, second=59, microsecond=999_999), now)
