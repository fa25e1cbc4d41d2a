"""Both legs of a question, in parallel; the catalogue drops what is not visible, and a leg is read deeper for it.

A question as of an earlier moment can have any number of hidden rows before its first visible one. The keyword leg is
then read to its end; the vector leg, which no store reads to its end, is computed from the catalogue's own embeddings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.access import current, sees_all
from core.catalog.documents.views import View
from core.errors import EvoRAGError, IndexLost, StoreUnavailable
from core.indexes.active import IndexHandle
from core.model import IndexHit, Indexing, Leg, Part, PlacedChunk, Refilling
from core.ports import Embedder, Vector
from core.query.search.exact_scan import ENGINE as EXACT
from core.query.search.exact_scan import nearest

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.catalog.outbox import Refill

_DEEPER = 4
_ROUNDS = 2
"""How often a leg is read deeper before it is read to its end."""
_ALL = 10_000_000
_MOST_PUSHED_DOWN = 2_000

LegSearch = Callable[[int], list[IndexHit]]
InMemory = Callable[[Sequence[int]], Mapping[int, Vector]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which chunks a question may see: those that ``view`` shows, of the documents in ``doc_ids`` (None: of all)."""

    view: View
    parts: tuple[Part, ...]
    doc_ids: tuple[int, ...] | None = None
    lacks_vectors: bool = True
    """Whether anything at all is shown whose vectors are still being made."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The visible hits of both legs, and the chunks that they name."""

    vector: Leg
    keyword: Leg
    placed: Mapping[int, PlacedChunk]
    question_vector: Vector | None
    timings_ms: Mapping[str, float]
    embedder: Embedder
    """What embedded the question: other vectors of its space are its as well."""
    in_memory: InMemory
    """Gives the vectors of its space that need not be read from the catalogue."""
    indexing: Indexing | None = None
    """What the scope shows and had no vectors yet, where the vector leg answered."""


class Retriever:
    """Runs the two legs of a question over the pair of indexes that serves when it begins."""

    def __init__(
        self,
        catalog: Catalog,
        serving: Callable[[], IndexHandle],
        timeout_s: float,
        lost: Callable[[str], None],
        words_are_near: bool = False,
    ) -> None:
        """``lost`` is called with the name of a leg whose store turns out to be damaged.

        ``words_are_near`` says that the keyword store is within this process, where nothing is waited for.
        """
        self._lost = lost
        self._words_are_near = words_are_near
        self._catalog = catalog
        self._serving = serving
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="evorag-leg")

    def retrieve(self, text: str, depth: int, scope: Scope) -> Retrieved:
        """Search both legs. A leg that fails keeps its error. Raises: ``StoreUnavailable`` when both have failed."""
        served = self._serving()
        pushed = self._pushed_down(scope)
        # Read before the stores: what ends while they are searched is told of all the same.
        indexing = self._catalog.indexing.awaited(scope.view, scope.doc_ids) if scope.lacks_vectors else None
        stores = _Stores(served, self._catalog.outbox.refills(served.number))
        started = time.perf_counter()
        deadline = time.monotonic() + self._timeout_s
        by_words = _Run(lambda limit: served.keywords.search(text, limit, scope.parts, pushed))
        vector_leg = self._threads.submit(self._vector_leg, served, text, depth, scope.parts, pushed)
        if self._words_are_near:
            # In a thread of its own it would take longer: half a millisecond, and as long to be handed there and back.
            keyword_run = by_words.deeper(depth)
            vector_run = self._result(vector_leg, deadline, "vector")
        else:
            keyword_leg = self._threads.submit(by_words.deeper, depth)
            vector_run = self._result(vector_leg, deadline, "vector")
            keyword_run = self._result(keyword_leg, deadline, "keyword")
        legs_ms = (time.perf_counter() - started) * 1000
        for name, run in (("vector", vector_run), ("keyword", keyword_run)):
            if run.is_lost:
                self._lost(name)
        started = time.perf_counter()
        placed: dict[int, PlacedChunk] = {}
        seen: set[int] = set()
        self._see((*vector_run.hits, *keyword_run.hits), scope, placed, seen)
        deepen = partial(self._deepen, stores, depth, scope, placed, seen, deadline)
        vector, keyword = deepen("vector", vector_run), deepen("keyword", keyword_run)
        if vector.error and keyword.error and not vector.hits and not keyword.hits:
            raise StoreUnavailable(
                "Neither the vector search nor the keyword search answers.", remedy=str(keyword.error["remedy"])
            )
        timings = {
            "embed_question": vector_run.embed_ms,
            "vector_search": vector_run.search_ms,
            "keyword_search": keyword_run.search_ms,
            "both_legs": legs_ms,
            "visibility": (time.perf_counter() - started) * 1000,
        }
        indexing = None if vector.error else indexing
        in_memory = served.vectors.in_memory
        return Retrieved(vector, keyword, placed, vector_run.vector, timings, served.embedder, in_memory, indexing)

    def unsearched(self, text: str) -> Retrieved:
        """Return what a question has without any search: its vector, and what embedded it."""
        served = self._serving()
        vector = None
        with suppress(EvoRAGError):
            vector = served.questions.embed_query(text)
        in_memory = served.vectors.in_memory
        return Retrieved(Leg("vector", ""), Leg("keyword", ""), {}, vector, {}, served.embedder, in_memory)

    def _pushed_down(self, scope: Scope) -> Sequence[int] | None:
        """Return the documents that the indexes are told to search; None: all.

        Other people's private documents must not crowd out what somebody sees, nor tell by the time this takes.
        """
        if scope.doc_ids is None:
            return self._catalog.visibility.searched(scope.view, _MOST_PUSHED_DOWN)
        return scope.doc_ids if len(scope.doc_ids) <= _MOST_PUSHED_DOWN else None

    # ---- one leg

    @staticmethod
    def _vector_leg(
        served: IndexHandle, text: str, depth: int, parts: Sequence[Part], doc_ids: Sequence[int] | None
    ) -> _Run:
        started = time.perf_counter()
        try:
            vector = served.questions.embed_query(text)
        except EvoRAGError as error:
            return _Run(error=error.as_dict())
        embed_ms = (time.perf_counter() - started) * 1000
        # Only now: at a start they are taken into memory while the first question waits for the model.
        is_whole = served.vectors.is_loaded(parts)

        def search(limit: int) -> list[IndexHit]:
            return served.vectors.search(vector, limit, parts, doc_ids)

        return _Run(search, vector=vector, embed_ms=embed_ms, is_whole=is_whole).deeper(depth)

    def _deeper(self, run: _Run, limit: int, deadline: float, name: str) -> _Run:
        if time.monotonic() >= deadline:
            return run.late(name)
        return self._result(self._threads.submit(run.deeper, limit), deadline, name, run)

    @staticmethod
    def _result(leg: Future[_Run], deadline: float, name: str, before: _Run | None = None) -> _Run:
        """Return the leg, or at the deadline what it had given ``before``, with an error."""
        try:
            return leg.result(timeout=max(deadline - time.monotonic(), 0.0))
        except FutureTimeout:
            leg.cancel()
            return (before or _Run()).late(name)

    # ---- visibility

    def _see(self, hits: Sequence[IndexHit], scope: Scope, placed: dict[int, PlacedChunk], seen: set[int]) -> None:
        unseen = {hit.chunk_id for hit in hits} - seen
        seen |= unseen
        allowed = None if scope.doc_ids is None else set(scope.doc_ids)
        for chunk_id, chunk in self._catalog.visibility.visible(unseen, scope.view).items():
            if allowed is None or chunk.doc_id in allowed:
                placed[chunk_id] = chunk

    def _deepen(
        self,
        stores: _Stores,
        depth: int,
        scope: Scope,
        placed: dict[int, PlacedChunk],
        seen: set[int],
        deadline: float,
        name: str,
        run: _Run,
    ) -> Leg:
        """Read the leg deeper until ``depth`` hits are visible or it gives no more; return the visible ones.

        At the deadline the leg is what it has given until then, with an error.
        """
        served = stores.served
        engine = served.keywords.engine if name == "keyword" else served.vectors.engine_for(scope.parts)
        rounds = 0
        while rounds < _ROUNDS and run.is_short(depth, placed):
            run = self._deeper(run, run.limit * _DEEPER, deadline, name)
            self._see(run.hits, scope, placed, seen)
            rounds += 1
        read, hidden = self._counted(run.hits, placed.keys(), depth, scope)
        if run.is_short(depth, placed):
            if run.vector is not None:
                run, engine = self._exactly(served.embedder.id, run, run.vector, depth, scope), EXACT
            else:
                run = self._deeper(run, _ALL, deadline, name)
                shown = self._catalog.visibility.chunk_ids(scope.view, scope.doc_ids)
                read, hidden = self._counted(run.hits, shown, depth, scope)
                run = replace(run, hits=tuple(hit for hit in run.hits if hit.chunk_id in shown))
            self._see(run.hits[:depth], scope, placed, seen)
        visible = tuple(hit for hit in run.hits if hit.chunk_id in placed)
        return Leg(
            name=name,
            engine=engine,
            hits=visible[:depth],
            read=read,
            hidden=hidden,
            duration_ms=run.search_ms,
            error=run.error,
            refilling=None
            if run.error or run.is_whole or engine == EXACT
            else self._refilling(name, stores, not run.hits),
        )

    def _refilling(self, name: str, stores: _Stores, is_empty: bool) -> Refilling | None:
        """Tell whether the store that a leg searched is being refilled; an empty leg is looked into."""
        refill = before = stores.refills.get(name)
        is_short = before is not None and before.waiting > 0
        if is_empty and not is_short:
            refill = self._catalog.outbox.refills(stores.served.number).get(name)
            is_short = refill != before or self._has_lost_all(name, stores.served)
        if not is_short:
            return None
        if refill is None or not sees_all(current()):
            return Refilling()
        return Refilling(refill.rows - refill.waiting, refill.rows)

    def _has_lost_all(self, name: str, served: IndexHandle) -> bool:
        """Tell whether a store is empty although it was told of rows: nobody has looked at it yet."""
        store = served.vectors if name == "vector" else served.keywords
        try:
            is_empty = not sum(store.count().values())
        except EvoRAGError:
            return False
        # A store counts at once; to ask the catalogue costs as much as there is.
        return is_empty and self._catalog.outbox.is_lacking(name)

    def _counted(self, hits: Sequence[IndexHit], shown: Collection[int], depth: int, scope: Scope) -> tuple[int, int]:
        """Return how many hits a leg gave and how many of them are not visible, without other people's private ones."""
        foreign = self._catalog.visibility.foreign({hit.chunk_id for hit in hits} - set(shown), scope.view)
        visible = [hit.chunk_id in shown for hit in hits if hit.chunk_id not in foreign]
        if foreign:
            # How deep the leg was read because of them is not told either.
            ends = [place for place, is_visible in enumerate(visible, 1) if is_visible]
            visible = visible[: ends[depth - 1]] if len(ends) >= depth else visible
        return len(visible), visible.count(False)

    def _exactly(self, model: str, run: _Run, vector: Vector, depth: int, scope: Scope) -> _Run:
        """Return the nearest of all that is visible, computed from the catalogue's embeddings."""
        started = time.perf_counter()
        shown = self._catalog.visibility.vectors(scope.view, model, scope.doc_ids)
        hits = tuple(nearest(vector, shown, depth))
        return replace(run, hits=hits, search_ms=run.search_ms + (time.perf_counter() - started) * 1000)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Stores:
    """The generation that is searched, and what its stores lacked when the search began."""

    served: IndexHandle
    refills: Mapping[str, Refill]


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
    is_whole: bool = False
    """Whether memory was searched, which lacks nothing."""
    is_lost: bool = False
    """Whether the store is damaged, and has to be written anew."""

    def is_short(self, depth: int, placed: Mapping[int, PlacedChunk]) -> bool:
        """Tell whether fewer than ``depth`` hits are visible although the store has more."""
        if self.search is None or self.error or len(self.hits) < self.limit:
            return False
        return sum(hit.chunk_id in placed for hit in self.hits) < depth

    def late(self, name: str) -> _Run:
        return replace(self, error=StoreUnavailable(f"The {name} search did not answer in time.").as_dict())

    def deeper(self, limit: int) -> _Run:
        """Return the leg read up to ``limit`` hits; where the store fails, what it gave before with the error."""
        assert self.search is not None
        started = time.perf_counter()
        error: Mapping[str, Any] | None = None
        is_lost = False
        try:
            hits = tuple(self.search(limit))
        except EvoRAGError as failed:
            hits, error, is_lost = self.hits, failed.as_dict(), isinstance(failed, IndexLost)
        spent_ms = (time.perf_counter() - started) * 1000
        spent_ms += self.search_ms
        return replace(self, hits=hits, limit=limit, search_ms=spent_ms, error=error, is_lost=is_lost)
