"""How likely an answer that was read is right: from the question, what was read for it, and what is said in the end.

A logistic regression on written questions over manuals that nothing was trained on; its label is that the composed
answer is right (``benchmarks.reader_training.fit``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import Hit
from core.query.answer.candidates import Candidate, says_default
from core.query.answer.confidence import about_features
from core.query.answer.confidence import confidence_features as picked_features
from core.query.answer.named_labels import SURE, is_name, question_words
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.reading import UNREAD, ReadWindow, is_same, log_chance, marked, number_in
from core.query.answer.reading_order import DOCUMENT_PART
from core.text.analysis import analyse
from core.text.language import detect_language
from core.text.sentences import on_one_line

READ_CONFIDENCE_WEIGHTS = {
    **{"passage": -0.293, "coverage": -0.19, "around": 0.167, "pairs": -0.346, "named": -0.707},
    **{"foreign_names": -0.554, "rarest": -0.393, "foreign": -0.592},
    **{"answers": 0.045, "own_answers": 0.056, "relevance": 0.06, "own_relevance": 0.08, "span": 0.01},
    **{"own_sentence": 0.125, "own_start": 0.081, "agrees": -0.134, "margin": -0.015},
    **{"near": 0.388, "told": 0.12, "undecided": -0.143},
    **{"first": 0.241, "standing": 1.613, "apart": 0.059, "labelled": -0.086},
    **{"said": 0.763, "said_under": 0.436, "cut": -0.711, "no_default": -2.072, "unsaid_names": -0.657},
}
READ_CONFIDENCE_BIAS = -3.89
"""Fitted as -3.772 and lowered by .12 for the weights that the reader has since: these made it too high by .03."""
READ_THRESHOLD = 0.5
"""Least confidence of an answer that was read: of 1,236 questions, each by a fit on others, five in six shown answers
were right there, and one in fourteen of the answerable questions was answered wrongly."""

CERTAIN_FROM = 0.8
"""Least confidence at which nine of ten shown answers were right; one below it is tentative.

So it was of 1,236 questions that the reader had not learnt from, each by a fit on others (``docs/reader.md``).
"""

USUAL_STANDING = 2.0
"""The score of a passage that has none to compare: about the mean of those that answer."""
_OF_FEATURES = "coverage"
"""A part of scores by light features; those by a cross-encoder or the legs alone have another scale."""
_MOST_LOGIT = 8.0
_MOST_APART = 10.0
_CUT_MARK = "…"
_KNOWN_BY = 30
"""Characters of a sentence by which it is found in an answer."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer with what it was made from: ``best`` of the candidates ``found``, and the ``text`` that is said."""

    profile: QuestionProfile
    best: Candidate
    passages: Sequence[Hit]
    windows: Sequence[ReadWindow]
    found: Sequence[Candidate]
    text: str


def read_confidence(answer: ReadAnswer) -> float:
    """Return how likely an answer is right, 0 to 1."""
    features = confidence_features(answer)
    score = READ_CONFIDENCE_BIAS + sum(weight * features[name] for name, weight in READ_CONFIDENCE_WEIGHTS.items())
    return 1 / (1 + math.exp(-score))


def confidence_features(answer: ReadAnswer) -> dict[str, float]:
    """Return what tells whether an answer is right, by the names of ``READ_CONFIDENCE_WEIGHTS``."""
    profile, best = answer.profile, answer.best
    return {
        **picked_features(profile, best, answer.passages),
        **about_features(profile, best),
        "named": float(best.features["named"] == SURE),
        **_of_reading(answer),
        **_of_choice(answer),
        **_of_passage(answer),
        **_of_text(answer),
    }


def _of_reading(answer: ReadAnswer) -> dict[str, float]:
    """Return what the reader made of the windows: those with ``own`` of the best sentence's, else the most of all.

    ``agrees`` tells that the likeliest span is in the best sentence, ``foreign`` that this is in another language.
    """
    own = [(one, number) for one in answer.windows if (number := number_in(answer.best, one.window)) is not None]
    readings = [one.reading for one in answer.windows]
    mark = marked(answer.windows)
    return {
        "answers": max((_logit(reading.answers) for reading in readings), default=-_MOST_LOGIT),
        "own_answers": max((_logit(one.reading.answers) for one, _ in own), default=-_MOST_LOGIT),
        "relevance": max((reading.relevance for reading in readings), default=-_MOST_LOGIT),
        "own_relevance": max((one.reading.relevance for one, _ in own), default=-_MOST_LOGIT),
        "span": max((log_chance(reading.span) for reading in readings), default=UNREAD),
        "own_sentence": max((log_chance(one.reading.by_sentence[number]) for one, number in own), default=UNREAD),
        "own_start": max((log_chance(one.reading.by_start[number]) for one, number in own), default=UNREAD),
        "agrees": float(mark is not None and is_same(mark.candidate, answer.best)),
        "foreign": float(detect_language(answer.best.text) != answer.profile.language),
    }


def _of_choice(answer: ReadAnswer) -> dict[str, float]:
    """Return how clear the choice was.

    ``margin`` is how much likelier the best sentence is than the next, ``near`` how likely it or one beside it is,
    ``told`` how likely one of those that are said is, ``undecided`` the entropy of the choice.
    """
    best = answer.best
    others = [candidate.chance for candidate in answer.found if candidate is not best]
    near = [
        each.chance
        for each in answer.found
        if each.hit.placed.id == best.hit.placed.id and abs(each.order - best.order) <= 1
    ]
    return {
        "margin": log_chance(best.chance) - log_chance(max(others, default=0.0)),
        "near": log_chance(sum(near)),
        "told": log_chance(sum(each.chance for each in answer.found if _is_said(each, answer.text))),
        "undecided": -sum(each.chance * math.log(max(each.chance, 1e-9)) for each in answer.found),
    }


def _is_said(candidate: Candidate, text: str) -> bool:
    """Tell whether a text begins to say a sentence; of rows it has their cells otherwise."""
    return on_one_line(candidate.text)[:_KNOWN_BY] in on_one_line(text)


def _of_passage(answer: ReadAnswer) -> dict[str, float]:
    """Return what tells of the best sentence's passage.

    ``standing`` is its score in the order, but for its document's name, which says nothing of what stands in it;
    ``apart`` is how much more relevant than all others the reader finds it; ``labelled`` tells that the sentence stands
    under a term, whose neighbours are much alike.
    """
    hit, unit = answer.best.hit, answer.best.unit
    most: dict[int, float] = {}
    for one in answer.windows:
        passage = one.window.candidates[0].hit.placed.id
        most[passage] = max(one.reading.relevance, most.get(passage, -math.inf))
    others = [relevance for passage, relevance in most.items() if passage != hit.placed.id]
    apart = most.get(hit.placed.id, -_MOST_APART) - max(others, default=-_MOST_APART)
    parts = dict(hit.rerank.parts) if hit.rerank else {}
    parts.pop(DOCUMENT_PART, None)
    return {
        "first": float(hit.rank == 1),
        "standing": sum(parts.values()) if _OF_FEATURES in parts else USUAL_STANDING,
        "apart": max(-_MOST_APART, min(_MOST_APART, apart)),
        "labelled": float(bool(unit.label) and not unit.is_row),
    }


def _of_text(answer: ReadAnswer) -> dict[str, float]:
    """Return what tells of the text that is said.

    ``said`` is the share of the question's weight that it holds, ``said_under`` with what it stands under;
    ``unsaid_names`` tells that an option or the like that the question names is in neither, ``no_default`` that a
    default is asked for and none is said.
    """
    profile, best = answer.profile, answer.best
    placed = best.hit.placed
    path = placed.chunk.locator.heading_path
    terms = frozenset(analyse(answer.text, profile.language))
    above = frozenset(analyse(" ".join((best.above, *path, placed.title)), profile.language))
    said = " ".join((answer.text, best.above, *path)).casefold()
    names = [word for word in question_words(profile.text) if is_name(word)]
    return {
        "said": profile.coverage(terms),
        "said_under": profile.coverage(terms | above),
        "cut": float(_CUT_MARK in answer.text),
        "no_default": float(says_default(profile.text) and not says_default(answer.text)),
        "unsaid_names": float(any(name not in said for name in names)),
    }


def _logit(chance: float) -> float:
    return max(-_MOST_LOGIT, min(_MOST_LOGIT, math.log(max(chance, 1e-9) / max(1 - chance, 1e-9))))
