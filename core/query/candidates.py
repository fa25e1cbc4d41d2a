"""The sentences and table rows that could answer, each with how likely it does.

The weights are a conditional logit over the sentences of the best passages, fitted on half of two question sets
(`python -m benchmarks.answers --fit`). The cosine of each sentence is no feature: it added under half a point to either
set and costs an embedding of every sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.model import BlockKind, Hit
from core.query.answer_types import offers
from core.query.asked import Asked
from core.query.clause import softmax
from core.text.analysis import analyse
from core.text.sentences import split_sentences

SENTENCE_WEIGHTS = {
    "coverage": 0.52,
    "around": 5.32,
    "titled": 3.48,
    "rank": 2.42,
    "offered": 1.09,
    "not_offered": -1.54,
    "pairs": 2.83,
    "length": -0.44,
    "unit": 1.06,
    "says_little": -1.62,
}
CELL_JOINT = " | "
_MOST_SENTENCES = 80


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence of a passage; ``start`` and ``end`` count in the passage's text, ``order`` counts its sentences."""

    hit: Hit
    order: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    header: str
    features: dict[str, float]
    chance: float = 0.0


def find_candidates(asked: Asked, hits: Sequence[Hit]) -> list[Candidate]:
    """Return the candidates of all passages with chances that sum to 1, in the order of the passages."""
    found = [candidate for hit in hits for candidate in _of_passage(asked, hit)]
    if not found:
        return []
    chances = softmax(
        [sum(SENTENCE_WEIGHTS[name] * value for name, value in candidate.features.items()) for candidate in found]
    )
    return [
        Candidate(c.hit, c.order, c.start, c.end, c.text, c.terms, c.header, c.features, chance)
        for c, chance in zip(found, chances, strict=True)
    ]


def passage_terms(hit: Hit) -> frozenset[str]:
    """Return the terms of a passage with its title, headings and table header."""
    return frozenset(analyse(hit.placed.chunk.indexed_text(hit.placed.title)))


def _of_passage(asked: Asked, hit: Hit) -> Iterator[Candidate]:
    chunk = hit.placed.chunk
    headings = {hit.placed.title.strip(), *chunk.locator.heading_path}
    title_terms = frozenset(analyse(" ".join((hit.placed.title, *chunk.locator.heading_path))))
    lines = [(start, end, chunk.text[start:end], header) for start, end, header in _units(hit)]
    lines = [line for line in lines if line[2].lstrip("# ") not in headings][:_MOST_SENTENCES]
    said = [f"{header}\n{text}" if header else text for _, _, text, header in lines]
    terms = [frozenset(analyse(text)) for text in said]
    unit = asked.expectation.unit
    for order, (start, end, text, header) in enumerate(lines):
        beside = terms[max(0, order - 1) : order + 2] if not header else [terms[order]]
        around = title_terms.union(*beside)
        offered = bool(offers(text, asked.expectation, asked.text))
        features = {
            "coverage": asked.coverage(terms[order]),
            "around": asked.coverage(around),
            "titled": asked.coverage(title_terms | terms[order]),
            "rank": 1 / hit.rank,
            "offered": float(offered),
            "not_offered": float(asked.expectation.kind != "thing" and not offered),
            "pairs": asked.pair_share(said[order]),
            "length": math.log(len(text)),
            "unit": float(bool(unit) and unit in text),
            "says_little": float(len(terms[order] - asked.weights.keys()) <= 1),
        }
        yield Candidate(hit, order, start, end, text, terms[order], header, features)


def _units(hit: Hit) -> Iterator[tuple[int, int, str]]:
    """Yield sentences as ``(start, end, "")`` and table rows as ``(start, end, header)``; header rows are left out."""
    chunk = hit.placed.chunk
    header = chunk.header
    was_row = False
    for start, end in split_sentences(chunk.text):
        text = chunk.text[start:end]
        is_row = CELL_JOINT in text or chunk.kind is BlockKind.TABLE
        if is_row and not was_row and not header:
            header = text
        elif is_row:
            yield start, end, header
        else:
            header = chunk.header
            yield start, end, ""
        was_row = is_row
