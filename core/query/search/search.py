"""Finds passages: both legs, their fusion, the reranking of its candidates, and the choice of the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core.model import Analysis, Hit, Part, Query, Reranking
from core.platform import precedence
from core.query.search.fuse import Fusion, choose, fuse, merge_identical
from core.query.search.rerank import Ordering, RerankRequest, RerankStage
from core.query.search.retrieve import Retrieved, Retriever, Scope
from core.query.stopwatch import Stopwatch
from core.query.understand.advanced_syntax import is_met
from core.query.understand.validate import MOST_DEPTH
from core.settings import SearchSettings

BOTH = (Part.HEAD, Part.HISTORY)
_DEEPER = 8
"""How many times deeper the legs are read where demands of the advanced syntax leave too few passages."""

HasMovedSince = Callable[[int], bool]
"""Tells whether anything that was shown at a sequence number may stand in history by now."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: its legs, all candidates in their final order, and the hits that are shown."""

    retrieved: Retrieved
    scope: Scope
    candidates: Sequence[Hit]
    hits: Sequence[Hit]
    reranking: Reranking | None = None


def limit_per_document(query: Query, scope: Scope) -> int:
    """Return how many passages of a document a question may get; 0, no limit, where it is asked of one alone."""
    return 0 if scope.doc_ids is not None and len(scope.doc_ids) == 1 else query.per_document


class Searcher:
    def __init__(
        self, retriever: Retriever, stage: RerankStage, settings: SearchSettings, has_moved_since: HasMovedSince
    ) -> None:
        self._retriever = retriever
        self._stage = stage
        self._settings = settings
        self._has_moved_since = has_moved_since

    @precedence.asked()
    def search(self, query: Query, analysis: Analysis, scope: Scope, watch: Stopwatch) -> SearchResult:
        """Search the scope. Raises: ``StoreUnavailable`` where neither leg answers."""
        text = analysis.searched or analysis.normalised
        retrieved, scope = self._retrieve(text, query.depth, scope)
        watch.timings_ms.update(retrieved.timings_ms)
        candidates = self._fused(query, analysis, retrieved, watch)
        deeper = min(query.depth * _DEEPER, MOST_DEPTH)
        is_cut = max(len(retrieved.vector.hits), len(retrieved.keyword.hits)) >= query.depth
        if analysis.syntax is not None and len(candidates) < query.top_k and is_cut and deeper > query.depth:
            retrieved, scope = self._retrieve(text, deeper, scope)
            candidates = self._fused(query, analysis, retrieved, watch)
        candidates, reranking = self._reranked(query, text, candidates, retrieved, watch)
        hits = choose(candidates, query.top_k, limit_per_document(query, scope))
        return SearchResult(retrieved, scope, candidates, hits, reranking)

    def given(self, text: str, hits: Sequence[Hit], scope: Scope) -> SearchResult:
        """Return passages that somebody else has chosen, in their order, as what a search found."""
        return SearchResult(self._retriever.unsearched(text), scope, hits, hits)

    def _retrieve(self, text: str, depth: int, scope: Scope) -> tuple[Retrieved, Scope]:
        retrieved = self._retriever.retrieve(text, depth, scope)
        if scope.parts == (Part.HEAD,) and self._has_moved_since(scope.view.sequence):
            # Something was replaced while the legs searched: what this question may see can have moved to history.
            scope = replace(scope, parts=BOTH)
            retrieved = self._retriever.retrieve(text, depth, scope)
        return retrieved, scope

    def _fused(self, query: Query, analysis: Analysis, retrieved: Retrieved, watch: Stopwatch) -> Sequence[Hit]:
        with watch.step("fuse"):
            fused = fuse(retrieved.vector.hits, retrieved.keyword.hits, self._fusion(query))
            candidates = merge_identical(fused, retrieved.placed)
            syntax = analysis.syntax
            if syntax is None:
                return candidates
            met = [hit for hit in candidates if is_met(syntax, hit.placed)]
            return [hit.at(rank) for rank, hit in enumerate(met, 1)]

    def _reranked(
        self, query: Query, text: str, candidates: Sequence[Hit], retrieved: Retrieved, watch: Stopwatch
    ) -> tuple[Sequence[Hit], Reranking | None]:
        settings = self._settings
        ordering = Ordering(
            method=query.rerank or settings.rerank,
            alpha=settings.rerank_alpha,
            depth=settings.rerank_depth,
            recency=settings.recency if query.recency is None else query.recency,
            asked_at=datetime.now(UTC),
        )
        if ordering.does_nothing:
            return candidates, None
        depth = max(len(retrieved.vector.hits), len(retrieved.keyword.hits), query.depth)
        with watch.step("rerank"):
            vector, in_memory = retrieved.question_vector, retrieved.in_memory
            request = RerankRequest(text, vector, depth, retrieved.embedder.id, in_memory)
            return self._stage.order(candidates, request, ordering)

    def _fusion(self, query: Query) -> Fusion:
        return Fusion(
            method=query.fusion,
            k=self._settings.rrf_k,
            vector_weight=self._settings.vector_weight,
            keyword_weight=self._settings.keyword_weight,
            alpha=query.alpha,
        )
