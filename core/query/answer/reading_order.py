"""Orders the passages that a search found by what a reader makes of them, and keeps what was read for the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from core.model import Hit, Query, RerankScore
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.named_documents import named_documents, words_of_name
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.reading import READ_LANGUAGES, UNREAD, ReadingStage, ReadWindow, log_chance
from core.query.search.features import passage_language
from core.query.search.fuse import choose
from core.query.search.search import SearchResult, limit_per_document

READER_PART, DOCUMENT_PART = "reader", "document"
OF_READER = ("relevance", "share", "answers", "picked")
ORDER_WEIGHTS = {"relevance": 0.44, "share": 0.52, "answers": 0.53, "picked": 0.48, DOCUMENT_PART: 0.38}
"""Of what the reader made of a passage (``passage_features``), and of whether the question names its document
(``named_documents``), beside the parts of its reranking."""
READ_DEPTH = 20
"""Passages of which something is read."""
MOST_FOREIGN = 6
"""More of them in another language than the question's, of documents that it names."""
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
    candidates = ordered(found.candidates, windows, named_documents(profile, found.candidates))
    more = {
        READER_PART: sum(ORDER_WEIGHTS[name] for name in OF_READER),
        DOCUMENT_PART: ORDER_WEIGHTS[DOCUMENT_PART],
    }
    reranking = replace(reranking, weights={**reranking.weights, **more})
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
        hit
        for hit in near
        if not profile.weights.keys().isdisjoint(words_of_name(hit, profile.language))
        and passage_language(hit.placed.chunk.text) != profile.language
    )
    return find_candidates(profile, hits[:READ_DEPTH]), find_candidates(profile, list(islice(named, MOST_FOREIGN)))


def ordered(
    candidates: Sequence[Hit],
    windows: Sequence[ReadWindow],
    named: Mapping[str, float],
    weights: Mapping[str, float] = ORDER_WEIGHTS,
) -> list[Hit]:
    """Return the candidates in their new order; those that reranking left stay behind, unless they were read.

    What these have is what the reader made of them and how far the question names their document: nothing else was
    measured.
    """
    read = passage_features(windows)
    unread = least_features(read)
    scored, others = [], []
    for hit in candidates:
        if hit.rerank is None and hit.placed.id not in read:
            others.append(hit)
            continue
        before = hit.rerank or RerankScore(hit.rank, 0.0)
        own = read.get(hit.placed.id, unread)
        parts = {
            **before.parts,
            READER_PART: sum(weights[name] * own[name] for name in OF_READER),
            DOCUMENT_PART: weights[DOCUMENT_PART] * named.get(hit.placed.doc_key, 0.0),
        }
        score = sum(parts.values()) * before.recency
        scored.append(replace(hit, rerank=replace(before, score=score, parts=parts)))
    scored.sort(key=lambda hit: (-hit.rerank.score if hit.rerank else 0.0, hit.rank))
    return [hit.at(rank) for rank, hit in enumerate([*scored, *others], 1)]


def passage_features(windows: Sequence[ReadWindow]) -> dict[int, dict[str, float]]:
    """Return for each passage that was read, by its id, the most that its windows have of each, 0 to 1.

    ``relevance``: how far it is from the best of the question; ``share``: of the chance among all windows;
    ``answers``: how likely it answers at all; ``picked``: how likely a picker finds its sentences, by order.
    """
    best = max(one.reading.relevance for one in windows)
    found: dict[int, dict[str, float]] = {}
    for one in windows:
        picked = log_chance(sum(candidate.chance for candidate in one.window.candidates))
        features = {
            "relevance": _scaled(one.reading.relevance - best),
            "share": one.share,
            "answers": one.reading.answers,
            "picked": 1 - picked / UNREAD,
        }
        own = found.setdefault(one.window.candidates[0].hit.placed.id, features)
        own |= {name: max(value, features[name]) for name, value in own.items()}
    return found


def least_features(read: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    """Return what a passage counts with that was not read: the least of those that were."""
    return {name: min((own[name] for own in read.values()), default=0.0) for name in OF_READER}


def _scaled(below_best: float) -> float:
    return max(0.0, 1 + below_best / _RANGE)
