"""Answers a question with the words of the passages: the sentence that answers, cut to what is needed, and its source.

Comes after fusion and needs no model within one language. A question that the passages do not seem to answer gets
``insufficient``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.model import Answer, AnswerType, Citation, Hit
from core.ports import Vector
from core.query.answer.candidates import Candidate, find_candidates, passage_terms
from core.query.answer.compose import AnswerPart, Composer
from core.query.answer.cross_language import Embed, foreign_passages, gap_confidence, nearest_sentences
from core.query.answer.escape import without_live_marks
from core.query.answer.named_labels import SURE
from core.query.answer.question_profile import QuestionProfile, is_small_talk, read_question
from core.text.languages import language_asked

DEFAULT_THRESHOLD = 0.2
"""Least confidence of an answer; chosen on half of the data as `benchmarks/answers.py` says."""

CONFIDENCE_WEIGHTS = {"passage": 3.93, "coverage": 0.99, "around": 2.41, "pairs": 4.13}
CONFIDENCE_BIAS = -6.82
NAMED_WEIGHT = 2.0
"""Set, not fitted: for an answer that stands under the very name that the question holds."""

INSUFFICIENT_TEXT = {
    "en": "There is not enough information in the documents to answer this.",
    "ja": "この質問に答えるための十分な情報が文書の中に見つかりませんでした。",
}

_PASSAGES = 5


def extract_answer(
    question: str,
    passages: Sequence[Hit],
    embed: Embed | None = None,
    *,
    question_vector: Vector | None = None,
    threshold: float | None = None,
    max_chars: int = 250,
    candidates: Sequence[Hit] = (),
) -> Answer:
    """Answer from the first passages with at most ``max_chars`` characters, marks included, or say "insufficient".

    ``candidates`` are all hits of the question; they only add statistics. ``embed`` and ``question_vector`` serve
    questions in another language than the passages. Reasons of an insufficient answer: ``small_talk``, ``no_terms``,
    ``no_passages`` and ``low_confidence``.
    """
    if is_small_talk(question):
        return insufficient(language_asked(question), "small_talk")
    profile = read_question(question, [*passages, *candidates])
    if not profile.weights:
        return insufficient(profile.language, "no_terms")
    least = DEFAULT_THRESHOLD if threshold is None else threshold
    found = find_candidates(profile, passages[:_PASSAGES])
    if not found:
        return insufficient(profile.language, "no_passages")
    sure = confidence(profile, _best(found), passages)
    if sure < least and embed is not None and question_vector is not None:
        foreign = foreign_passages(profile, passages[:_PASSAGES])
        across = gap_confidence(foreign, candidates or passages)
        if across >= least and (near := nearest_sentences(profile, foreign, embed, question_vector)):
            found, sure = near, across
    if sure < least:
        return insufficient(profile.language, "low_confidence", sure)
    parts = Composer(profile, _best(found), max_chars).compose(found)
    return Answer(
        # Marks that the document writes itself would be taken for ours.
        text=" ".join(f"{without_live_marks(part.text)} [{number}]" for number, part in enumerate(parts, 1)),
        type=AnswerType.EXTRACTIVE,
        citations=tuple(_cite(number, part) for number, part in enumerate(parts, 1)),
        confidence=sure,
    )


def insufficient(language: str, reason: str, sure: float = 0.0) -> Answer:
    """Return the answer that says that the documents do not answer."""
    return Answer(INSUFFICIENT_TEXT.get(language, INSUFFICIENT_TEXT["en"]), AnswerType.INSUFFICIENT, (), sure, reason)


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


def confidence(profile: QuestionProfile, best: Candidate, passages: Sequence[Hit] = ()) -> float:
    """Return how likely the passages answer at all, 0 to 1."""
    features = confidence_features(profile, best, passages)
    score = CONFIDENCE_BIAS + sum(CONFIDENCE_WEIGHTS[name] * value for name, value in features.items())
    score += NAMED_WEIGHT * (best.features["named"] == SURE)
    return 1 / (1 + math.exp(-score))


def _best(found: Sequence[Candidate]) -> Candidate:
    return max(found, key=lambda candidate: candidate.chance)


def _cite(number: int, part: AnswerPart) -> Citation:
    placed = part.source.hit.placed
    chunk = placed.chunk
    return Citation(
        number=number,
        doc_key=placed.doc_key,
        version=placed.version,
        chunk_id=placed.id,
        position=chunk.position,
        name=placed.name,
        text=chunk.text[part.start : part.end],
        start=chunk.start + part.start,
        end=chunk.start + part.end,
        locator=chunk.locator,
        reading=placed.reading,
    )
