"""How likely the passages answer a question at all, from what the picked sentence shares with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.model import Hit
from core.query.answer.candidates import Candidate, passage_terms
from core.query.answer.named_labels import SURE, written_names
from core.query.answer.question_profile import QuestionProfile
from core.text.analysis import analyse

CONFIDENCE_WEIGHTS = {"passage": 3.93, "coverage": 0.99, "around": 2.41, "pairs": 4.13}
CONFIDENCE_BIAS = -6.82
NAMED_WEIGHT = 2.0
"""Set, not fitted: for an answer that stands under the very name that the question holds."""


def confidence_features(profile: QuestionProfile, best: Candidate, passages: Sequence[Hit] = ()) -> dict[str, float]:
    """Return how much of the question the best sentence, its neighbours and its passage hold, each 0 to 1.

    What other passages of the same document hold counts for the passage: a rule about journeys says "journey" in its
    first section and the amount in its fourth.
    """
    document = best.hit.placed.doc_id
    beside = (passage_terms(hit, profile.language) for hit in passages if hit.placed.doc_id == document)
    return {
        "passage": profile.coverage(passage_terms(best.hit, profile.language).union(*beside)),
        **{name: best.features[name] for name in ("coverage", "around", "pairs")},
    }


def about_features(profile: QuestionProfile, best: Candidate) -> dict[str, float]:
    """Return whether the best sentence's passage is about what is asked, each 0 to 1.

    ``foreign_names``: how many of the names in the question, Latin words in a Japanese one, neither its text nor its
    title nor the name of its file holds; ``rarest``: whether they hold the rarest term of the question.
    """
    placed = best.hit.placed
    held = passage_terms(best.hit, profile.language) | frozenset(analyse(placed.name, profile.language))
    text = f"{placed.chunk.indexed_text(placed.title)} {placed.name}".casefold()
    names = written_names(profile.text)
    rarest = max(profile.weights, key=lambda term: profile.weights[term])
    return {
        "foreign_names": sum(name not in text for name in names) / len(names) if names else 0.0,
        "rarest": float(rarest in held),
    }


def confidence(profile: QuestionProfile, best: Candidate, passages: Sequence[Hit] = ()) -> float:
    """Return how likely the passages answer at all, 0 to 1."""
    features = confidence_features(profile, best, passages)
    score = CONFIDENCE_BIAS + sum(CONFIDENCE_WEIGHTS[name] * value for name, value in features.items())
    score += NAMED_WEIGHT * (best.features["named"] == SURE)
    return 1 / (1 + math.exp(-score))
