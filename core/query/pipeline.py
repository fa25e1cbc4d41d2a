"""The way of a question: analyse, search both legs, fuse, choose, build the context, answer; all of it is the trace."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from core.catalog.views import View
from core.errors import BadFilter, InvalidInput, ModelUnavailable
from core.model import Answer, AnswerType, Filters, Hit, Part, Query, Trace, VersionRef
from core.ports import Embedder
from core.query.analyse import analyse
from core.query.context import build_context
from core.query.extract import extract_answer
from core.query.fuse import Fusion, choose, fuse, merge_identical
from core.query.prompt import TEMPLATES, build_prompt
from core.query.retrieve import Retrieved, Retriever, Scope
from core.settings import Settings
from core.text.language import is_storable

if TYPE_CHECKING:
    from core.catalog import Catalog

MOST_HITS = 100
MOST_DEPTH = 1_000
MOST_FILTER_VALUES = 1_000
BOTH = (Part.HEAD, Part.HISTORY)
_NOT_ASKED = Answer("", AnswerType.INSUFFICIENT, reason="not_asked")


class Stopwatch:
    """Times of named steps, in milliseconds."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self._started = time.perf_counter()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings_ms[name] = (time.perf_counter() - started) * 1000

    def total(self) -> dict[str, float]:
        whole = (time.perf_counter() - self._started) * 1000
        return {name: round(value, 3) for name, value in {**self.timings_ms, "total": whole}.items()}


class QueryPipeline:
    """Answers questions from one catalogue and its two indexes."""

    def __init__(self, catalog: Catalog, retriever: Retriever, embedder: Embedder, settings: Settings) -> None:
        self._catalog = catalog
        self._retriever = retriever
        self._embedder = embedder
        self._settings = settings

    def run(self, query: Query, *, answering: bool, whole: bool = False, sequence: int | None = None) -> Trace:
        """Search, and answer where asked to.

        ``whole`` searches both parts whatever is asked, for equal statistics; ``sequence`` is the present of the
        question, so that two questions can have the same one.

        Raises: ``InvalidInput`` and its kinds, ``StoreUnavailable``; ``NotFound`` and ``Conflict`` for a version that
        cannot be asked.
        """
        watch = Stopwatch()
        asked_at = datetime.now(UTC)
        check_query(query, asked_at)
        with watch.step("analyse"):
            analysis = analyse(query.text, self._settings.max_question_chars)
        with watch.step("scope"):
            scope = self._scope(query, whole, sequence)
        found = self._retriever.retrieve(analysis.normalised, query.depth, scope)
        if scope.parts == (Part.HEAD,) and self._catalog.publications.present() != (scope.view.sequence, True):
            # Something was published while the legs searched: what this question may see can have moved to history.
            scope = replace(scope, parts=BOTH)
            found = self._retriever.retrieve(analysis.normalised, query.depth, scope)
        watch.timings_ms.update(found.timings_ms)
        with watch.step("fuse"):
            fused = fuse(found.vector.hits, found.keyword.hits, self._fusion(query))
            candidates = merge_identical(fused, found.placed)
            alone = scope.doc_ids is not None and len(scope.doc_ids) == 1
            hits = choose(candidates, query.top_k, 0 if alone else query.per_document)
        with watch.step("context"):
            context = build_context(hits, self._settings.context_chars)
            prompt = build_prompt(analysis.normalised, hits, analysis.language, self._settings.context_chars)
        answer = _NOT_ASKED
        if answering:
            with watch.step("answer"):
                answer = self._answer(analysis.normalised, hits, candidates, found)
        return Trace(
            id=secrets.token_hex(16),
            asked_at=asked_at,
            query=query,
            sequence=scope.view.sequence,
            analysis=analysis,
            vector=found.vector,
            keyword=found.keyword,
            hits=tuple(hits),
            candidates=tuple(candidates),
            context=context,
            prompt=prompt,
            answer=answer,
            timings_ms=watch.total(),
            degraded=tuple(leg.name for leg in (found.vector, found.keyword) if leg.error),
            generation={
                "generator": "none",
                "context_chars": len(context),
                "context_budget_chars": self._settings.context_chars,
                "prompt_chars": len(prompt),
                "template": TEMPLATES[analysis.language],
                "fusion": query.fusion,
                "rrf_k": self._settings.rrf_k,
                "threshold": self._settings.answer_threshold,
            },
        )

    def seen_by(self, trace: Trace, hits: Sequence[Hit]) -> set[int]:
        """Return the ids of those chunks of ``hits`` that the question of ``trace`` could have found."""
        scope = self._scope(trace.query, True, trace.sequence)
        allowed = None if scope.doc_ids is None else set(scope.doc_ids)
        seen = self._catalog.visibility.visible({hit.placed.id for hit in hits}, scope.view)
        return {chunk_id for chunk_id, chunk in seen.items() if allowed is None or chunk.doc_id in allowed}

    def _answer(self, question: str, hits: list[Hit], candidates: list[Hit], found: Retrieved) -> Answer:
        answer = partial(
            extract_answer, question, hits, candidates=candidates, threshold=self._settings.answer_threshold
        )
        if found.question_vector is None:
            return answer()
        try:
            return answer(self._embedder.embed_passages, question_vector=found.question_vector)
        except ModelUnavailable:
            return answer()

    def _scope(self, query: Query, whole: bool, present: int | None = None) -> Scope:
        newest, is_settled = self._catalog.publications.present()
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
        doc_ids = self._catalog.visibility.documents_matching(query.filters)
        return Scope(View(sequence, pinned, ever), parts, None if doc_ids is None else tuple(doc_ids))

    def _sequence(self, as_of: int | datetime, newest: int) -> int:
        if isinstance(as_of, datetime):
            return self._catalog.publications.sequence_at(as_of)
        if as_of > newest:
            raise InvalidInput(
                f"There is no publication {as_of}; the newest is {newest}.",
                remedy="Choose an earlier sequence number, or leave it out.",
            )
        return as_of

    def _fusion(self, query: Query) -> Fusion:
        return Fusion(
            method=query.fusion,
            k=self._settings.rrf_k,
            vector_weight=self._settings.vector_weight,
            keyword_weight=self._settings.keyword_weight,
            alpha=query.alpha,
        )


def check_query(query: Query, now: datetime) -> None:
    """Refuse a query that no search could answer. Raises: ``InvalidInput``."""
    _within("top_k", query.top_k, 1, MOST_HITS)
    _within("depth", query.depth, 1, MOST_DEPTH)
    _within("per_document", query.per_document, 0, MOST_HITS)
    if not isinstance(query.alpha, (int, float)) or not 0.0 <= query.alpha <= 1.0:
        raise InvalidInput("alpha lies between 0 and 1.")
    if query.fusion not in ("rrf", "mix"):
        raise InvalidInput("The fusion is rrf or mix.")
    if query.versions not in ("shown", "all"):
        raise InvalidInput("versions is shown or all.")
    _check_as_of(query, now)
    _check_filters(query.filters)


def _check_as_of(query: Query, now: datetime) -> None:
    if isinstance(query.as_of, VersionRef):
        if query.versions == "all":
            raise InvalidInput(
                "A question is asked of one version or of all versions.",
                remedy="Leave out the version, or ask of what is shown.",
            )
        if not isinstance(query.as_of.doc_key, str) or not is_storable(query.as_of.doc_key):
            raise InvalidInput("The document of “as of” is no text.")
        _within("version", query.as_of.version, 1, 10**9)
    elif isinstance(query.as_of, datetime):
        if query.as_of.tzinfo is None:
            raise InvalidInput("“As of” needs a time zone.", remedy="Write it like 2026-11-21T09:00+09:00.")
        if query.as_of > now:
            raise InvalidInput("“As of” lies in the future.", remedy="Choose a moment that has passed.")
    elif query.as_of is not None:
        _within("as_of", query.as_of, 0, 2**62)


def _check_filters(filters: Filters) -> None:
    if not isinstance(filters, Filters):
        raise BadFilter("The filters are not understood.")
    for values in (filters.doc_keys, filters.tags, filters.extensions):
        if len(values) > MOST_FILTER_VALUES:
            raise BadFilter(f"A filter holds at most {MOST_FILTER_VALUES} values.")
        if not all(isinstance(value, str) and is_storable(value) for value in values):
            raise BadFilter("A filter holds a value that is no text.")
    for moment in (filters.updated_after, filters.updated_before):
        if moment is not None and (not isinstance(moment, datetime) or moment.tzinfo is None):
            raise BadFilter("A moment in a filter needs a time zone.")


def _within(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{name} is a whole number from {least} to {most}.")
