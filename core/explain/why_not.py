"""Why a passage was not found, or not higher: the question is asked once, and the passage is looked for behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from core.catalog.documents.isolation import viewer
from core.errors import NO_SUCH_VERSION, Conflict, NotFound, Purged
from core.explain.advice import Adviser
from core.explain.exclusions import Case, obstacle_of
from core.explain.ranks import RankedQuestion, Ranks
from core.explain.terms import shared
from core.indexes.active import IndexHandle
from core.indexes.active_vocabulary import words_of
from core.model import Hit, PlacedChunk, Query, Trace, Version, VersionRef, WhyNot
from core.query.search.term_statistics import without_statistics

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.query.pipeline import QueryPipeline


class WhyNots:
    """Explains passages; what the asker does not see is not found."""

    def __init__(self, catalog: Catalog, queries: QueryPipeline, serving: Callable[[], IndexHandle]) -> None:
        self._catalog = catalog
        self._queries = queries
        self._ranks = Ranks(catalog, serving)
        self._adviser = Adviser(queries, serving)

    def explain(self, query: Query, doc_key: str, position: int | None, version: int | None) -> WhyNot:
        """Return the account of one passage. Raises: ``NotFound``, ``Purged``; ``Conflict`` while it has no text."""
        doc_id = self._catalog.documents.id_of(doc_key)
        trace = self._queries.run(query, answering=False, reading=True)
        ranked = RankedQuestion(
            trace, trace.analysis.searched or trace.analysis.normalised, self._queries.scope_of(trace)
        )
        chosen = self._version(ranked, doc_id, doc_key, version)
        if position is None:
            position = self._ranks.best_position(ranked, chosen.id, doc_id)
        placed = self._passage(doc_key, chosen, position)
        case = Case(ranked, placed, chosen, *self._ranks.of(ranked, placed))
        found = obstacle_of(self._catalog, case)
        words = words_of(self._catalog.vocabulary.indexed())
        present, missing = shared(words, ranked.text, placed)
        hit = _hit(trace, placed.id)
        keyword = case.keyword
        if self._catalog.visibility.hides_from(viewer()):
            keyword = replace(keyword, terms=without_statistics(keyword.terms))
        return WhyNot(
            trace=trace,
            chunk_id=placed.id,
            doc_key=doc_key,
            version=chosen.number,
            position=placed.chunk.position,
            text=placed.chunk.text,
            obstacle=found.obstacle,
            obstacle_detail=found.detail,
            fused_rank=None if hit is None else hit.rerank.fused_rank if hit.rerank else hit.rank,
            final_rank=None if hit is None else hit.rank,
            vector=case.vector,
            keyword=keyword,
            missing_terms=missing,
            present_terms=present,
            advice=tuple(self._adviser.advise(case, found, words)),
        )

    def _version(self, ranked: RankedQuestion, doc_id: int, doc_key: str, number: int | None) -> Version:
        """Return the version that is meant: that number, else what the question sees, or is shown now, or is new."""
        kept = self._catalog.documents.versions(doc_id)
        if number is None:
            number = self._seen(ranked, doc_id, doc_key)
        if number is None:
            number = next((each.number for each in kept if each.is_published), None)
        if number is None:
            number = next((each.number for each in kept if each.chunk_count and each.state == "ready"), None)
        found = next((each for each in kept if each.number == number), None)
        if found is None:
            raise NotFound(f"“{doc_key}” has no version {number or 1}.", remedy=NO_SUCH_VERSION)
        if found.state == "purged":
            raise Purged(f"Version {found.number} of “{doc_key}” was purged.")
        if not found.chunk_count:
            raise Conflict(
                f"Version {found.number} of “{doc_key}” has no passages.", remedy="Wait until it is indexed."
            )
        return found

    def _seen(self, ranked: RankedQuestion, doc_id: int, doc_key: str) -> int | None:
        as_of = ranked.trace.query.as_of
        if isinstance(as_of, VersionRef) and as_of.doc_key == doc_key:
            return as_of.version
        before = (each for each in self._catalog.publications.of(doc_id) if each.seq <= ranked.trace.sequence)
        last = next(before, None)
        return last.version if last is not None else None

    def _passage(self, doc_key: str, version: Version, position: int | None) -> PlacedChunk:
        if position is not None:
            found = self._catalog.visibility.preview(doc_key, version.id, version.number, position, 1).chunks
            if found:
                return found[0]
        raise NotFound(f"Version {version.number} of “{doc_key}” has no passage {(position or 0) + 1}.")


def _hit(trace: Trace, chunk_id: int) -> Hit | None:
    return next((hit for hit in trace.candidates if hit.placed.id == chunk_id or chunk_id in hit.merged), None)
