"""Tells whether what an answer cites has to do with the question at all.

A sentence may be true and answer nothing that was asked. What is cited is held against the question: by its words in
the whole passage, by the cosine of the two in the packaged model, and by what the reader makes of the span: it is asked
only where there is a reader, for cosines of other models lie elsewhere. Whether another sentence of the right passage
would answer better is not told here.

Fitted (``benchmarks.claim_training.concern``) on 299 questions of articles of Wikipedia that the reader did not learn
from, each with the sentence that answers it, one of another article and one of another passage of its article, and on
212 over documents of organisations, each with its evidence and that of a question over another document; so that 96 %
of what answers passes in each language. Of other articles and documents then 0 to 13 % pass, of the same article one
sentence in nine to four.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import ModelUnavailable
from core.model import Stretch, StretchReading
from core.ports import Vector
from core.text.analysis import content_words

Read = Callable[[str, Sequence[Stretch]], list[StretchReading]]

WEIGHTS = {"words": 3.056, "cosine": 1.141, "window": 2.172, "sentence": 2.357}
BIAS = -5.596
LEAST = {"en": -1.75, "ja": -0.5}
_COSINE_CENTRE = 0.8
_BEFORE, _BEHIND = 150, 100


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """What is cited of a passage: the passage's terms and text, and the place of the span in it."""

    title: str
    text: str
    start: int
    end: int
    terms: frozenset[str]

    @property
    def said(self) -> str:
        return self.text[self.start : self.end]


def on_question(
    question: str,
    language: str,
    spans: Sequence[CitedSpan],
    embed: Callable[[Sequence[str]], Vector],
    read: Read,
) -> list[bool]:
    """Tell of each span whether it may answer; all of them where the question has no word or nothing can compare."""
    if language not in LEAST or not spans:
        return [True] * len(spans)
    try:
        rows = concern_features(question, spans, embed, read)
    except ModelUnavailable:
        return [True] * len(spans)
    scores = [math.fsum(weight * row[name] for name, weight in WEIGHTS.items()) + BIAS for row in rows]
    return [score >= LEAST[language] for score in scores] or [True] * len(spans)


def concern_features(
    question: str, spans: Sequence[CitedSpan], embed: Callable[[Sequence[str]], Vector], read: Read
) -> list[dict[str, float]]:
    """Return what compares each span with the question, by the names of ``WEIGHTS``; nothing where it has no word.

    Raises: ``ModelUnavailable``.
    """
    asked = content_words(question)
    if not asked:
        return []
    vectors = np.asarray(embed([question, *(span.said for span in spans)]))
    readings = read(question, [one for span in spans for one in _stretches(span)])
    return [
        {
            "words": len(asked & span.terms) / len(asked),
            "cosine": (float(vectors[0] @ vectors[number + 1]) - _COSINE_CENTRE) * 10,
            "window": readings[2 * number].relevance / 10,
            "sentence": readings[2 * number + 1].relevance / 10,
        }
        for number, span in enumerate(spans)
    ]


def _stretches(span: CitedSpan) -> tuple[Stretch, Stretch]:
    first = max(0, span.start - _BEFORE)
    around = span.text[first : span.end + _BEHIND]
    place = (span.start - first, span.end - first)
    return Stretch(around, (place,), span.title), Stretch(span.said, ((0, len(span.said)),), span.title)
