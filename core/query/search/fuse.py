"""Fusion: two rankings become one, and the arithmetic stays with every result.

Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", SIGIR 2009.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from core.errors import InvalidInput
from core.model import Hit, IndexHit, LegRank, PlacedChunk


@dataclass(frozen=True, slots=True)
class Fusion:
    """How to fuse: ``rrf`` with its constant and weights, or ``mix`` = ``(1 − alpha)·bm25 + alpha·(cos + 1)/2``."""

    method: str = "rrf"
    k: int = 60
    vector_weight: float = 1.0
    keyword_weight: float = 1.0
    alpha: float = 0.5


@dataclass(frozen=True, slots=True)
class Fused:
    """One chunk with its place in each leg; ``score`` is the sum of the two contributions."""

    chunk_id: int
    score: float
    vector: LegRank | None
    keyword: LegRank | None


def cosine(distance: float) -> float:
    """Return the cosine of two unit vectors from their L2 distance."""
    return 1.0 - distance * distance / 2.0


def fuse(vector: Sequence[IndexHit], keyword: Sequence[IndexHit], fusion: Fusion = Fusion()) -> list[Fused]:
    """Return every chunk of either leg, best first; where a mix gives one leg no share, those of the other alone.

    Ties go to the better single rank, then to the better keyword rank, then to the smaller id: two chunks that the
    legs rank the other way round have the same score, and there the words decide better than chance.
    """
    best_bm25 = max((hit.score for hit in keyword), default=1.0) or 1.0
    by_vector = {
        hit.chunk_id: LegRank(rank, hit.score, _vector_part(rank, hit.score, fusion), hit.terms)
        for rank, hit in enumerate(vector, 1)
    }
    by_keyword = {
        hit.chunk_id: LegRank(rank, hit.score, _keyword_part(rank, hit.score / best_bm25, fusion), hit.terms)
        for rank, hit in enumerate(keyword, 1)
    }
    ordered = []
    for chunk_id in by_vector | by_keyword:
        first, second = by_vector.get(chunk_id), by_keyword.get(chunk_id)
        score = (first.contribution if first else 0.0) + (second.contribution if second else 0.0)
        own, words = first.rank if first else inf, second.rank if second else inf
        ordered.append((-score, own if own < words else words, words, chunk_id, score, first, second))
    # No two have the same id, so that nothing behind it is compared.
    ordered.sort()
    fused = [Fused(chunk_id, score, first, second) for _, _, _, chunk_id, score, first, second in ordered]
    if fusion.method == "mix" and fusion.alpha in (0.0, 1.0):
        return [item for item in fused if (item.vector if fusion.alpha else item.keyword) is not None]
    return fused


def _vector_part(rank: int, distance: float, fusion: Fusion) -> float:
    if fusion.method == "rrf":
        return fusion.vector_weight / (fusion.k + rank)
    if fusion.method == "mix":
        return fusion.alpha * (cosine(distance) + 1.0) / 2.0
    raise InvalidInput(f"There is no fusion named {fusion.method[:32]!r}.", remedy="Choose rrf or mix.")


def _keyword_part(rank: int, normalised: float, fusion: Fusion) -> float:
    if fusion.method == "rrf":
        return fusion.keyword_weight / (fusion.k + rank)
    return (1.0 - fusion.alpha) * normalised


def merge_identical(fused: Sequence[Fused], placed: Mapping[int, PlacedChunk]) -> list[Hit]:
    """Return the hits with identical passages merged into the best of them, ranked from 1.

    Those of one document together tell which versions hold the passage: another title makes it another chunk.
    """
    hits: list[Hit] = []
    at: dict[tuple[str, str], int] = {}
    for item in fused:
        chunk = placed[item.chunk_id]
        passage = (chunk.chunk.header, chunk.chunk.text)
        if passage in at:
            best = hits[at[passage]]
            same = best.placed
            if chunk.doc_id == same.doc_id and chunk.versions:
                same = replace(same, versions=tuple(sorted({*same.versions, *chunk.versions})))
            hits[at[passage]] = replace(best, placed=same, merged=(*best.merged, item.chunk_id))
            continue
        at[passage] = len(hits)
        hits.append(Hit(len(hits) + 1, chunk, item.score, item.vector, item.keyword))
    return hits


def choose(candidates: Sequence[Hit], top_k: int, per_document: int) -> list[Hit]:
    """Return the first ``top_k`` hits with at most ``per_document`` of one document (0: without that limit)."""
    chosen: list[Hit] = []
    taken: dict[int, int] = {}
    for hit in candidates:
        if len(chosen) == top_k:
            break
        doc_id = hit.placed.doc_id
        if per_document and taken.get(doc_id, 0) >= per_document:
            continue
        taken[doc_id] = taken.get(doc_id, 0) + 1
        chosen.append(hit)
    return chosen
