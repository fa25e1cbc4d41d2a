"""Chooses what of the candidates is given: the best sentence and further ones that may answer, each whole, as they fit.

Only what does not fit is cut. Whole sentences held the right answer more often than those cut to the clause that was
asked for, by .5 to 2 points on five question sets, and further ones by 1 to 3 (`python -m benchmarks.answers`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.model import LABEL_JOINT
from core.query.answer.answer_types import refers_back
from core.query.answer.candidates import Candidate
from core.query.answer.named_labels import SURE
from core.query.answer.question_profile import QuestionProfile, similar
from core.query.answer.quotable_units import CELL_JOINT
from core.query.answer.trim_clauses import Cut, Divided, divide, fill, squeeze

_LEAST_CHANCE = 0.01
"""Of answering, at which a further sentence is given."""
_LEAST_ELSEWHERE = 0.03
"""The same of another document than the best one's."""
_LEAST_TO_SHARE = 0.05
"""The same where the best sentence has to be cut for it."""
_PRICE_PER_CHAR = 0.001
_PRICE_PER_PART = 0.015
"""Two sentences that are both cut have to be worth more than the best alone at these prices."""
_MOST_PARTS = 4
_USUAL_CHARS, _ENTRY_CHARS = 250, 600
"""All that stands under a term is given where it has at most so many characters for every so many of an answer."""
_CUT_MARK = "…"
_SUBJECT_KINDS = ("name", "called", "thing")
_TITLE = re.compile(r"[^\W\d_](?:[^\W_]|[ ・＝’'()（）-]){0,39}")
_CODED = re.compile(r"[\d-]")
_ITEM = re.compile(r"\s*(?:[-*•‣・●○■□◆◇▪–—]|\(?\w{1,3}[.)]\s|[①-⑳])")
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
        self._entry_chars = max_chars * _ENTRY_CHARS // _USUAL_CHARS
        self._divided: dict[Candidate, Divided] = {}

    def compose(self, found: Sequence[Candidate]) -> list[AnswerPart]:
        """Take the best sentence, then others that may answer, the likeliest first, while they fit as they are."""
        if entry := _entry(self._best, found, self._entry_chars - mark_chars(1)):
            return [entry]
        room = self._max_chars - mark_chars(1)
        first = self._part(self._best, room, forced=True)
        subjects: dict[str, None] = {}
        if taken := _subject_chars(first, subjects, room - len(first.text)):
            room -= taken
        else:
            first = _titled(self._profile, first, room)
        room -= len(first.text)
        first, room = _with_what_follows(first, found, room)
        parts = [first]
        may_share = True
        for candidate in sorted(found, key=self._worth, reverse=True):
            worth = self._worth(candidate)
            if len(parts) == _MOST_PARTS or worth < _LEAST_CHANCE:
                break
            if candidate.features["heading"] or not self._belongs(candidate, worth):
                continue
            if any(_is_within(candidate, part) or similar(candidate.terms, part.source.terms) for part in parts):
                continue
            left = room - mark_chars(len(parts) + 1)
            part = _whole(self._profile, candidate, left)
            if part is not None:
                room = left - len(part.text)
                room -= _subject_chars(part, subjects, room)
                part, room = _with_what_follows(part, found, room)
                parts = [each for each in parts if not _is_within(each, part)] + [part]
            elif len(parts) == 1 and may_share and worth >= _LEAST_TO_SHARE:
                may_share = False
                if pair := self._side_by_side(candidate, parts[0]):
                    return _in_reading_order(pair)
        return _with_subjects(_in_reading_order(parts), subjects)

    def _belongs(self, candidate: Candidate, worth: float) -> bool:
        """Whether a sentence may stand beside the best one: under the same term, or from another document if likely."""
        best = self._best
        if best.hit.placed.doc_id != candidate.hit.placed.doc_id and worth < _LEAST_ELSEWHERE:
            return False
        if best.unit.is_row or not best.unit.label:
            return not (best.features["named"] == SURE and candidate.features["named"] < SURE)
        return candidate.unit.label == best.unit.label

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
        """Return the sentence, cut where it does not fit; without text where no safe cut fits, unless ``forced``."""
        if whole := _whole(self._profile, candidate, room):
            return whole
        if candidate.unit.is_row:
            text = _row_text(self._profile, candidate, room) if forced else ""
            if forced and not text:
                text = candidate.text[: room - 1] + _CUT_MARK
            return AnswerPart(candidate, candidate.start, candidate.end, text, 1.0)
        if candidate not in self._divided:
            self._divided[candidate] = divide(candidate.text, self._profile)
        budget = room - 2 * len(_CUT_MARK)
        cut = squeeze(self._divided[candidate], budget)
        if forced:
            cut = fill(candidate.text, self._profile, cut, budget)
        fits = cut.end - cut.start <= budget and (forced or cut.kept >= _LEAST_KEPT)
        return _stretch(candidate, cut) if fits else AnswerPart(candidate, candidate.start, candidate.start, "", 0.0)


def _whole(profile: QuestionProfile, candidate: Candidate, room: int) -> AnswerPart | None:
    """Return a sentence or a table row as it is, where it fits."""
    if candidate.unit.is_row:
        text = _row_text(profile, candidate, candidate.end - candidate.start + len(candidate.unit.header) + room)
    else:
        text = " ".join(candidate.text.split())
    return AnswerPart(candidate, candidate.start, candidate.end, text, 1.0) if 0 < len(text) <= room else None


def _stretch(candidate: Candidate, cut: Cut) -> AnswerPart:
    before = _CUT_MARK if cut.start else ""
    after = _CUT_MARK if cut.end < len(candidate.text) else ""
    text = f"{before}{' '.join(candidate.text[cut.start : cut.end].split())}{after}"
    return AnswerPart(candidate, candidate.start + cut.start, candidate.start + cut.end, text, cut.kept)


def _value(part: AnswerPart) -> float:
    return part.source.chance * part.kept - _PRICE_PER_PART - _PRICE_PER_CHAR * len(part.text)


def _said(candidate: Candidate) -> str:
    """A sentence or a row on one line."""
    return " ".join(candidate.text.replace(CELL_JOINT, ": ").split())


def _entry(best: Candidate, found: Sequence[Candidate], room: int) -> AnswerPart | None:
    """Return all that a passage says under the term of the best sentence, where that fits."""
    label = best.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    if best.unit.is_row or not label or label.endswith(("?", "？")):
        return None
    own = [each for each in found if each.hit is best.hit and each.unit.label == best.unit.label]
    own.sort(key=lambda each: each.order)
    said = " ".join(map(_said, own))
    text = said if label in said else f"{label}: {said}"
    return AnswerPart(best, own[0].start, own[-1].end, text, 1.0) if len(text) <= room else None


def _with_what_follows(part: AnswerPart, found: Sequence[Candidate], room: int) -> tuple[AnswerPart, int]:
    """Add to a sentence that ends with a colon what it announces, a command or the items of a list, as they fit."""
    source = part.source
    if source.unit.is_row or not part.text.endswith((":", "：")):
        return part, room
    after = [each for each in found if each.hit is source.hit and each.order > source.order]
    is_list = len(after) > 1 and all(map(_is_item, after[:2]))
    for at, candidate in enumerate(sorted(after, key=lambda each: each.order)):
        text = _said(candidate)
        is_term = any(candidate.text.strip() in label.text for label in source.hit.placed.chunk.labels)
        if is_term or candidate.unit.label not in (source.unit.label, "") or len(text) + 1 > room:
            break
        if at > 0 and (not is_list or candidate.features["heading"] or not _is_item(candidate)):
            break
        part = replace(part, end=candidate.end, text=f"{part.text} {text}")
        room -= len(text) + 1
    return part, room


def _is_within(each: Candidate | AnswerPart, part: AnswerPart) -> bool:
    hit = each.hit if isinstance(each, Candidate) else each.source.hit
    return hit is part.source.hit and part.start <= each.start < part.end


def _is_item(candidate: Candidate) -> bool:
    return candidate.unit.is_row or _ITEM.match(candidate.text) is not None


def _label(part: AnswerPart) -> str:
    """The term that what a part says is about, where the part leaves it out."""
    label = part.source.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    return label if _is_subject(label, part.source.text) else ""


def _subject_chars(part: AnswerPart, subjects: dict[str, None], room: int) -> int:
    """Note the term of a part where it fits and is not among ``subjects`` yet, and return how much room it takes."""
    label = _label(part)
    if not label or label in subjects or len(label) + 2 > room:
        return 0
    subjects[label] = None
    return len(label) + 2


def _with_subjects(parts: Sequence[AnswerPart], subjects: Mapping[str, None]) -> list[AnswerPart]:
    """Put each of the ``subjects`` before the first part that is about it."""
    left = dict(subjects)
    named = []
    for part in parts:
        label = _label(part)
        named.append(replace(part, text=f"{label}: {part.text}") if label in left else part)
        left.pop(label, None)
    return named


def _titled(profile: QuestionProfile, part: AnswerPart, room: int) -> AnswerPart:
    """Put the title before a sentence that leaves out what it is about, where that may be asked."""
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
