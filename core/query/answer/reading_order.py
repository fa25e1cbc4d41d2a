"""Orders the passages that a search found by what a reader makes of them, and keeps what was read for the answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from core.model import Hit, Query, RerankScore
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.reading import READ_LANGUAGES, ReadingStage, ReadWindow
from core.query.search.features import passage_language
from core.query.search.fuse import choose
from core.query.search.search import SearchResult, limit_per_document
from core.text.analysis import analyse

READER_PART = "reader"
READER_WEIGHT = 1.3
"""Of a passage's relevance, 1 for the best, beside the parts of its reranking."""
READ_DEPTH = 20
"""Passages of which something is read."""
MOST_FOREIGN = 6
"""More of them in another language than the question's, of documents that it names."""
_NO_WORD = re.compile(r"[\W_]+")
_RANGE = 16.0
"""A relevance so far below the best of a question counts nothing; what it is itself says nothing, it has no zero."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A search in the order of the reader, and the windows that were read for it."""

    found: SearchResult
    windows: Sequence[ReadWindow] = ()


def in_order_of_reading(question: str, found: SearchResult, stage: ReadingStage, query: Query) -> ReadResult:
    """Read the first passages, and order those that reranking ordered anew.

    Each part is kept with its hit. Passages that were not read count as much as the worst that was. Without reranking
    the order stays; where the reader fails, and in languages that it does not read, all stays.
    """
    profile = read_question(question, found.candidates)
    if not profile.weights or profile.language not in READ_LANGUAGES:
        return ReadResult(found)
    windows = stage.read_in_order(question, *to_read(profile, found.candidates))
    reranking = found.reranking
    if not windows or reranking is None or reranking.error is not None:
        return ReadResult(found, windows)
    candidates = ordered(found.candidates, windows)
    reranking = replace(reranking, weights={**reranking.weights, READER_PART: READER_WEIGHT})
    hits = choose(candidates, query.top_k, limit_per_document(query, found.scope))
    return ReadResult(replace(found, candidates=candidates, hits=hits, reranking=reranking), windows)


def to_read(profile: QuestionProfile, hits: Sequence[Hit]) -> tuple[list[Candidate], list[Candidate]]:
    """Return the sentences of the first passages, and those of further ones in another language.

    Of a passage in another language only its vector tells, which the other parts of the order drown. Those of documents
    that the question names are read as the vector leg ranked them.
    """
    near = sorted(
        (hit for hit in hits[READ_DEPTH:] if hit.vector), key=lambda hit: hit.vector.rank if hit.vector else 0
    )
    named = (
        hit for hit in near if _is_named(profile, hit) and passage_language(hit.placed.chunk.text) != profile.language
    )
    return find_candidates(profile, hits[:READ_DEPTH]), find_candidates(profile, list(islice(named, MOST_FOREIGN)))


def _is_named(profile: QuestionProfile, hit: Hit) -> bool:
    name = f"{hit.placed.title} {hit.placed.name}"
    return not profile.weights.keys().isdisjoint(analyse(_NO_WORD.sub(" ", name), profile.language))


def ordered(candidates: Sequence[Hit], windows: Sequence[ReadWindow], weight: float = READER_WEIGHT) -> list[Hit]:
    """Return the candidates in their new order; those that reranking left stay behind, unless they were read.

    What these have is what the reader made of them: nothing else was measured.
    """
    relevance: dict[int, float] = {}
    for one in windows:
        passage = one.window.candidates[0].hit.placed.id
        relevance[passage] = max(one.reading.relevance, relevance.get(passage, -math.inf))
    unread, best = min(relevance.values()), max(relevance.values())
    scored, others = [], []
    for hit in candidates:
        if hit.rerank is None and hit.placed.id not in relevance:
            others.append(hit)
            continue
        before = hit.rerank or RerankScore(hit.rank, 0.0)
        part = weight * _scaled(relevance.get(hit.placed.id, unread) - best)
        parts = {**before.parts, READER_PART: part}
        score = sum(parts.values()) * before.recency
        scored.append(replace(hit, rerank=replace(before, score=score, parts=parts)))
    scored.sort(key=lambda hit: (-hit.rerank.score if hit.rerank else 0.0, hit.rank))
    return [hit.at(rank) for rank, hit in enumerate([*scored, *others], 1)]


def _scaled(below_best: float) -> float:
    return max(0.0, 1 + below_best / _RANGE)
