"""Orders the first fused candidates anew, and keeps with each what moved it: the parts of its score, its fused rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import EvoRAGError, ModelUnavailable
from core.model import Hit, Reranking, RerankScore
from core.ports import Reranker, Vector
from core.query.answer.question_profile import read_question
from core.query.search.cosines import cosines_of
from core.query.search.features import (
    looked_for,
    nearness_across,
    scaled,
    text_features,
)
from core.query.search.fuse import cosine
from core.query.search.recency import recency
from core.query.search.retrieve import InMemory

if TYPE_CHECKING:
    from core.catalog import Catalog

Parts = Sequence[Mapping[str, float]]
OpenReranker = Callable[[], Reranker]


@dataclass(frozen=True, slots=True)
class Ordering:
    """How to order: the method, its share of the cosine, how many candidates, and whether newer ones count for more."""

    method: str = "none"
    alpha: float = 0.4
    depth: int = 30
    recency: bool = False
    asked_at: datetime | None = None

    @property
    def does_nothing(self) -> bool:
        return self.method == "none" and not self.recency


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """The question as reranking reads it; ``vector`` is None where the vector leg failed."""

    text: str
    vector: Vector | None
    depth: int
    """How many hits each leg was asked for."""
    model: str
    """The id of the space that ``vector`` is in."""
    in_memory: InMemory = lambda chunk_ids: {}
    """Gives the vectors of chunks in that space that need not be read from the catalogue."""


class RerankStage:
    """Scores by the legs, by light features, or by a cross-encoder, which is opened when it is first wanted."""

    def __init__(self, catalog: Catalog, open_cross: OpenReranker) -> None:
        self._catalog = catalog
        self._open_cross = open_cross

    def order(
        self, candidates: Sequence[Hit], request: RerankRequest, ordering: Ordering
    ) -> tuple[list[Hit], Reranking]:
        """Return all candidates with the first ``ordering.depth`` of them in their new order, and what was done.

        A method that fails leaves the fused order and tells its error.
        """
        first = list(candidates[: ordering.depth])
        weights: Mapping[str, float] = {}
        error: Mapping[str, Any] | None = None
        parts: Parts = [{"fused": hit.score} for hit in first]
        try:
            weights, parts = self._parts(first, candidates, request, ordering)
        except EvoRAGError as failed:
            error = failed.as_dict()
        newness = self._recency(first, ordering)
        scored = [
            (-(sum(own.values()) * new), hit.rank, hit, own, new)
            for hit, own, new in zip(first, parts, newness, strict=True)
        ]
        scored.sort(key=itemgetter(0, 1))
        hits = [
            Hit(
                rank,
                hit.placed,
                hit.score,
                hit.vector,
                hit.keyword,
                hit.merged,
                RerankScore(hit.rank, -score, own, new),
            )
            for rank, (score, _, hit, own, new) in enumerate(scored, 1)
        ]
        hits += [hit.at(rank) for rank, hit in enumerate(candidates[len(first) :], len(first) + 1)]
        return hits, Reranking(ordering.method, weights, len(first), ordering.recency, error)

    def _parts(
        self, first: Sequence[Hit], candidates: Sequence[Hit], request: RerankRequest, ordering: Ordering
    ) -> tuple[Mapping[str, float], Parts]:
        if ordering.method == "cross":
            return {"cross": 1.0}, [{"cross": score} for score in self._cross(request.text, first)]
        if ordering.method == "mix":
            weights: Mapping[str, float] = {"bm25": 1.0 - ordering.alpha, "cosine": ordering.alpha}
            cosines = self._cosines(first, candidates, request)
            features: Parts = _leg_features(first, candidates, cosines, request.depth)
        elif ordering.method == "features":
            weights = cosines_of(request.model).weights
            features = self.features(first, candidates, request)
        else:
            return {"fused": 1.0}, [{"fused": hit.score} for hit in first]
        # Added to zero, since a weight below it makes -0.0 of a feature that a passage has not.
        return weights, [{name: weight * own[name] + 0.0 for name, weight in weights.items()} for own in features]

    def features(
        self, first: Sequence[Hit], candidates: Sequence[Hit], request: RerankRequest
    ) -> list[dict[str, float]]:
        """Return all features of the first candidates; the others only add statistics of the question's terms."""
        looked = looked_for(read_question(request.text, candidates))
        cosines = self._cosines(first, candidates, request)
        legs = _leg_features(first, candidates, cosines, request.depth)
        said = [text_features(looked, hit) for hit in first]
        least = cosines_of(request.model).least_across
        near = [leg["cosine"] * (value > least) for leg, value in zip(legs, cosines, strict=True)]
        across = nearness_across(looked, first, near, [own["coverage"] for own in said])
        return [{**leg, **own, "across": far} for leg, own, far in zip(legs, said, across, strict=True)]

    def _cosines(self, first: Sequence[Hit], candidates: Sequence[Hit], request: RerankRequest) -> list[float]:
        """Return how near each hit is; one that the vector leg did not give has the cosine of its stored vector."""
        question = request.vector
        others = [] if question is None else [hit.placed for hit in first if hit.vector is None]
        vectors = dict(request.in_memory([placed.id for placed in others]))
        if missing := [placed for placed in others if placed.id not in vectors]:
            hashes = {placed.content_hash for placed in missing}
            stored = self._catalog.embeddings.of_hashes(hashes, request.model)
            vectors |= {placed.id: stored[hash_] for placed in missing if (hash_ := placed.content_hash) in stored}
        least = min((cosine(hit.vector.score) for hit in candidates if hit.vector), default=0.0)
        found = []
        for hit in first:
            if hit.vector is not None:
                found.append(cosine(hit.vector.score))
            elif question is not None and (vector := vectors.get(hit.placed.id)) is not None:
                found.append(float(np.dot(vector, question)))
            else:
                found.append(least)
        return found

    def _cross(self, question: str, first: Sequence[Hit]) -> list[float]:
        passages = [hit.placed.chunk.indexed_text(hit.placed.title) for hit in first]
        scores = [float(score) for score in self._open_cross().score(question, passages)] if passages else []
        if not np.isfinite(scores).all():
            raise ModelUnavailable("The cross-encoder gave scores that are no numbers.")
        return scores if min(scores, default=0.0) >= 0 else scaled(scores)

    def _recency(self, first: Sequence[Hit], ordering: Ordering) -> list[float]:
        if not ordering.recency or ordering.asked_at is None:
            return [1.0] * len(first)
        shown = [(hit.placed.doc_id, hit.placed.version) for hit in first]
        dated = self._catalog.naming.dated(set(shown))
        return [recency(dated.get(each), ordering.asked_at) for each in shown]


def _leg_features(
    first: Sequence[Hit], candidates: Sequence[Hit], cosines: Sequence[float], depth: int
) -> list[dict[str, float]]:
    """Return both legs' scores, each from 0 to 1 over the first candidates.

    One that the keyword leg did not give has no score there, or at most that of its last hit where the leg had more
    than was asked for.
    """
    by_words = [hit.keyword.score for hit in candidates if hit.keyword]
    least = min(by_words) if len(by_words) >= depth else 0.0
    bm25 = scaled([hit.keyword.score if hit.keyword else least for hit in first])
    return [{"bm25": words, "cosine": near} for words, near in zip(bm25, scaled(cosines), strict=True)]
