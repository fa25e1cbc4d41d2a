"""Dates that a question names relative to now, read as the moments between which documents changed.

Only what plainly speaks of days, weeks, months and years of documents is read. Without a word of changing, what was
written later counts as well: last month's minutes may have been corrected this month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.query.understand.document_dates import use_of

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    **{sign: n for n, sign in enumerate("一二三四五六七八九十", 1)},
}  # fmt: skip
_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_N = r"(?P<n>\d{1,3}|" + "|".join(_NUMBERS) + ")"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_JA_UNIT = r"(?P<unit>日|週間|[かヶカヵケ]月|年)"
_UNITS = {"日": "day", "週間": "week", "年": "year"}
_NAMED = {
    "yesterday": ("day", 1), "today": ("day", 0),
    "昨日": ("day", 1), "きのう": ("day", 1), "一昨日": ("day", 2), "おととい": ("day", 2),
    "今日": ("day", 0), "本日": ("day", 0),
    "先週": ("week", 1), "先々週": ("week", 2), "今週": ("week", 0),
    "先月": ("month", 1), "先々月": ("month", 2), "今月": ("month", 0),
    "昨年": ("year", 1), "去年": ("year", 1), "一昨年": ("year", 2), "今年": ("year", 0), "本年": ("year", 0),
}  # fmt: skip
_PERIODS = {"day": 1, "week": 7}
DATED = "updated:since-2"
"""How the ids of dates begin that name their year."""
_LONG_AGO = timedelta(days=3 * 366)
"""What lies further back is what a document tells of, and hardly when it was written."""

_RECENTLY = 30
"""Days that “recently” reaches back: documents change more seldom than news come in."""

_SINCE = r"(?P<since>\bsince\s+)?"
_JA_SINCE = r"(?P<since>から|以降|以来)?(?P<particle>の間に|[のに](?!つ))?"
_PATTERNS = (
    rf"{_SINCE}\b(?:(?:in|during|within|over|from)\s+)?(?:the\s+)?(?:last|past)\s+{_N}\s+{_UNIT}\b",
    rf"{_SINCE}\b(?:(?:in|during|from)\s+)?(?:the\s+)?(?P<which>last|this)\s+(?P<unit>week|month|year)\b(?:['’]s\b)?",
    rf"(?P<since>\bsince\s+){_MONTH}\.?,?\s+(?P<year>20\d\d)\b",
    r"(?P<since>\bsince\s+)(?P<year>20\d\d)-(?P<m>\d\d?)(?:-(?P<d>\d\d?))?\b",
    rf"(?P<since>\bsince\s+){_N}\s+{_UNIT}\s+ago\b",
    rf"{_SINCE}\b(?P<named>yesterday|today)\b(?:['’]s\b)?",
    rf"(?:過去|直近|最近|ここ|この)の?{_N}{_JA_UNIT}(?:間|以内)?(?P<particle>[のにで])?",
    rf"(?<![の発日0-9]){_N}{_JA_UNIT}前(?P<since>から|以降|以来)(?P<particle>の)?",
    r"(?<!\d)(?P<year>20\d\d)年(?P<m>\d\d?)月(?:(?P<d>\d\d?)日)?(?P<since>以降|から|以来)(?P<particle>の)?",
    r"\b(?P<bare>recently|lately|of late)\b",
    r"(?P<bare>最近|この頃|このごろ|近頃|ちかごろ)(?!まで|のこと)(?P<particle>の間に|に(?!な)|の)?",
    rf"(?P<named>{'|'.join(sorted((n for n in _NAMED if not n.isascii()), key=len, reverse=True))}){_JA_SINCE}",
)
_DATES = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS)


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A span of the question and what it means; ``id`` is the same for the same words."""

    id: str
    start: int
    end: int
    after: datetime
    before: datetime | None


def named_date(question: str, now: datetime) -> NamedDate | None:
    """Return the one date of documents that the question names; None for no date and for several, which it compares.

    Days begin at midnight in the time zone of ``now``, weeks on Mondays.
    """
    found: re.Match[str] | None = None
    for match in _matches(question):
        if found is not None and match.start() < found.end() and found.start() < match.end():
            continue
        if _read(match, now, is_change=False) is not None:
            if found is not None:
                return None
            found = match
    if found is None:
        return None
    # What happened in a stretch of time that ends now stands in no older document.
    is_window = any(found.groupdict().get(name) for name in ("bare", "n")) and not found.groupdict().get("since")
    use = use_of(question, *found.span(), is_window=is_window)
    return _read(found, now, is_change=use == "changed") if use is not None else None


def _matches(question: str) -> Iterator[re.Match[str]]:
    for pattern in _DATES:
        yield from pattern.finditer(question)


def _read(match: re.Match[str], now: datetime, is_change: bool) -> NamedDate | None:
    said = match.groupdict()
    # Where clocks go back at midnight there are two; the day begins with the first.
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    is_open = bool(said.get("since")) or not is_change
    if said.get("year"):
        month = int(said["m"]) if said.get("m") else _SHORT.index(said["month"][:3].lower()) + 1
        try:
            after = midnight.replace(year=int(said["year"]), month=month, day=int(said.get("d") or 1))
        except ValueError:
            return None
        own, before = f"since-{after:%Y-%m-%d}", None
    elif said.get("bare"):
        after, own, before = _back(midnight, "day", _RECENTLY), "recently", None
    elif said.get("n"):
        count = _NUMBERS.get(said["n"].lower()) or int(said["n"] if said["n"].isdecimal() else 0)
        unit = _UNITS.get(said["unit"], said["unit"].lower() if said["unit"].isascii() else "month")
        after = _back(midnight, unit, count)
        own, before = f"past-{count}-{unit}", None
    else:
        name = (said.get("named") or "").lower()
        unit, count = _NAMED[name] if name else (said["unit"].lower(), 1 if said["which"].lower() == "last" else 0)
        after = _back(_begin(midnight, unit), unit, count)
        own = f"{'since' if is_open else 'in'}-{unit}-{count}"
        before = None if is_open or not count else _back(_begin(midnight, unit), unit, count - 1)
        before = before and before - timedelta(microseconds=1)
    if after > now or after < now - _LONG_AGO:
        return None
    return NamedDate(f"updated:{own}", match.start(), match.end(), after, before)


def _begin(midnight: datetime, unit: str) -> datetime:
    if unit == "week":
        return midnight - timedelta(days=midnight.weekday())
    if unit == "month":
        return midnight.replace(day=1)
    return midnight.replace(month=1, day=1) if unit == "year" else midnight


def _back(moment: datetime, unit: str, count: int) -> datetime:
    """Return the moment some units earlier; a day that the month lacks becomes its 28th."""
    if unit in _PERIODS:
        return moment - timedelta(days=count * _PERIODS[unit])
    months = moment.year * 12 + moment.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    try:
        return moment.replace(year=year, month=month + 1)
    except ValueError:
        return moment.replace(year=max(1, year), month=month + 1, day=28)
