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
_DEEPEST = 5_000
"""Where the vector leg leaves the store; Milvus gives 16,384 hits at most."""
_LOOKED_UP = 1_000
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
        keyword_leg = self._threads.submit(
            self._leg, lambda limit: self._keywords.search(text, limit, scope.parts, pushed), depth
        )
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
        vector = self._exactly(self._deepen("vector", vector_run, depth, scope, placed, seen), vector_run, depth, scope)
        self._see(vector.hits, scope, placed, seen)
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
        run = self._leg(lambda limit: self._vectors.search(vector, limit, parts, doc_ids), depth)
        return _Run(run.search, run.hits, run.limit, run.search_ms, run.error, vector, embed_ms)

    @staticmethod
    def _leg(search: LegSearch, depth: int) -> _Run:
        started = time.perf_counter()
        try:
            hits = search(depth)
        except EvoRAGError as error:
            return _Run(error=error.as_dict(), search_ms=(time.perf_counter() - started) * 1000)
        return _Run(search, tuple(hits), depth, (time.perf_counter() - started) * 1000)

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
        hits, limit, search_ms, error = run.hits, run.limit, run.search_ms, run.error
        read = len(hits)
        found = sum(hit.chunk_id in placed for hit in hits)
        while (
            run.search is not None and found < depth and len(hits) == limit and (name == "keyword" or limit < _DEEPEST)
        ):
            limit = min(limit * _DEEPER, _DEEPEST) if name == "vector" else limit * _DEEPER
            more = self._leg(run.search, limit)
            search_ms += more.search_ms
            if more.error:
                error = more.error
                break
            hits, read, found = more.hits, 0, 0
            while read < len(hits) and found < depth:
                page = hits[read : read + _LOOKED_UP]
                self._see(page, scope, placed, seen)
                read += len(page)
                found += sum(hit.chunk_id in placed for hit in page)
        visible = tuple(hit for hit in hits[:read] if hit.chunk_id in placed)
        return Leg(
            name=name,
            engine=self._engine(name, scope.parts),
            hits=visible[:depth],
            read=read,
            hidden=read - len(visible),
            duration_ms=search_ms,
            error=error,
        )

    def _exactly(self, leg: Leg, run: _Run, depth: int, scope: Scope) -> Leg:
        """Return the vector leg, scanned over all that is visible where reading deeper has found too little."""
        if run.vector is None or leg.error or len(leg.hits) == depth or leg.read < _DEEPEST:
            return leg
        started = time.perf_counter()
        shown = self._catalog.visibility.vectors(scope.view, self._embedder.id, scope.doc_ids)
        hits = nearest(run.vector, shown, depth)
        spent_ms = (time.perf_counter() - started) * 1000
        return replace(leg, engine=EXACT, hits=tuple(hits), duration_ms=leg.duration_ms + spent_ms)

    def _engine(self, name: str, parts: tuple[Part, ...]) -> str:
        if name == "keyword":
            return self._keywords.engine
        return self._vectors.engine_for(parts)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Run:
    """What one leg gave before anything was dropped."""

    search: LegSearch | None = None
    hits: tuple[IndexHit, ...] = ()
    limit: int = 0
    search_ms: float = 0.0
    error: Mapping[str, Any] | None = None
    vector: Vector | None = None
    embed_ms: float = 0.0
