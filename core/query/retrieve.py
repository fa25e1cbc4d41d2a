"""Both legs of a question, in parallel; the catalogue drops what is not visible, and a leg is read deeper for it.

A question as of an earlier moment can have any number of hidden rows before its first visible one. The keyword leg is
then read to its end; the vector leg, which no store reads to its end, is computed from the catalogue's own embeddings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.catalog.views import View
from core.errors import EvoRAGError, StoreUnavailable
from core.model import IndexHit, Leg, Part, PlacedChunk
from core.ports import Embedder, KeywordIndex, Vector, VectorIndex
from core.query.exact import ENGINE as EXACT
from core.query.exact import nearest

if TYPE_CHECKING:
    from core.catalog import Catalog

_DEEPER = 4
_ROUNDS = 2
"""How often a leg is read deeper before it is read to its end."""
_ALL = 10_000_000
_MOST_PUSHED_DOWN = 2_000

LegSearch = Callable[[int], list[IndexHit]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which chunks a question may see: those that ``view`` shows, of the documents in ``doc_ids`` (None: of all)."""

    view: View
    parts: tuple[Part, ...]
    doc_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The visible hits of both legs, and the chunks that they name."""

    vector: Leg
    keyword: Leg
    placed: Mapping[int, PlacedChunk]
    question_vector: Vector | None
    timings_ms: Mapping[str, float]


class Retriever:
    """Runs the two legs over one pair of indexes."""

    def __init__(
        self, catalog: Catalog, embedder: Embedder, vectors: VectorIndex, keywords: KeywordIndex, timeout_s: float
    ) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._vectors = vectors
        self._keywords = keywords
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="evorag-leg")

    def retrieve(self, text: str, depth: int, scope: Scope) -> Retrieved:
        """Search both legs. A leg that fails keeps its error. Raises: ``StoreUnavailable`` when both have failed."""
        pushed = scope.doc_ids if scope.doc_ids is not None and len(scope.doc_ids) <= _MOST_PUSHED_DOWN else None
        started = time.perf_counter()
        deadline = time.monotonic() + self._timeout_s
        by_words = _Run(lambda limit: self._keywords.search(text, limit, scope.parts, pushed))
        keyword_leg = self._threads.submit(by_words.deeper, depth)
        vector_leg = self._threads.submit(self._vector_leg, text, depth, scope.parts, pushed)
        vector_run = self._result(vector_leg, deadline, "vector")
        keyword_run = self._result(keyword_leg, deadline, "keyword")
        if vector_run.error and keyword_run.error:
            raise StoreUnavailable(
                "Neither the vector search nor the keyword search answers.", remedy=str(keyword_run.error["remedy"])
            )
        legs_ms = (time.perf_counter() - started) * 1000
        started = time.perf_counter()
        placed: dict[int, PlacedChunk] = {}
        seen: set[int] = set()
        self._see((*vector_run.hits, *keyword_run.hits), scope, placed, seen)
        vector = self._deepen("vector", vector_run, depth, scope, placed, seen)
        keyword = self._deepen("keyword", keyword_run, depth, scope, placed, seen)
        timings = {
            "embed_question": vector_run.embed_ms,
            "vector_search": vector_run.search_ms,
            "keyword_search": keyword_run.search_ms,
            "both_legs": legs_ms,
            "visibility": (time.perf_counter() - started) * 1000,
        }
        return Retrieved(vector, keyword, placed, vector_run.vector, timings)

    # ---- one leg

    def _vector_leg(self, text: str, depth: int, parts: Sequence[Part], doc_ids: Sequence[int] | None) -> _Run:
        started = time.perf_counter()
        try:
            vector = self._embedder.embed_query(text)
        except EvoRAGError as error:
            return _Run(error=error.as_dict())
        embed_ms = (time.perf_counter() - started) * 1000
        run = _Run(lambda limit: self._vectors.search(vector, limit, parts, doc_ids), vector=vector, embed_ms=embed_ms)
        return run.deeper(depth)

    @staticmethod
    def _result(leg: Future[_Run], deadline: float, name: str) -> _Run:
        try:
            return leg.result(timeout=max(deadline - time.monotonic(), 0.0))
        except FutureTimeout:
            error = StoreUnavailable(f"The {name} search did not answer in time.")
            return _Run(error=error.as_dict())

    # ---- visibility

    def _see(self, hits: Sequence[IndexHit], scope: Scope, placed: dict[int, PlacedChunk], seen: set[int]) -> None:
        unseen = {hit.chunk_id for hit in hits} - seen
        seen |= unseen
        allowed = None if scope.doc_ids is None else set(scope.doc_ids)
        for chunk_id, chunk in self._catalog.visibility.visible(unseen, scope.view).items():
            if allowed is None or chunk.doc_id in allowed:
                placed[chunk_id] = chunk

    def _deepen(
        self, name: str, run: _Run, depth: int, scope: Scope, placed: dict[int, PlacedChunk], seen: set[int]
    ) -> Leg:
        """Read the leg deeper until ``depth`` hits are visible or it gives no more; return the visible ones."""
        engine = self._keywords.engine if name == "keyword" else self._vectors.engine_for(scope.parts)
        rounds = 0
        while rounds < _ROUNDS and run.is_short(depth, placed):
            run = run.deeper(run.limit * _DEEPER)
            self._see(run.hits, scope, placed, seen)
            rounds += 1
        read = len(run.hits)
        kept = sum(hit.chunk_id in placed for hit in run.hits)
        if run.is_short(depth, placed):
            if run.vector is not None:
                run, engine = self._exactly(run, run.vector, depth, scope), EXACT
            else:
                run = run.deeper(_ALL)
                shown = self._catalog.visibility.chunk_ids(scope.view, scope.doc_ids)
                read, hits = len(run.hits), tuple(hit for hit in run.hits if hit.chunk_id in shown)
                run, kept = replace(run, hits=hits), len(hits)
            self._see(run.hits[:depth], scope, placed, seen)
        visible = tuple(hit for hit in run.hits if hit.chunk_id in placed)
        return Leg(
            name=name,
            engine=engine,
            hits=visible[:depth],
            read=read,
            hidden=read - kept,
            duration_ms=run.search_ms,
            error=run.error,
        )

    def _exactly(self, run: _Run, vector: Vector, depth: int, scope: Scope) -> _Run:
        """Return the nearest of all that is visible, computed from the catalogue's embeddings."""
        started = time.perf_counter()
        shown = self._catalog.visibility.vectors(scope.view, self._embedder.id, scope.doc_ids)
        hits = tuple(nearest(vector, shown, depth))
        return replace(run, hits=hits, search_ms=run.search_ms + (time.perf_counter() - started) * 1000)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Run:
    """What one leg gave; ``vector`` is that of the question, where this is the vector leg."""

    search: LegSearch | None = None
    hits: tuple[IndexHit, ...] = ()
    limit: int = 0
    search_ms: float = 0.0
    error: Mapping[str, Any] | None = None
    vector: Vector | None = None
    embed_ms: float = 0.0

    def is_short(self, depth: int, placed: Mapping[int, PlacedChunk]) -> bool:
        """Tell whether fewer than ``depth`` hits are visible although the store has more."""
        if self.search is None or self.error or len(self.hits) < self.limit:
            return False
        return sum(hit.chunk_id in placed for hit in self.hits) < depth

    def deeper(self, limit: int) -> _Run:
        """Return the leg read up to ``limit`` hits; where the store fails, what it gave before with the error."""
        assert self.search is not None
        started = time.perf_counter()
        error: Mapping[str, Any] | None = None
        try:
            hits = tuple(self.search(limit))
        except EvoRAGError as failed:
            hits, error = self.hits, failed.as_dict()
        spent_ms = (time.perf_counter() - started) * 1000
        return replace(self, hits=hits, limit=limit, search_ms=self.search_ms + spent_ms, error=error)
