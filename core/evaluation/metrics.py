"""Pure measures of ranked documents and of answers; a ranking is a sequence of names, best first."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Sequence

from core.query.answer.escape import without_live_marks

MAX_ANSWER_CHARS = 250
"""Longer answers never count as containing the gold answer: the whole passage would always be right."""

_MARK = re.compile(r"\s*\[\d+\]")


def recall_at(ranked: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Return the share of ``relevant`` among the first ``depth`` names."""
    return len(set(ranked[:depth]) & set(relevant)) / len(set(relevant))


def reciprocal_rank_at(ranked: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Return 1 / rank of the first relevant name within ``depth``, else 0."""
    return next((1 / rank for rank, name in enumerate(ranked[:depth], 1) if name in relevant), 0.0)


def ndcg_at(ranked: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Return the normalised discounted cumulative gain of binary relevance.

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
    """
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(ranked[:depth], 1) if name in relevant)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(relevant)), depth) + 1))
    return gain / ideal


def without_marks(answer: str) -> str:
    """Return the answer without its citation marks ``[n]``; ``(n)`` in an answer is text of a document."""
    return _MARK.sub("", answer)


def normalise(text: str) -> str:
    """Return ``text`` in NFKC, case folded, with every run of white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def contains_answer(answer: str, golds: Sequence[str]) -> bool:
    """Tell whether an answer of at most 250 characters holds one of the gold answers.

    A gold answer may hold marks: those of an answer it was taken from, or of a document, which answers write ``(n)``.
    """
    if len(answer) > MAX_ANSWER_CHARS:
        return False
    held = normalise(without_marks(answer))
    wanted = (normalise(form) for gold in golds for form in (without_live_marks(gold), without_marks(gold)))
    return any(form in held for form in wanted if form)


def deciding_part(text: str, marked: Sequence[tuple[int, int]]) -> str:
    """Return what of an answer is judged: all of a short one, else as much as may count with what is marked in it.

    That is its beginning where the mark is there, else what stands around the mark.
    """
    if len(text) <= MAX_ANSWER_CHARS or not marked:
        return text
    start, end = marked[0]
    around = min(start - (MAX_ANSWER_CHARS - (end - start)) // 2, len(text) - MAX_ANSWER_CHARS)
    first = max(0, around) if end > MAX_ANSWER_CHARS else 0
    return text[first : first + MAX_ANSWER_CHARS]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` of the values do not exceed (nearest rank); 0 when there are none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, 0 when there are no values."""
    return sum(values) / len(values) if values else 0.0
