"""Dates as PDFs write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone


def pdf_date(text: str | None) -> datetime | None:
    """Return the moment of a date such as ``D:20230204115901+09'00'``, or ``None`` where it is none."""
    digits = (text or "").removeprefix("D:")
    try:
        moment = datetime.strptime(digits[:14], "%Y%m%d%H%M%S")
        zone = digits[14:].replace("'", "")
        if zone[:1] in ("+", "-") and len(zone) >= 3:
            offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5] or 0))
            return moment.replace(tzinfo=timezone(offset if zone[0] == "+" else -offset))
        return moment.replace(tzinfo=UTC)
    except ValueError:
        return None
