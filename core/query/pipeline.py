"""The way of a question: analyse, search both legs, fuse, choose, build the context, answer; all of it is the trace."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.catalog.documents.isolation import viewer
from core.catalog.documents.views import View
from core.errors import InvalidInput
from core.generators import NONE
from core.model import (
    Analysis,
    AnalysisStep,
    Answer,
    AnswerType,
    AskStep,
    Hit,
    Intent,
    Part,
    PassagesStep,
    Query,
    ReadFilter,
    Trace,
    VersionRef,
    zone_named,
)
from core.platform import precedence
from core.query.answer.reading_order import ReadResult
from core.query.answer.write_answer import Answered, Answering
from core.query.search.retrieve import Retrieved, Scope
from core.query.search.search import BOTH, Searcher, SearchResult
from core.query.search.spelling import Spelling
from core.query.search.term_statistics import found_without_statistics
from core.query.stopwatch import Stopwatch
from core.query.understand.advanced_syntax import filters_of, merged
from core.query.understand.implied_filters import without_dates
from core.query.understand.intent import answer_about
from core.query.understand.understanding import AskedQuestion, StandaloneQuestion, understand
from core.query.understand.validate import check_query
from core.settings import SearchSettings

if TYPE_CHECKING:
    from core.catalog import Catalog

_WIDE = ("updated", "extension")
_FIRST_READING = 0.15
"""By so much surer the answer to a follow-up's second reading has to be."""
_NOT_ASKED = Answer("", AnswerType.INSUFFICIENT, reason="not_asked")


@dataclass(frozen=True, slots=True)
class _Tried:
    """One reading of a question: what it found, and what that answers."""

    analysis: Analysis
    read: ReadResult
    answered: Answered

    @property
    def worth(self) -> float:
        """How sure its answer is; no answer is worth less than any."""
        answer = self.answered.answer
        return -1.0 if answer.type is AnswerType.INSUFFICIENT else answer.confidence


class QueryPipeline:
    """Answers questions from one catalogue and its two indexes."""

    def __init__(
        self,
        catalog: Catalog,
        searcher: Searcher,
        spelling: Spelling,
        answering: Answering,
        settings: SearchSettings,
    ) -> None:
        self._catalog = catalog
        self._searcher = searcher
        self._spelling = spelling
        self._answering = answering
        self._settings = settings
        self.max_chars = settings.max_question_chars
        """Longest question that is read."""

    def run(
        self,
        query: Query,
        *,
        answering: bool,
        reading: bool = False,
        whole: bool = False,
        sequence: int | None = None,
    ) -> Trace:
        """Check and analyse a question of no conversation, search, and answer where asked to.

        ``reading`` puts the passages in the order in which an answer gets them; answering always does. ``whole``
        searches both parts whatever is asked, for equal statistics; ``sequence`` is the present of the
        question, so that two questions can have the same one.

        Raises: ``InvalidInput`` and its kinds, ``StoreUnavailable``; ``NotFound`` and ``Conflict`` for a version that
        cannot be asked.
        """
        watch, asked_at = Stopwatch(), datetime.now(UTC)
        check_query(query, asked_at)
        asked = AskedQuestion(query, asked_at, self.analysed(query, watch), watch)
        return drained(self.steps(asked, answering=answering, reading=reading, whole=whole, sequence=sequence))

    def steps(
        self,
        asked: AskedQuestion,
        *,
        answering: bool,
        reading: bool = False,
        whole: bool = False,
        sequence: int | None = None,
        into: Path | None = None,
    ) -> Generator[AskStep, None, Trace]:
        """Do what ``run`` does with a checked and analysed question: yield the steps, and return the trace.

        What is being written has not been held against the passages yet. ``into`` is the file to record the answer of
        a recorded question.
        """
        query, analysis, watch = asked.query, asked.analysis, asked.watch
        if answering:
            self._answering.check(query)
        with precedence.asked(), watch.step("analyse"):
            about = answer_about(self._catalog, query, analysis, asked.asked_at.astimezone(zone_named(query.zone)))
            if about is None and analysis.intent is Intent.KNOWLEDGE_BASE:
                analysis = replace(analysis, intent=Intent.DOCUMENTS)
        with precedence.asked(), watch.step("scope"):
            within = self._scope(query, whole, sequence)
            scope, analysis = self._narrowed(within, query, analysis)
        is_answered = answering and about is None
        is_read = reading or is_answered
        tried: _Tried | None = None
        if is_answered and asked.other is not None:
            first = self._tried(query, analysis, within, watch)
            second = self._tried(query, asked.other, within, watch)
            tried = second if second.worth > first.worth + _FIRST_READING else first
            analysis, read = tried.analysis, tried.read
        else:
            analysis = replace(analysis, standalone_other="")
            yield AnalysisStep(analysis)
            analysis, found = self._found(query, analysis, scope, watch)
            read = self._answering.read(query, analysis, found, watch) if is_read else ReadResult(found)
        if tried is not None or analysis.corrections:
            yield AnalysisStep(analysis)
        found = read.found
        # Answers are made with the statistics of terms; they are not told to whom they would tell of hidden documents.
        is_hidden = self._catalog.visibility.hides_from(viewer())
        told = found_without_statistics(found) if is_hidden else found
        yield PassagesStep(tuple(told.hits))
        answered = Answered(_NOT_ASKED, "", "", {})
        if answering and about is not None:
            answered = Answered(about, "", "", {"generator": "none"})
        elif answering:
            if tried is not None and not self._answering.writes(query):
                answered = tried.answered
            else:
                answered = yield from self._answering.answer(query, analysis, read, watch, into)
            wider = _without_wide_filters(analysis)
            if wider is not None and _is_unanswered(answered):
                scope, wider = self._narrowed(within, query, wider)
                wider, wider_found = self._found(query, wider, scope, watch)
                other = self._answering.read(query, wider, wider_found, watch)
                again = yield from self._answering.answer(query, wider, other, watch, into)
                if not _is_unanswered(again):
                    analysis, found, answered = wider, other.found, again
                    told = found_without_statistics(found) if is_hidden else found
                    yield AnalysisStep(analysis)
                    yield PassagesStep(tuple(told.hits))
        retrieved = told.retrieved
        return Trace(
            id=secrets.token_hex(16),
            asked_at=asked.asked_at,
            query=query,
            sequence=found.scope.view.sequence,
            analysis=analysis,
            vector=retrieved.vector,
            keyword=retrieved.keyword,
            hits=tuple(told.hits),
            candidates=tuple(told.candidates),
            context=answered.context,
            prompt=answered.prompt,
            answer=answered.answer,
            timings_ms=watch.total(),
            degraded=_degraded(retrieved),
            generation={**answered.generation, "fusion": query.fusion, "rrf_k": self._settings.rrf_k},
            rerank=found.reranking,
            indexing=retrieved.indexing,
        )

    def _found(self, query: Query, analysis: Analysis, scope: Scope, watch: Stopwatch) -> tuple[Analysis, SearchResult]:
        """Search; where a word of the question is a typo, search again for what was meant, which the analysis tells."""
        found = self._searcher.search(query, analysis, scope, watch)
        with precedence.asked(), watch.step("spelling"):
            corrected = self._spelling.corrected(query, analysis, found)
        if corrected is None:
            return analysis, found
        return corrected, self._searcher.search(query, corrected, scope, watch)

    def _tried(self, query: Query, analysis: Analysis, within: Scope, watch: Stopwatch) -> _Tried:
        """Return what one reading of a question finds, with the answer that the passages themselves give."""
        with precedence.asked(), watch.step("scope"):
            scope, analysis = self._narrowed(within, query, analysis)
        analysis, found = self._found(query, analysis, scope, watch)
        read = self._answering.read(query, analysis, found, watch)
        plain = replace(query, generator=NONE, record=False)
        return _Tried(analysis, read, drained(self._answering.answer(plain, analysis, read, watch)))

    def answer_from(self, query: Query, hits: Sequence[Hit]) -> Answer:
        """Answer from passages that were found before, in their order; nothing else is searched.

        Raises: ``InvalidInput`` and its kinds.
        """
        watch = Stopwatch()
        self._answering.check(query)
        analysis = self.analysed(query, watch)
        found = self._searcher.given(analysis.normalised, hits, self._scope(query, whole=False))
        steps = self._answering.answer(query, analysis, ReadResult(found), watch)
        return drained(steps).answer

    def analysed(self, query: Query, watch: Stopwatch, standalone: StandaloneQuestion | None = None) -> Analysis:
        """Return what a question is understood as. Raises: ``InvalidInput`` for no text, ``QueryTooLong``."""
        with watch.step("analyse"):
            return understand(query, self._settings, standalone, self._catalog.naming.called)

    def seen_by(self, trace: Trace, hits: Sequence[Hit]) -> set[int]:
        """Return the ids of those chunks of ``hits`` that the question of ``trace`` could have found."""
        scope = self.scope_of(trace, whole=True)
        allowed = None if scope.doc_ids is None else set(scope.doc_ids)
        seen = self._catalog.visibility.visible({hit.placed.id for hit in hits}, scope.view)
        return {chunk_id for chunk_id, chunk in seen.items() if allowed is None or chunk.doc_id in allowed}

    def scope_of(self, trace: Trace, *, whole: bool = False) -> Scope:
        """Return what the question of ``trace`` could see; with ``whole`` both parts are searched for it."""
        return self._narrowed(self._scope(trace.query, whole, trace.sequence), trace.query, trace.analysis)[0]

    def _scope(self, query: Query, whole: bool, present: int | None = None) -> Scope:
        newest, is_settled, has_vectors = self._catalog.publications.asked_of()
        pinned: tuple[int, int] | None = None
        sequence, is_present = newest if present is None else present, query.as_of is None
        if isinstance(query.as_of, VersionRef):
            doc_id, version_id, is_present = self._catalog.visibility.version_of(query.as_of)
            pinned = (doc_id, version_id)
        elif query.as_of is not None:
            sequence = self._sequence(query.as_of, newest)
            is_present = sequence == newest
        ever = query.versions == "all"
        # While rows wait to be moved between the parts, both are searched: nothing visible may be missed.
        parts = (Part.HEAD,) if is_present and is_settled and not ever and not whole else BOTH
        # Taken once: the legs run in threads of their own, which act for nobody. What is published from here on has a
        # later sequence number, so that a first private document is not seen either.
        view = View(sequence, pinned, ever, self._catalog.visibility.limit(viewer(), newest))
        doc_ids = self._catalog.visibility.documents_matching(query.filters)
        return Scope(view, parts, None if doc_ids is None else tuple(doc_ids), not has_vectors)

    def _narrowed(self, scope: Scope, query: Query, analysis: Analysis) -> tuple[Scope, Analysis]:
        """Return the scope within what the question's own words demand.

        A filter that was read from them is left out, and says so, where it would leave nothing to search.
        """
        naming = self._catalog.naming
        if analysis.syntax is not None:
            limits = [self._catalog.visibility.documents_matching(filters_of(analysis.syntax))]
            limits += [
                naming.holding(value, title_only=field == "title")
                for field, value in analysis.syntax.fields
                if field in ("title", "doc")
            ]
            for doc_ids in limits:
                scope = scope if doc_ids is None else _within(scope, doc_ids)
            return scope, analysis
        read: list[ReadFilter] = []
        filters = query.filters
        for each in analysis.read_filters:
            both = merged(filters, each.filters)
            doc_ids = None if both is None else self._catalog.visibility.documents_matching(both)
            narrower = scope if doc_ids is None else _within(scope, doc_ids)
            is_applied = (
                each.is_applied and both is not None and naming.shows_any(narrower.view, narrower.doc_ids or ())
            )
            read.append(replace(each, is_applied=is_applied))
            if is_applied and both is not None:
                scope, filters = narrower, both
        if not read:
            return scope, analysis
        searched = without_dates(analysis.normalised, read)
        searched = "" if searched == analysis.normalised else searched
        return scope, replace(analysis, read_filters=tuple(read), searched=searched)

    def _sequence(self, as_of: int | datetime, newest: int) -> int:
        if isinstance(as_of, datetime):
            return self._catalog.publications.sequence_at(as_of)
        if as_of > newest:
            raise InvalidInput(
                f"There is no publication {as_of}; the newest is {newest}.",
                remedy="Choose an earlier sequence number, or leave it out.",
            )
        return as_of


Result = TypeVar("Result")


def drained(steps: Generator[object, None, Result]) -> Result:
    """Return what steps that nobody wants lead to, such as the trace of a question."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            result: Result = ended.value
            return result


def _degraded(retrieved: Retrieved) -> tuple[str, ...]:
    """Return the names of the legs that did not answer from all that the question could see."""
    vector, keyword = retrieved.vector, retrieved.keyword
    is_lacking = {"vector": retrieved.indexing is not None, "keyword": False}
    return tuple(leg.name for leg in (vector, keyword) if leg.error or leg.refilling or is_lacking[leg.name])


def _without_wide_filters(analysis: Analysis) -> Analysis | None:
    """Return the analysis without its filters by date and kind of file; None where none of these is applied.

    A document that is named was meant; these may be words of what is asked.
    """
    read = analysis.read_filters
    if not any(each.is_applied and each.kind in _WIDE for each in read):
        return None
    return replace(
        analysis, read_filters=tuple(replace(each, is_applied=False) if each.kind in _WIDE else each for each in read)
    )


def _is_unanswered(answered: Answered) -> bool:
    """Tell whether the documents do not answer, where no generator may have begun to be read already."""
    return answered.answer.type is AnswerType.INSUFFICIENT and answered.generation.get("generator") == NONE


def _within(scope: Scope, doc_ids: Sequence[int]) -> Scope:
    kept = doc_ids if scope.doc_ids is None else set(scope.doc_ids).intersection(doc_ids)
    return replace(scope, doc_ids=tuple(sorted(kept)))
