"""The “as of” of a run, as somebody writes it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from app.i18n import reader_zone
from core.model import AsOf, parse_as_of, zone_named

DAY = re.compile(r"\d{4}-\d\d-\d\d")


def as_of_written(text: str) -> AsOf:
    """Return the “as of” that somebody wrote: days are those of the reader, and a day that has begun means its end.

    Raises: ``InvalidInput``.
    """
    written, zone, now = text.strip(), zone_named(reader_zone()), datetime.now(UTC)
    as_of = parse_as_of(written, zone)
    if not isinstance(as_of, datetime) or not DAY.fullmatch(written) or as_of > now:
        return as_of
    # A day may end at another offset than it began at: its end is a moment of its own.
    return min(datetime.combine(date.fromisoformat(written), time.max, zone).astimezone(UTC), now)
