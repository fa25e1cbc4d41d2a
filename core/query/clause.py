"""Cuts a sentence to the clauses that may answer; what is cut away is very unlikely to hold the answer.

The weights of each clause are a conditional logit over the clauses of a sentence, fitted on half of two question sets
(`python -m benchmarks.answers --fit`); a fit on Japanese alone serves English as well, and the other way round.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from core.query.answer_types import offers
from core.query.asked import Asked
from core.text.analysis import analyse

Span = tuple[int, int]

CLAUSE_WEIGHTS = {
    "coverage": 2.65,
    "around": 1.34,
    "offered": 1.35,
    "not_offered": -1.41,
    "unit": 1.82,
    "new_terms": 1.33,
    "length": -1.15,
    "distance": -0.18,
    "after_best": 0.28,
    "first": 0.28,
    "last": 0.19,
}
SAFE_LOSS = 0.08
"""Most probability of holding the answer that may be cut away for brevity."""

_CUT = re.compile(
    r"[、，；;：]\s*|[,:]\s+|\s+[–—-]\s+"
    r"|\s+(?=(?:and|but|while|which|who|where|because|although|so that|after|before|when|until|since|with|including)\b)"
)
_OPENING, _CLOSING = "([{（［｛「『【〈《“", ")]}）］｝」』】〉》”"
_JAPANESE = re.compile("[\u3040-\u30ff]")
_LEAST_JAPANESE, _LEAST_LATIN = 10, 25
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


def trim(sentence: str, asked: Asked) -> Cut:
    """Return what of ``sentence`` is worth giving: ends are cut away where that is safe.

    The clause that shares most with the question is kept, so that a reader sees what the answer is about.
    """
    spans = split_clauses(sentence)
    return _shorten(sentence, spans, asked, len(sentence), keep=_shared(sentence, spans, asked))


def squeeze(sentence: str, asked: Asked, budget: int) -> Cut:
    """Return the clauses of at most ``budget`` characters that most likely answer; one clause may be longer."""
    return _shorten(sentence, split_clauses(sentence), asked, budget)


def window(sentence: str, asked: Asked, cut: Cut, budget: int) -> Cut:
    """Return ``budget`` characters of ``cut`` around what may be the answer, or around the question's own letters."""
    places = [place for place in offers(sentence, asked.expectation, asked.text) if cut.start <= place[0] < cut.end]
    step = max(1, budget // 8)
    best = max(
        range(cut.start, max(cut.start + 1, cut.end - budget + step), step),
        key=lambda at: (
            asked.pair_share(sentence[at : at + budget])
            + 0.2 * any(at <= place[0] and place[1] <= at + budget for place in places)
        ),
    )
    start = max(cut.start, min(best, cut.end - budget))
    return Cut(start, min(start + budget, cut.end), cut.kept / 2)


def _shorten(sentence: str, spans: list[Span], asked: Asked, budget: int, keep: int = -1) -> Cut:
    features = _features(sentence, spans, asked)
    chances = softmax([sum(CLAUSE_WEIGHTS[name] * value for name, value in row.items()) for row in features])
    first, last, lost = 0, len(spans) - 1, 0.0
    while first < last:
        end = min((end for end in (first, last) if end != keep), key=lambda i: chances[i])
        if lost + chances[end] > SAFE_LOSS and spans[last][1] - spans[first][0] <= budget:
            break
        lost += chances[end]
        first, last = (first + 1, last) if end == first else (first, last - 1)
    start, stop = spans[first][0], spans[last][1]
    return Cut(start, start + len(sentence[start:stop].rstrip(_LOOSE)), 1 - lost)


def softmax(scores: list[float]) -> list[float]:
    """Return positive numbers in the proportion of ``exp(score)`` that sum to 1."""
    top = max(scores)
    raised = [math.exp(score - top) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def _features(sentence: str, spans: list[Span], asked: Asked) -> list[dict[str, float]]:
    parts = [sentence[start:end] for start, end in spans]
    terms = [set(analyse(part)) for part in parts]
    coverage = [asked.coverage(held) for held in terms]
    places = offers(sentence, asked.expectation, asked.text)
    offered = [any(start < place[1] and place[0] < end for place in places) for start, end in spans]
    best = _shared(sentence, spans, asked)
    unit = asked.expectation.unit
    return [
        {
            "coverage": coverage[i],
            "around": max(coverage[max(0, i - 1) : i + 2]),
            "offered": float(offered[i]),
            "not_offered": float(asked.expectation.kind != "thing" and not offered[i]),
            "unit": float(bool(unit) and unit in parts[i]),
            "new_terms": math.log1p(len(terms[i] - asked.weights.keys())),
            "length": math.log(len(parts[i])),
            "distance": float(min(abs(i - best), 4)),
            "after_best": float(i == best + 1),
            "first": float(i == 0),
            "last": float(i == len(spans) - 1),
        }
        for i in range(len(spans))
    ]


def _shared(sentence: str, spans: list[Span], asked: Asked) -> int:
    """Return which clause shares most with the question."""
    parts = [sentence[start:end] for start, end in spans]
    return max(range(len(spans)), key=lambda i: asked.coverage(set(analyse(parts[i]))) + asked.pair_share(parts[i]))


def _outside_brackets(sentence: str) -> list[bool]:
    outside = []
    depth = 0
    for sign in sentence:
        depth += sign in _OPENING
        outside.append(depth == 0)
        depth = max(0, depth - (sign in _CLOSING))
    return outside
