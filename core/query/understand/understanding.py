"""What a question is understood as: its words, made standalone where it follows another, and what they name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from core.model import Analysis, Intent, Query, zone_named
from core.query.stopwatch import Stopwatch
from core.query.understand.advanced_syntax import parse
from core.query.understand.analyse import analyse
from core.query.understand.implied_filters import Called, read_filters
from core.query.understand.intent import intent_of
from core.settings import SearchSettings


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A follow-up question as it stands without its conversation; ``by`` is ``rules`` or a generator's name.

    ``other`` is what it may mean as well, the question as it was asked for one; empty where there is no doubt.
    """

    text: str
    by: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A query that was checked and analysed, with the time of asking and the watch that its steps are timed by."""

    query: Query
    asked_at: datetime
    analysis: Analysis
    watch: Stopwatch
    other: Analysis | None = None
    """What the question may mean as well; both are searched then."""


def understand(
    query: Query,
    settings: SearchSettings,
    standalone: StandaloneQuestion | None = None,
    called: Called | None = None,
    now: datetime | None = None,
) -> Analysis:
    """Return what the question is understood as; ``called`` finds the documents that it may name.

    Filters are read from what was asked, not from what a conversation adds to it.
    Raises: ``InvalidInput`` for no text, ``QueryTooLong``.
    """
    most = settings.max_question_chars
    analysis = analyse(query.text, most)
    now = now or datetime.now().astimezone(zone_named(query.zone))
    if query.syntax == "advanced":
        parsed = parse(query.text)
        return replace(analyse(parsed.text, most), syntax=parsed.syntax)
    wanted = settings.read_filters if query.read_filters is None else query.read_filters
    intent = intent_of(analysis.normalised, now)
    if wanted and called is not None and intent is Intent.DOCUMENTS:
        read = read_filters(analysis.normalised, now, called)
        # At an earlier moment it is not told whether “last week” is that of the moment or of the asker.
        read = tuple(each for each in read if each.kind != "updated" or query.as_of is None)
        analysis = replace(analysis, read_filters=tuple(each for each in read if each.id not in query.dismissed))
    analysis = replace(analysis, intent=intent)
    if standalone is None or (standalone.text == query.text and not standalone.other):
        return analysis
    alone = analyse(standalone.text[:most], most)
    return replace(
        alone,
        standalone=standalone.text,
        standalone_by=standalone.by,
        standalone_other=standalone.other,
        intent=intent,
        read_filters=analysis.read_filters,
    )
