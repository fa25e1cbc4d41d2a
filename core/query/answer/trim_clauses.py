"""Cuts a sentence to the clauses that may answer; what is cut away is very unlikely to hold the answer.

The weights of each clause are a conditional logit over the clauses of a sentence, fitted on half of two question sets
(`python -m benchmarks.answers --fit`); a fit on Japanese alone serves English as well, and the other way round.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from core.query.answer.answer_types import offers
from core.query.answer.question_profile import QuestionProfile
from core.text.analysis import analyse

Span = tuple[int, int]

CLAUSE_WEIGHTS = {
    "coverage": 2.55,
    "around": 1.73,
    "offered": 1.21,
    "not_offered": -1.31,
    "unit": 2.48,
    "new_terms": 1.33,
    "length": -1.13,
    "distance": -0.2,
    "after_best": 0.01,
    "first": 0.45,
    "last": 0.3,
}
SAFE_LOSS = 0.05
"""Most probability of holding the answer that may be cut away for brevity."""

_CUT = re.compile(
    r"[、，；;：]\s*|[,:]\s+|\s+[–—-]\s+"
    r"|\s+(?=(?:and|but|while|which|who|where|because|although|so that|after|before|when|until|since|with|including)\b)"
)
_OPENING, _CLOSING = "([{（［｛「『【〈《“", ")]}）］｝」』】〉》”"
_JAPANESE = re.compile("[\u3040-\u30ff]")
_LEAST_JAPANESE, _LEAST_LATIN = 10, 25
_LONG_WORD = 20
_LOOSE = " 、，,;；:：–—-\t\n"


def split_clauses(sentence: str) -> list[Span]:
    """Return consecutive spans that cover ``sentence``; brackets stay whole and no span is a mere fragment."""
    least = _LEAST_JAPANESE if _JAPANESE.search(sentence) else _LEAST_LATIN
    outside = _outside_brackets(sentence)
    spans: list[Span] = []
    start = 0
    for cut in _CUT.finditer(sentence):
        if outside[cut.start()] and cut.end() - start >= least:
            spans.append((start, cut.end()))
            start = cut.end()
    if spans and len(sentence) - start < least:
        start = spans.pop()[0]
    spans.append((start, len(sentence)))
    return spans


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of a sentence; ``kept`` is how likely it holds the answer, given that the sentence does."""

    start: int
    end: int
    kept: float


@dataclass(frozen=True, slots=True)
class Divided:
    """A sentence by its clauses: where they are, and how likely each answers."""

    sentence: str
    spans: list[Span]
    chances: list[float]


def divide(sentence: str, profile: QuestionProfile) -> Divided:
    spans = split_clauses(sentence)
    if len(spans) == 1:
        return Divided(sentence, spans, [1.0])
    features = clause_features(sentence, spans, profile)
    chances = softmax([sum(CLAUSE_WEIGHTS[name] * value for name, value in row.items()) for row in features])
    return Divided(sentence, spans, chances)


def squeeze(divided: Divided, budget: int) -> Cut:
    """Return the clauses of at most ``budget`` characters that most likely answer; one clause may be longer."""
    spans, chances = divided.spans, divided.chances
    first, last, lost = 0, len(spans) - 1, 0.0
    while first < last:
        end = min((first, last), key=lambda i: chances[i])
        if lost + chances[end] > SAFE_LOSS and spans[last][1] - spans[first][0] <= budget:
            break
        lost += chances[end]
        first, last = (first + 1, last) if end == first else (first, last - 1)
    start, stop = spans[first][0], spans[last][1]
    chosen = divided.sentence[start:stop]
    return Cut(start, start + len(chosen.rstrip(_LOOSE) or chosen), 1 - lost)


def fill(sentence: str, profile: QuestionProfile, cut: Cut, budget: int) -> Cut:
    """Return at most ``budget`` characters: ``cut`` with as much of its neighbours as fits, or a window of it."""
    return _widen(sentence, cut, budget) if cut.end - cut.start <= budget else _window(sentence, profile, cut, budget)


def _widen(sentence: str, cut: Cut, budget: int) -> Cut:
    """Let ``cut`` grow, to the end first, by whole words."""
    end = _back_to_gap(sentence, cut.end, min(len(sentence), cut.start + budget))
    start = cut.start
    if end == len(sentence):
        start = max(0, end - budget)
        while start < cut.start and not _gap_before(sentence, start):
            start += 1
    return Cut(start, end, cut.kept)


def _window(sentence: str, profile: QuestionProfile, cut: Cut, budget: int) -> Cut:
    """Return ``budget`` characters of ``cut`` around what may be the answer, or around the question's own letters."""
    places = [place for place in offers(sentence, profile.expectation, profile.text) if cut.start <= place[0] < cut.end]
    step = max(1, budget // 8)
    best = max(
        range(cut.start, max(cut.start + 1, cut.end - budget + step), step),
        key=lambda at: (
            profile.pair_share(sentence[at : at + budget])
            + 0.2 * any(at <= place[0] and place[1] <= at + budget for place in places)
        ),
    )
    start = max(cut.start, min(best, cut.end - budget))
    start = next((at for at in range(start, min(start + _LONG_WORD, cut.end)) if _gap_before(sentence, at)), start)
    return Cut(start, min(start + budget, cut.end), cut.kept / 2)


def softmax(scores: list[float]) -> list[float]:
    """Return positive numbers in the proportion of ``exp(score)`` that sum to 1."""
    top = max(scores)
    raised = [math.exp(score - top) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def clause_features(sentence: str, spans: list[Span], profile: QuestionProfile) -> list[dict[str, float]]:
    """Return the features of each clause, by the names of ``CLAUSE_WEIGHTS``."""
    parts = [sentence[start:end] for start, end in spans]
    terms = [set(analyse(part)) for part in parts]
    coverage = [profile.coverage(held) for held in terms]
    places = offers(sentence, profile.expectation, profile.text)
    offered = [any(start < place[1] and place[0] < end for place in places) for start, end in spans]
    best = max(range(len(spans)), key=lambda i: coverage[i] + profile.pair_share(parts[i]))
    unit = profile.expectation.unit
    return [
        {
            "coverage": coverage[i],
            "around": max(coverage[max(0, i - 1) : i + 2]),
            "offered": float(offered[i]),
            "not_offered": float(profile.expectation.shows and not offered[i]),
            "unit": float(bool(unit) and unit in parts[i]),
            "new_terms": math.log1p(len(terms[i] - profile.weights.keys())),
            "length": math.log(len(parts[i])),
            "distance": float(min(abs(i - best), 4)),
            "after_best": float(i == best + 1),
            "first": float(i == 0),
            "last": float(i == len(spans) - 1),
        }
        for i in range(len(spans))
    ]


def _back_to_gap(sentence: str, least: int, end: int) -> int:
    while end > least and end < len(sentence) and not _gap_before(sentence, end):
        end -= 1
    return max(least, least + len(sentence[least:end].rstrip(_LOOSE)))


def _gap_before(sentence: str, at: int) -> bool:
    return at == 0 or sentence[at - 1] in " \n、。，,;" or sentence[at] in " \n"


def _outside_brackets(sentence: str) -> list[bool]:
    outside = []
    depth = 0
    for sign in sentence:
        depth += sign in _OPENING
        outside.append(depth == 0)
        depth = max(0, depth - (sign in _CLOSING))
    return outside
