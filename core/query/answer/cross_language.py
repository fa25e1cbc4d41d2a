"""Answers across languages: no word is shared, so the passages' and sentences' vectors decide alone.

Taken when the words of the question support no answer and the nearest passages are in another language. The gap between
the nearest passage and those further down tells a found answer from nearest neighbours of nothing: on 44 translated
questions it is .059 on average with the answering passage and .040 without, and .012 to .051 for nonsense and questions
about something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from core.model import Hit
from core.ports import Vector
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.trim_clauses import softmax
from core.query.search.cosines import Cosines
from core.text.languages import language_of

Embed = Callable[[Sequence[str]], Vector]

_FURTHER_DOWN = slice(5, 30)
_LEAST_BACKGROUND = 5
_PASSAGES = 2
_MOST_SENTENCES = 10
_MOST_CHARS = 240


def foreign_passages(profile: QuestionProfile, passages: Sequence[Hit]) -> list[Hit]:
    """Return the passages nearest by vector that are in another language than the question, nearest first."""
    near = [hit for hit in passages if hit.vector and language_of(hit.placed.chunk.text) != profile.language]
    return sorted(near, key=_vector_rank)[:_PASSAGES]


def gap_confidence(foreign: Sequence[Hit], hits: Sequence[Hit], cosines: Cosines) -> float:
    """Return how likely the nearest foreign passage answers, 0 to 1; 0 when there are too few hits to tell."""
    ranked = sorted((hit for hit in hits if hit.vector), key=_vector_rank)
    background = [_cosine(hit) for hit in ranked[_FURTHER_DOWN]]
    if not foreign or len(background) < _LEAST_BACKGROUND:
        return 0.0
    gap = _cosine(foreign[0]) - sum(background) / len(background)
    return 1 / (1 + math.exp(-cosines.steepness * (gap - cosines.even_gap)))


def nearest_sentences(
    profile: QuestionProfile, foreign: Sequence[Hit], embed: Embed, question_vector: Vector, cosines: Cosines
) -> list[Candidate]:
    """Return the first sentences of the passages with chances by their cosine. Raises: ``ModelUnavailable``."""
    found = find_candidates(profile, foreign)[:_MOST_SENTENCES]
    if not found:
        return []
    vectors = embed([candidate.text[:_MOST_CHARS] for candidate in found])
    chances = softmax([cosines.sharpness * float(value) for value in np.asarray(vectors) @ question_vector])
    return [replace(candidate, chance=chance) for candidate, chance in zip(found, chances, strict=True)]


def _vector_rank(hit: Hit) -> int:
    return hit.vector.rank if hit.vector else 0


def _cosine(hit: Hit) -> float:
    return 1 - hit.vector.score**2 / 2 if hit.vector else 0.0
