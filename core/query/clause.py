"""Cuts a sentence to the clauses that may answer; what is cut away is very unlikely to hold the answer.

The weights of each clause are a conditional logit over the clauses of a sentence, fitted on half of two question sets
(`python -m benchmarks.answers --fit`); a fit on Japanese alone serves English as well, and the other way round.
"""

from __future__ import annotations

import math
import re

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
SAFE_LOSS = 0.05
"""Most probability of holding the answer that may be cut away for brevity."""

_CUT = re.compile(
    r"[、，；;：]\s*|[,:]\s+|\s+[–—-]\s+"
    r"|\s+(?=(?:and|but|while|which|who|where|because|although|so that|after|before|when|until|since|with|including)\b)"
)
_OPENING, _CLOSING = "([{（［｛「『【〈《“", ")]}）］｝」』】〉》”"
_JAPANESE = re.compile("[\u3040-\u30ff]")
_LEAST_JAPANESE, _LEAST_LATIN = 10, 25


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


def clause_probabilities(sentence: str, spans: list[Span], asked: Asked) -> list[float]:
    """Return for each clause how likely it holds the answer, given that the sentence does; they sum to 1."""
    features = _features(sentence, spans, asked)
    return softmax([sum(CLAUSE_WEIGHTS[name] * value for name, value in row.items()) for row in features])


def trim(sentence: str, asked: Asked, budget: int, safe_loss: float = SAFE_LOSS) -> Span:
    """Return the span of ``sentence`` that is worth giving: at most ``budget`` characters, ends cut where safe."""
    spans = split_clauses(sentence)
    chances = clause_probabilities(sentence, spans, asked)
    first, last, lost = 0, len(spans) - 1, 0.0
    while first < last:
        length = spans[last][1] - spans[first][0]
        at_start = chances[first] <= chances[last]
        loss = chances[first] if at_start else chances[last]
        if lost + loss > safe_loss and length <= budget:
            break
        lost += loss
        first, last = (first + 1, last) if at_start else (first, last - 1)
    start, end = spans[first][0], spans[last][1]
    if end - start > budget:
        start, end = _window(sentence, start, end, budget, asked)
    return start, start + len(sentence[start:end].rstrip(" 、，,;；:：–—-\t\n"))


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
    best = max(range(len(spans)), key=lambda i: coverage[i] + asked.pair_share(parts[i]))
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


def _window(sentence: str, start: int, end: int, budget: int, asked: Asked) -> Span:
    """Return the stretch of ``budget`` characters around what is offered, or around the question's own letters."""
    places = [place for place in offers(sentence, asked.expectation, asked.text) if start <= place[0] < end]
    step = max(1, budget // 8)
    begins = range(start, max(start + 1, end - budget + step), step)
    best = max(
        begins,
        key=lambda at: (
            asked.pair_share(sentence[at : at + budget])
            + 0.2 * any(at <= place[0] and place[1] <= at + budget for place in places)
        ),
    )
    best = min(best, end - budget)
    return best, best + budget


def _outside_brackets(sentence: str) -> list[bool]:
    outside = []
    depth = 0
    for sign in sentence:
        depth += sign in _OPENING
        outside.append(depth == 0)
        depth = max(0, depth - (sign in _CLOSING))
    return outside
