"""The way of asking: a follow-up question is made standalone, the cache is looked into, else the pipeline answers.

What comes out is kept: in the history, in its conversation, and as an answer for those who ask the same.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.errors import DiskFull
from core.model import AnalysisStep, AnswerStep, AskStep, DoneStep, PassagesStep, Query, Trace
from core.query.answer_cache import AnswerCache, answered_again
from core.query.pipeline import drained
from core.query.record_answer import record_answer
from core.query.stopwatch import Stopwatch
from core.query.understand.analyse import check_length
from core.query.understand.understanding import AskedQuestion
from core.query.understand.validate import check_query

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.catalog.questions.cached_answers import CacheKey
    from core.query.conversations.conversations import Conversations
    from core.query.pipeline import QueryPipeline
    from core.recordings.facade import Recordings

log = logging.getLogger(__name__)

_SENTENCE = re.compile(r"(?<=[。！？\n])(?!\[)|(?<=[.!?]\s)(?!\[)|(?<=\]\s)(?!\[)")


class QuestionAnswering:
    """Answers questions, or searches for them, and keeps what was asked; a question is checked and analysed once."""

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

    def steps(self, query: Query, *, keep: bool) -> Generator[AskStep, None, None]:
        """Yield the steps of an answer; its trace is kept once it is out, before the ``DoneStep``.

        What is not to be kept is answered afresh. An empty ``WritingStep``, which may come first, says that a generator
        goes on. Whoever closes this before the first ``AnswerStep`` stops the generator, and nothing is kept, no
        recording either; what somebody has seen of an answer is kept, whole.

        Raises: what ``QueryPipeline.run`` raises; ``NotFound`` for a conversation that is not there, ``Conflict`` for
        one that is full; ``QuotaExceeded`` and ``DiskFull`` where there is no room for a recording.
        """
        heard_at = self._catalog.publications.sequence() if query.conversation_id else None
        asked = yield from self._asked(query)
        key = cached = None
        if keep and asked.other is None:
            # What is kept is found by its words, which say one of two readings only.
            with asked.watch.step("cache"):
                key = self._cache.key(query, asked.analysis)
                cached = None if key is None or query.fresh else self._cache.find(key, asked.analysis, query)
        if cached is None:
            trace = yield from self._afresh(asked, keep, key, heard_at)
        else:
            trace = answered_again(cached, asked)
            yield AnalysisStep(trace.analysis)
            yield PassagesStep(trace.hits)
            try:
                yield from _pieces(trace)
            finally:
                self._kept(trace, None, 0, heard_at)
        yield DoneStep(trace)

    def search(self, query: Query) -> Trace:
        """Search without answering; nothing is kept. Raises: what ``steps`` raises."""
        return drained(self._searched(query))

    def _searched(self, query: Query) -> Generator[AskStep, None, Trace]:
        asked = yield from self._asked(query)
        return (yield from self._queries.steps(asked, answering=False))

    def _asked(self, query: Query) -> Generator[AskStep, None, AskedQuestion]:
        """Check and analyse a question, once; one of a conversation as it stands without it."""
        watch, asked_at = Stopwatch(), datetime.now(UTC)
        check_query(query, asked_at)
        standalone = None
        if query.conversation_id:
            with watch.step("standalone"):
                # The rules read the whole text, so that its length is checked first.
                check_length(query.text, self._queries.max_chars)
                standalone = yield from self._conversations.standalone(query)
        analysis, other = self._queries.analysed(query, watch, standalone), None
        if standalone is not None and standalone.other:
            turned = replace(standalone, text=standalone.other, other=standalone.text)
            other = self._queries.analysed(query, watch, turned)
        return AskedQuestion(query, asked_at, analysis, watch, other)

    def _kept(self, trace: Trace, key: CacheKey | None, most: int, heard_at: int | None) -> bool:
        """Keep the account of a question; tell whether that was done. On a full disk the answer is given without."""
        try:
            return self._catalog.questions.keep(trace, key, most, heard_at)
        except DiskFull:
            log.warning("a question was answered, and its account is not kept: the disk of the data folder is full")
            return False

    def _afresh(
        self, asked: AskedQuestion, keep: bool, key: CacheKey | None, heard_at: int | None
    ) -> Generator[AskStep, None, Trace]:
        with record_answer(self._recordings, asked.query) as recording:
            into = None if recording is None else recording.into
            trace = yield from self._queries.steps(asked, answering=True, into=into)
            trace = trace if recording is None else recording.account(trace)
            try:
                yield from _pieces(trace)
            finally:
                is_whole = True
                if keep:
                    kept_under = self._cache.to_keep(key, trace) if key is not None else None
                    is_whole = self._kept(trace, kept_under, self._cache.most, heard_at)
                if recording is not None and is_whole:
                    recording.finalize(trace.id if keep else "")
        return trace


def _pieces(trace: Trace) -> Iterator[AnswerStep]:
    return (AnswerStep(piece) for piece in pieces_of(trace.answer.text))


def pieces_of(text: str) -> list[str]:
    """Cut an answer after its sentences; joined again the pieces are the answer."""
    return [piece for piece in _SENTENCE.split(text) if piece]
