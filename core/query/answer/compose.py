"""Chooses what of the candidates is given: how many sentences, each cut to what is needed, within the length.

One price weighs everything: a character costs as much as a thousandth of a chance to answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.model import LABEL_JOINT
from core.query.answer.answer_types import refers_back
from core.query.answer.candidates import Candidate
from core.query.answer.question_profile import QuestionProfile, similar
from core.query.answer.quotable_units import CELL_JOINT
from core.query.answer.trim_clauses import Cut, Divided, divide, fill, squeeze, trim

_PRICE_PER_CHAR = 0.001
_PRICE_PER_PART = 0.015
"""A further sentence is given when its chance of answering is worth its length at these prices."""
_MOST_PARTS = 3
_CUT_MARK = "…"
_SUBJECT_KINDS = ("name", "called", "thing")
_TITLE = re.compile(r"[^\W\d_](?:[^\W_]|[ ・＝’'()（）-]){0,39}")
_CODED = re.compile(r"[\d-]")
_LONGEST_SUBJECT = 80
_LEAST_KEPT = 0.7
_SHARES = (0.4, 0.5, 0.6)


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A stretch of one passage that the answer gives; ``start`` and ``end`` count in the passage's text."""

    source: Candidate
    start: int
    end: int
    text: str
    kept: float


class Composer:
    """Composes the answer to one question from its candidates, with at most ``max_chars`` characters."""

    def __init__(self, profile: QuestionProfile, best: Candidate, max_chars: int) -> None:
        self._profile = profile
        self._best = best
        self._max_chars = max_chars
        self._divided: dict[Candidate, Divided] = {}

    def compose(self, found: Sequence[Candidate]) -> list[AnswerPart]:
        """Take the best sentence, then every further one whose chance is worth its length, while they fit."""
        room = self._max_chars - mark_chars(1)
        parts = [_with_subject(self._profile, self._part(self._best, room, forced=True), room)]
        room -= len(parts[0].text)
        may_pair = True
        for candidate in sorted(found, key=self._worth, reverse=True):
            worth = self._worth(candidate)
            if len(parts) == _MOST_PARTS or worth < _PRICE_PER_PART:
                break
            if candidate.features["heading"] or any(similar(candidate.terms, part.source.terms) for part in parts):
                continue
            left = room - mark_chars(len(parts) + 1)
            part = self._part(candidate, left)
            if part.text and worth * part.kept > _PRICE_PER_PART + _PRICE_PER_CHAR * len(part.text):
                room = left - len(part.text)
                parts.append(part)
            elif len(parts) == 1 and may_pair:
                may_pair = False
                if pair := self._side_by_side(candidate, parts[0]):
                    return _in_reading_order(pair)
        return _in_reading_order(parts)

    def _side_by_side(self, second: Candidate, alone: AnswerPart) -> list[AnswerPart]:
        """Return two sentences that do not fit together, both cut closer, where that is worth more than the best."""
        room = self._max_chars - mark_chars(1) - mark_chars(2)
        chosen, most = [], _value(alone)
        for share in _SHARES:
            pair = [self._part(self._best, int(room * share))]
            pair.append(self._part(second, room - len(pair[0].text)))
            if all(part.text for part in pair) and sum(map(_value, pair)) > most:
                chosen, most = pair, sum(map(_value, pair))
        return chosen

    def _worth(self, candidate: Candidate) -> float:
        """Return the chance of a sentence, raised when the best one points back to it and it names what was asked."""
        best = self._best
        is_before = candidate.hit is best.hit and candidate.order == best.order - 1
        if is_before and refers_back(best.text):
            together = self._profile.coverage(candidate.terms | best.terms)
            return candidate.chance + 0.2 * (together > self._profile.coverage(best.terms))
        return candidate.chance

    def _part(self, candidate: Candidate, room: int, forced: bool = False) -> AnswerPart:
        """Return the sentence as it is given; without text where no safe cut fits, unless ``forced``."""
        if candidate.unit.is_row:
            text = _row_text(self._profile, candidate, room if forced else self._max_chars)
            if len(text) > room or not text:
                text = candidate.text[: room - 1] + _CUT_MARK if forced else ""
            return AnswerPart(candidate, candidate.start, candidate.end, text, 1.0)
        if candidate not in self._divided:
            self._divided[candidate] = divide(candidate.text, self._profile)
        divided = self._divided[candidate]
        budget = room - 2 * len(_CUT_MARK)
        cut = trim(divided)
        if cut.end - cut.start > budget:
            cut = squeeze(divided, budget)
            if forced:
                cut = fill(candidate.text, self._profile, cut, budget)
        fits = cut.end - cut.start <= budget and (forced or cut.kept >= _LEAST_KEPT)
        return _stretch(candidate, cut) if fits else AnswerPart(candidate, candidate.start, candidate.start, "", 0.0)


def _stretch(candidate: Candidate, cut: Cut) -> AnswerPart:
    before = _CUT_MARK if cut.start else ""
    after = _CUT_MARK if cut.end < len(candidate.text) else ""
    text = f"{before}{' '.join(candidate.text[cut.start : cut.end].split())}{after}"
    return AnswerPart(candidate, candidate.start + cut.start, candidate.start + cut.end, text, cut.kept)


def _value(part: AnswerPart) -> float:
    return part.source.chance * part.kept - _PRICE_PER_PART - _PRICE_PER_CHAR * len(part.text)


def _with_subject(profile: QuestionProfile, part: AnswerPart, room: int) -> AnswerPart:
    """Put its term before a sentence that leaves out what it is about, else the title where that may be asked."""
    label = part.source.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    if _is_subject(label, part.source.text) and len(label) + 2 + len(part.text) <= room:
        return replace(part, text=f"{label}: {part.text}")
    title = part.source.hit.placed.title.strip()
    if profile.expectation.kind not in _SUBJECT_KINDS or part.source.unit.is_row or not _TITLE.fullmatch(title):
        return part
    if _CODED.search(title) and part.source.hit.placed.name.startswith(title):
        return part
    text = f"{title}: {part.text}"
    known = f"{profile.text}\n{part.source.text}".casefold()
    return part if title.casefold() in known or len(text) > room else replace(part, text=text)


def _is_subject(label: str, text: str) -> bool:
    """Whether a label names what a sentence under it is about: a short one that neither asks nor is in the sentence."""
    return 0 < len(label) <= _LONGEST_SUBJECT and not label.endswith(("?", "？")) and label not in text


def _row_text(profile: QuestionProfile, candidate: Candidate, room: int) -> str:
    """Write a table row as ``header: cell`` pairs; where it is too long, the cells that the question names."""
    heads = [head.strip() for head in candidate.unit.header.split(CELL_JOINT)]
    cells = [cell.strip() for cell in candidate.text.split(CELL_JOINT)]
    if not candidate.unit.header and len(cells) > 1:
        heads, cells = [cells[0].rstrip(":： "), *[""] * (len(cells) - 2)], cells[1:]
    elif len(heads) != len(cells):
        heads = [""] * len(cells)
    pairs = [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=True) if cell]
    text = "; ".join(pairs)
    if len(text) > room:
        kept = sorted(range(len(pairs)), key=lambda i: (i > 0, -profile.pair_share(pairs[i])))
        chosen: list[int] = []
        for i in kept:
            if sum(len(pairs[j]) + 2 for j in [*chosen, i]) <= room:
                chosen.append(i)
        text = "; ".join(pairs[i] for i in sorted(chosen))
    return text if len(text) <= room else ""


def _in_reading_order(parts: Sequence[AnswerPart]) -> list[AnswerPart]:
    """Order by passage, the best sentence's first, and within a passage as it reads."""
    passages = list(dict.fromkeys(part.source.hit.placed.id for part in parts))
    return sorted(parts, key=lambda part: (passages.index(part.source.hit.placed.id), part.start))


def mark_chars(number: int) -> int:
    return len(f" [{number}]") + (number > 1)
