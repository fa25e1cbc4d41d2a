"""Where a passage stands in each search, however deep: its exact distance and its BM25, and how many stand before it.

A passage that the question may not see has the rank that it would have; of one that is not shown, BM25 counts with the
statistics of history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from core.indexes.active import IndexHandle
from core.model import IndexHit, LegPlace, Part, PlacedChunk, Trace
from core.ports import Vector
from core.query.search.fuse import fuse
from core.query.search.retrieve import Scope

if TYPE_CHECKING:
    from core.catalog import Catalog

ALL = 10_000_000
_FIRST_READ = 500
_DEEPER = 8
_MOST_PUSHED_DOWN = 2_000
_SAME_DISTANCE = 6
_BOTH = (Part.HEAD, Part.HISTORY)


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question that was searched: its trace, its words as they were searched, and what it may see."""

    trace: Trace
    text: str
    scope: Scope


class Ranks:
    """Looks passages up in both searches, without limit."""

    def __init__(self, catalog: Catalog, serving: Callable[[], IndexHandle]) -> None:
        self._catalog = catalog
        self._serving = serving

    def best_position(self, ranked: RankedQuestion, version_id: int, doc_id: int) -> int | None:
        """Return the position of the version's passage that stands best, as far as one search tells; None for none."""
        positions = self._positions(version_id)
        for hit in ranked.trace.candidates:
            for chunk_id in (hit.placed.id, *hit.merged):
                if chunk_id in positions:
                    return positions[chunk_id]
        near: list[IndexHit] = []
        served = self._serving()
        if ranked.trace.vector.error is None:
            question = served.questions.embed_query(ranked.text)
            rows = self._catalog.embeddings.of_version(version_id, served.embedder.id)
            near = sorted(
                (IndexHit(chunk_id, _distance(question, vector)) for chunk_id, _, vector in rows),
                key=lambda hit: (hit.score, positions[hit.chunk_id]),
            )
        worded = served.keywords.search(ranked.text, ALL, _BOTH, [doc_id])
        fused = fuse(near, [hit for hit in worded if hit.chunk_id in positions])
        return positions[fused[0].chunk_id] if fused else min(positions.values(), default=None)

    def _positions(self, version_id: int) -> dict[int, int]:
        ids = self._catalog.chunks.placed_ids(version_id, ALL)
        found: dict[int, int] = {}
        for position, chunk_id in enumerate(ids):
            found.setdefault(chunk_id, position)
        return found

    def of(self, ranked: RankedQuestion, placed: PlacedChunk) -> tuple[LegPlace, LegPlace]:
        """Return the passage's places by meaning and by words; of what a filter leaves out, those without filters."""
        doc_ids = ranked.scope.doc_ids
        is_filtered = doc_ids is not None and placed.doc_id not in doc_ids
        freely = replace(ranked, scope=replace(ranked.scope, doc_ids=None)) if is_filtered else ranked
        places = (
            self._by_meaning(freely, placed.id, placed.content_hash),
            self._by_words(freely, placed.id, placed.doc_id),
        )
        if is_filtered:
            return replace(places[0], depth_needed=None), replace(places[1], depth_needed=None)
        return places

    def _by_meaning(self, ranked: RankedQuestion, chunk_id: int, content_hash: bytes) -> LegPlace:
        """Return the passage's place among all vectors that the question may see; distances are Euclidean."""
        served = self._serving()
        own = self._catalog.embeddings.of_hashes([content_hash], served.embedder.id).get(content_hash)
        if own is None or ranked.trace.vector.error is not None:
            return LegPlace(None, None, 0, None)
        question = served.questions.embed_query(ranked.text)
        distance, before, of, is_seen = _distance(question, own), 0, 0, False
        rounded = round(distance, _SAME_DISTANCE)
        for ids, vectors in self._catalog.visibility.vectors(
            ranked.scope.view, served.embedder.id, ranked.scope.doc_ids
        ):
            distances = np.linalg.norm(vectors - question, axis=1).round(_SAME_DISTANCE)
            known = np.asarray(ids, dtype=np.int64)
            others = known != chunk_id
            closer = (distances < rounded) | ((distances == rounded) & (known < chunk_id))
            before += int(np.count_nonzero(closer & others))
            of += len(ids)
            is_seen = is_seen or not bool(others.all())
        rank = before + 1
        return _place(rank, distance, of, ranked.trace.vector.hits, chunk_id, is_seen=is_seen)

    def _by_words(self, ranked: RankedQuestion, chunk_id: int, doc_id: int) -> LegPlace:
        """Return the passage's place among all rows with a word of the question that it may see."""
        if ranked.trace.keyword.error is not None:
            return LegPlace(None, None, 0, None)
        scope, keywords = ranked.scope, self._serving().keywords
        shown = self._catalog.visibility.chunk_ids(scope.view, scope.doc_ids)
        parts = scope.parts if chunk_id in shown else _BOTH
        own = next(
            (hit for hit in keywords.search(ranked.text, ALL, parts, [doc_id]) if hit.chunk_id == chunk_id), None
        )
        if own is None:
            return LegPlace(None, None, len(shown), None)
        pushed = self._pushed_down(scope)
        limit, before = _FIRST_READ, 0
        while True:
            hits = keywords.search(ranked.text, limit, scope.parts, pushed)
            ahead = [hit for hit in hits if _stands_before(hit, own)]
            before = sum(hit.chunk_id in shown for hit in ahead if hit.chunk_id != chunk_id)
            if len(hits) < limit or len(ahead) < len(hits):
                break
            limit *= _DEEPER
        is_seen = chunk_id in shown
        place = _place(before + 1, own.score, len(shown), ranked.trace.keyword.hits, chunk_id, is_seen=is_seen)
        return place if place.terms else replace(place, terms=own.terms)

    def _pushed_down(self, scope: Scope) -> Sequence[int] | None:
        if scope.doc_ids is None:
            return self._catalog.visibility.searched(scope.view, _MOST_PUSHED_DOWN)
        return scope.doc_ids if len(scope.doc_ids) <= _MOST_PUSHED_DOWN else None


def _place(rank: int, score: float, of: int, hits: Sequence[IndexHit], chunk_id: int, *, is_seen: bool) -> LegPlace:
    """Return a place; where the search has found the passage, what it said of it."""
    for found, hit in enumerate(hits, 1):
        if hit.chunk_id == chunk_id:
            return LegPlace(found, hit.score, of, found, hit.terms)
    return LegPlace(rank, score, of, rank if is_seen else None)


def _stands_before(hit: IndexHit, own: IndexHit) -> bool:
    return (-hit.score, hit.chunk_id) < (-own.score, own.chunk_id)


def _distance(question: Vector, vector: Vector) -> float:
    return float(np.linalg.norm(vector - question))
