"""Answers a question with the words of the passages: the sentence that answers, cut to what is needed, and its source.

Comes after fusion and needs no model. A question that the passages do not seem to answer gets ``insufficient``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.model import Answer, AnswerType, Citation, Hit
from core.ports import Vector
from core.query.answer_types import refers_back
from core.query.asked import Asked, is_small_talk, read_question, similar
from core.query.candidates import CELL_JOINT, Candidate, find_candidates, passage_terms
from core.query.clause import squeeze, trim, window
from core.text.language import detect_language

Embed = Callable[[Sequence[str]], Vector]

DEFAULT_THRESHOLD = 0.25
"""Least confidence of an answer; chosen on half of the data as `benchmarks/answers.py` says."""

CONFIDENCE_WEIGHTS = {"passage": 4.0, "coverage": 0.76, "around": 2.96, "pairs": 4.3}
CONFIDENCE_BIAS = -6.93

INSUFFICIENT_TEXT = {
    "en": "There is not enough information in the documents to answer this.",
    "ja": "この質問に答えるための十分な情報が文書の中に見つかりませんでした。",
}

_PASSAGES = 5
_PRICE_PER_CHAR = 0.001
"""A further sentence is given when its chance of answering is worth its length at this price."""
_MOST_PARTS = 3
_SUBJECT_KINDS = ("name", "called", "thing")
_TITLE = re.compile(r"[^\W\d_](?:[^\W_]|[ ・＝’'()（）-]){0,39}")
_LEAST_PART = 20
_LEAST_KEPT = 0.7
_CUT_MARK = "…"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one passage that the answer gives; ``start`` and ``end`` count in the passage's text."""

    source: Candidate
    start: int
    end: int
    text: str
    kept: float


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

    ``candidates`` are all hits of the question; they only add statistics of its terms. Reasons of an insufficient
    answer: ``small_talk``, ``no_terms``, ``no_passages`` and ``low_confidence``.
    """
    if is_small_talk(question):
        return insufficient(detect_language(question), "small_talk")
    asked = read_question(question, [*passages, *candidates])
    if not asked.weights:
        return insufficient(asked.language, "no_terms")
    found = find_candidates(asked, passages[:_PASSAGES])
    if not found:
        return insufficient(asked.language, "no_passages")
    best = max(found, key=lambda candidate: candidate.chance)
    sure = confidence(asked, best)
    if sure < (DEFAULT_THRESHOLD if threshold is None else threshold):
        return insufficient(asked.language, "low_confidence", sure)
    parts = _choose(asked, best, found, max_chars)
    return Answer(
        text=" ".join(f"{part.text} [{number}]" for number, part in enumerate(parts, 1)),
        type=AnswerType.EXTRACTIVE,
        citations=tuple(_cite(number, part) for number, part in enumerate(parts, 1)),
        confidence=sure,
    )


def insufficient(language: str, reason: str, sure: float = 0.0) -> Answer:
    """Return the answer that says that the documents do not answer."""
    return Answer(INSUFFICIENT_TEXT[language], AnswerType.INSUFFICIENT, (), sure, reason)


def confidence_features(asked: Asked, best: Candidate) -> dict[str, float]:
    """Return how much of the question the best sentence, its neighbours and its passage hold, each 0 to 1."""
    return {
        "passage": asked.coverage(passage_terms(best.hit)),
        **{name: best.features[name] for name in ("coverage", "around", "pairs")},
    }


def confidence(asked: Asked, best: Candidate) -> float:
    """Return how likely the passages answer at all, 0 to 1."""
    features = confidence_features(asked, best)
    score = CONFIDENCE_BIAS + sum(CONFIDENCE_WEIGHTS[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-score))


def _choose(asked: Asked, best: Candidate, found: Sequence[Candidate], max_chars: int) -> list[Part]:
    """Take the best sentence, then every further one whose chance is worth its length, while they fit."""
    subject = _missing_subject(asked, best)
    room = max_chars - _mark_chars(1) - len(subject)
    parts = [_part(asked, best, room, least_kept=0.0)]
    room -= len(parts[0].text)
    parts[0] = replace(parts[0], text=subject + parts[0].text)
    for candidate in sorted(found, key=lambda c: -_worth(c, best, asked)):
        left = room - _mark_chars(len(parts) + 1)
        if len(parts) == _MOST_PARTS or left < _LEAST_PART:
            break
        if any(similar(candidate.terms, part.source.terms) for part in parts):
            continue
        part = _part(asked, candidate, left, _LEAST_KEPT)
        if part.text and _worth(candidate, best, asked) * part.kept > _PRICE_PER_CHAR * len(part.text):
            room = left - len(part.text)
            parts.append(part)
    return _in_reading_order(parts)


def _missing_subject(asked: Asked, best: Candidate) -> str:
    """Return the title to put before a sentence that leaves out what it is about, when that may be what is asked."""
    title = best.hit.placed.title.strip()
    if asked.expectation.kind not in _SUBJECT_KINDS or best.header or not _TITLE.fullmatch(title):
        return ""
    known = f"{asked.text}\n{best.text}".casefold()
    return "" if title.casefold() in known else f"{title}: "


def _worth(candidate: Candidate, best: Candidate, asked: Asked) -> float:
    """Return the chance of a sentence, raised when the best one points back to it and it names what was asked."""
    is_before = candidate.hit is best.hit and candidate.order == best.order - 1
    if is_before and refers_back(best.text):
        return candidate.chance + 0.2 * (asked.coverage(candidate.terms | best.terms) > asked.coverage(best.terms))
    return candidate.chance


def _part(asked: Asked, candidate: Candidate, room: int, least_kept: float) -> Part:
    """Return the sentence as it is given; without text where no cut that fits keeps ``least_kept`` of its chance."""
    if candidate.header:
        return Part(candidate, candidate.start, candidate.end, _row_text(asked, candidate, room), 1.0)
    cut = trim(candidate.text, asked)
    budget = room - 2 * len(_CUT_MARK)
    if cut.end - cut.start > budget:
        cut = squeeze(candidate.text, asked, budget)
    if cut.end - cut.start > budget:
        cut = window(candidate.text, asked, cut, budget)
    text = " ".join(candidate.text[cut.start : cut.end].split())
    before = _CUT_MARK if cut.start else ""
    after = _CUT_MARK if cut.end < len(candidate.text) else ""
    shown = f"{before}{text}{after}" if cut.kept >= least_kept else ""
    return Part(candidate, candidate.start + cut.start, candidate.start + cut.end, shown, cut.kept)


def _row_text(asked: Asked, candidate: Candidate, room: int) -> str:
    """Write a table row as ``header: cell`` pairs; where it is too long, the cells that the question names."""
    heads = [head.strip() for head in candidate.header.split(CELL_JOINT)]
    cells = [cell.strip() for cell in candidate.text.split(CELL_JOINT)]
    if len(heads) != len(cells):
        heads = [""] * len(cells)
    pairs = [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=True) if cell]
    text = "; ".join(pairs)
    if len(text) > room:
        kept = sorted(range(len(pairs)), key=lambda i: (i > 0, -asked.pair_share(pairs[i])))
        chosen: list[int] = []
        for i in kept:
            if sum(len(pairs[j]) + 2 for j in [*chosen, i]) <= room:
                chosen.append(i)
        text = "; ".join(pairs[i] for i in sorted(chosen))
    return text or candidate.text[: max(0, room - 1)] + _CUT_MARK


def _in_reading_order(parts: Sequence[Part]) -> list[Part]:
    """Order by passage, the best sentence's first, and within a passage as it reads."""
    passages = list(dict.fromkeys(part.source.hit.placed.id for part in parts))
    return sorted(parts, key=lambda part: (passages.index(part.source.hit.placed.id), part.start))


def _mark_chars(number: int) -> int:
    return len(f" [{number}]") + (number > 1)


def _cite(number: int, part: Part) -> Citation:
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
    )
