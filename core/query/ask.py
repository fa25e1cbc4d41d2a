"""The way of asking: a follow-up question is made standalone, the cache is looked into, else the pipeline answers.

What comes out is kept: in the history, in its conversation, and as an answer for those who ask the same.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from core.model import Query, Trace
from core.query.answer_cache import AnswerCache, answered_again
from core.query.record_answer import recorded
from core.query.stopwatch import Stopwatch
from core.query.understand.understanding import Standalone
from core.query.understand.validate import check_query

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.query.conversations.conversations import Conversations
    from core.query.pipeline import QueryPipeline
    from core.recordings.facade import Recordings

Step = tuple[str, Any]


class Asking:
    def __init__(
        self,
        catalog: Catalog,
        queries: QueryPipeline,
        conversations: Conversations,
        cache: AnswerCache,
        recordings: Recordings,
    ) -> None:
        self._catalog = catalog
        self._queries = queries
        self._conversations = conversations
        self._cache = cache
        self._recordings = recordings

    def events(self, query: Query, *, keep: bool) -> Generator[Step, None, None]:
        """Yield the steps of ``QueryPipeline.events``; the trace is kept before it is told.

        What is not to be kept is answered afresh. An empty piece of ``writing``, which may come first, says that a
        generator goes on. Whoever closes this stops the generator, and nothing is kept, no recording either.

        Raises: what ``QueryPipeline.run`` raises; ``NotFound`` for a conversation that is not there, ``Conflict`` for
        one that is full; ``QuotaExceeded`` and ``DiskFull`` where there is no room for a recording.
        """
        watch = Stopwatch()
        asked_at = datetime.now(UTC)
        check_query(query, asked_at)
        standalone = heard_at = None
        if query.conversation_id:
            heard_at, _ = self._catalog.publications.present()
            with watch.step("standalone"):
                standalone = yield from self._standalone(query)
        key = None
        with watch.step("analyse"):
            analysis = self._queries.understood(query, standalone)
        if keep:
            with watch.step("cache"):
                key = self._cache.key(query, analysis)
                kept = None if key is None or query.fresh else self._cache.find(key, analysis, query)
            if kept is not None:
                again = answered_again(kept, query, analysis, asked_at, watch)
                yield "analysis", again.analysis
                yield "passages", again.hits
                self._catalog.questions.keep(again, None, 0, heard_at)
                yield "trace", again
                return
        with recorded(self._recordings, query) as recording:
            into = None if recording is None else recording.into
            with closing(self._queries.events(query, answering=True, understood=analysis, into=into)) as steps:  # type: ignore[type-var]
                for name, value in steps:
                    if isinstance(value, Trace):
                        value = replace(value, timings_ms=_joined(watch.total(), value.timings_ms))
                        value = value if recording is None else recording.account(value)
                        is_whole = True
                        if keep:
                            kept_under = self._cache.to_keep(key, value) if key is not None else None
                            is_whole = self._catalog.questions.keep(value, kept_under, self._cache.most, heard_at)
                        if recording is not None and is_whole:
                            recording.settle(value.id if keep else "")
                    yield name, value

    def standalone(self, query: Query) -> Standalone | None:
        """Return a follow-up question as it stands by itself; None for a question that does, or has no conversation.

        Raises: ``QueryTooLong``, ``NotFound``, ``Conflict``.
        """
        steps = self._standalone(query)
        while True:
            try:
                next(steps)
            except StopIteration as ended:
                return cast("Standalone | None", ended.value)

    def _standalone(self, query: Query) -> Generator[Step, None, Standalone | None]:
        # The rules read the whole text, so that its length is checked first.
        self._queries.check_length(query)
        if not query.conversation_id:
            return None
        with closing(self._conversations.standalone(query)) as pieces:
            while True:
                try:
                    yield "writing", next(pieces)
                except StopIteration as ended:
                    return cast("Standalone | None", ended.value)


def _joined(mine: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    """Return the times of all steps; the question is analysed here and goes on being analysed there."""
    analysed = round(mine["analyse"] + theirs["analyse"], 3)
    return {**mine, **theirs, "analyse": analysed, "total": mine["total"]}
