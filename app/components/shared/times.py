"""Moments as people speak of them: relative with the exact time on hover, or exact in the reader's own zone."""

from __future__ import annotations

from datetime import UTC, datetime

from dash import html

from app.components.attributes import dataset
from app.i18n import day, language, moment, t

STEPS = ((60, 1, "seconds"), (3_600, 60, "minutes"), (86_400, 3_600, "hours"), (30 * 86_400, 86_400, "days"))


def relative(at: datetime, now: datetime | None = None, lang: str | None = None) -> str:
    """Return ``3 minutes ago``; ``just now`` under ten seconds and the date after thirty days."""
    age_s = max(0.0, ((now or datetime.now(UTC)) - at).total_seconds())
    if age_s < 10:
        return t("time.now", lang or language())
    for limit_s, unit_s, name in STEPS:
        if age_s < limit_s:
            return t(f"time.{name}", lang or language(), count=int(age_s // unit_s))
    return moment(at, lang)


def when(at: datetime, class_name: str = "") -> html.Time:
    """Return a moment that the browser keeps current and explains on hover."""
    return html.Time(relative(at), dateTime=at.isoformat(), title=moment(at), className=f"when {class_name}".rstrip())


def exactly(at: datetime, after: datetime | None = None) -> html.Time:
    """Return a date and time that the browser writes in the reader's own zone; also for moments to come.

    Where ``after`` stands before it in the same sentence, the day is said only if it is another one.
    """
    earlier = dataset(after=after.isoformat()) if after is not None else {}
    return html.Time(moment(at), dateTime=at.isoformat(), className="when-exact", **earlier)


def on_day(at: datetime) -> html.Time:
    """Return the day of a moment; the browser writes the one that it is where the reader is."""
    return html.Time(day(at), dateTime=at.isoformat(), className="when-exact", **dataset(told="day"))


def bound(at: datetime) -> html.Time:
    """Return the day on which a period begins or ends.

    The browser adds the time where the period begins or ends within a day of the reader's.
    """
    return html.Time(day(at), dateTime=at.isoformat(), className="when-exact", **dataset(told="bound"))


def time_left(seconds: float) -> str:
    """About how long something still takes, in words."""
    if seconds < 60:
        return t("job.left.seconds", count=max(1, round(seconds)))
    if seconds < 5_400:
        return t("job.left.minutes", count=round(seconds / 60))
    return t("job.left.hours", count=round(seconds / 3_600))


def left_of(done: int, total: int, began: datetime | None, now: datetime | None = None) -> str:
    """About how long the rest takes if it goes on as since ``began``, in words; nothing where too little is known."""
    took_s = ((now or datetime.now(UTC)) - began).total_seconds() if began is not None else 0.0
    return time_left(took_s * (total - done) / done) if 0 < done < total and took_s > 1 else ""


def joined(*parts: str) -> str:
    """Facts beside each other in one line; empty ones are left out."""
    return " · ".join(filter(None, parts))
