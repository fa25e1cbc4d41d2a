"""Chooses what of the candidates is given: the best sentence and further ones that may answer, each whole, as they fit.

Only what does not fit is cut. Whole sentences held the right answer more often than those cut to the clause that was
asked for, by .5 to 2 points on five question sets, and further ones by 1 to 3 (`python -m benchmarks.answers`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from core.model import LABEL_JOINT
from core.query.answer.answer_part import (
    SAME_CHARS,
    AnswerPart,
    is_bare,
    is_within,
    mark_chars,
    whole_part,
    with_antecedent,
    with_what_follows,
)
from core.query.answer.answer_types import refers_back
from core.query.answer.candidates import Candidate
from core.query.answer.forms import Form, form_wanted, sides_compared
from core.query.answer.listed import listed, said, said_next
from core.query.answer.named_labels import SURE
from core.query.answer.question_profile import QuestionProfile, similar
from core.query.answer.row_text import row_text
from core.query.answer.subjects import section_of, subject_chars, titled, under_headings, with_subjects, without_colon
from core.query.answer.trim_clauses import Cut, Divided, divide, fill, squeeze
from core.text.analysis import analyse
from core.text.sentences import on_one_line

_LEAST_CHANCE = 0.01
"""Of answering, at which a further sentence is given."""
_LEAST_ELSEWHERE = 0.03
"""The same of another document than the best one's."""
_LEAST_BESIDE = 0.02
"""The same beside the best sentence and under its term, where more characters are given."""
_LEAST_TO_SHARE = 0.05
"""The same where the best sentence has to be cut for it."""
_NEARLY_CERTAIN = 0.6
"""Chance of the best sentence above which it stands without those that follow it, and without another as likely."""
_RIVAL, _LEAST_RIVAL = 0.5, 0.05
"""Share of the best sentence's chance, and chance, from which one that is not among what is given is given, too."""
_PRICE_PER_CHAR = 0.001
_PRICE_PER_PART = 0.015
"""Two sentences that are both cut have to be worth more than the best alone at these prices."""
_LEAST_TO_LIST = 0.2
"""Of the best sentence's chance, at which another one gives the list that was asked for."""
_LEAST_STEP = 0.5
"""The same for a step, which has to be in the best sentence's passage."""
_MOST_PARTS = 4
_USUAL_CHARS, _ENTRY_CHARS = 250, 600
"""All that stands under a term is given where it has at most so many characters for every so many of an answer."""
_CUT_MARK = "…"
_RIGHTS = re.compile(r"(?:copyright\b|©|\(c\) )", re.IGNORECASE)
"""What a page ends with below what it says."""
_LEAST_KEPT = 0.7
_SHARES = (0.4, 0.5, 0.6)


class Composer:
    """Composes the answer to one question from its candidates.

    It has at most ``max_chars`` characters, an entry or an uncertain answer 2.4 times as many.
    """

    def __init__(self, profile: QuestionProfile, best: Candidate, max_chars: int) -> None:
        self._profile = profile
        self._form = form_wanted(profile.text)
        self._best = best
        self._max_chars = max_chars
        self._entry_chars = max_chars * _ENTRY_CHARS // _USUAL_CHARS
        self._more = self._entry_chars - max_chars
        self._divided: dict[Candidate, Divided] = {}
        self._own: list[Candidate] = []

    def compose(self, found: Sequence[Candidate]) -> list[AnswerPart]:
        """Return the answer, and where another one is nearly as likely, that too."""
        return self._with_rival(self._answer(found), found)

    def _with_rival(self, parts: list[AnswerPart], found: Sequence[Candidate]) -> list[AnswerPart]:
        """Add, behind the answer, what is nearly as likely: another entry, row or sentence, whole, where it fits."""
        best = self._best
        if best.chance > _NEARLY_CERTAIN:
            return parts
        others = [each for each in found if not each.features["heading"] and not _is_said_by(each, parts)]
        rival = max(others, key=lambda each: each.chance, default=None)
        if rival is None or rival.chance < max(_LEAST_RIVAL, _RIVAL * best.chance):
            return parts
        room = self._room_left(parts) - mark_chars(len(parts) + 1)
        part = _entry(rival, _under_one_term(rival, found), room) or self._whole_with_subject(rival, found, room)
        if part is None or is_within(best, part):
            return parts
        return [*(each for each in parts if not is_within(each, part)), self._with_heading(part, room)]

    def _whole_with_subject(self, candidate: Candidate, found: Sequence[Candidate], room: int) -> AnswerPart | None:
        # A cell says nothing without its row, which is given as an entry or not at all.
        part = None if candidate.unit.is_row and candidate.unit.label else whole_part(self._profile, candidate, room)
        if part is None:
            return None
        subjects: dict[str, None] = {}
        room -= subject_chars(part, subjects, room - len(part.text))
        return with_subjects([with_antecedent(part, found, room)], subjects)[0]

    def _with_heading(self, part: AnswerPart, room: int) -> AnswerPart:
        """Put its heading before what stands in another section than the best sentence."""
        heading, own = section_of(part.source), section_of(self._best)
        text = f"{heading}: {part.text}"
        is_other = heading and heading != own and heading.casefold() not in part.text.casefold()
        return replace(part, text=text) if is_other and len(text) <= room else part

    def _room_left(self, parts: Sequence[AnswerPart], subjects: Mapping[str, None] = MappingProxyType({})) -> int:
        """Return how many characters an entry has left beside these parts and the terms that will stand before them."""
        said_already = sum(len(part.text) + mark_chars(number) for number, part in enumerate(parts, 1))
        return self._entry_chars - said_already - sum(len(label) + 2 for label in subjects)

    def _answer(self, found: Sequence[Candidate]) -> list[AnswerPart]:
        """Take the best sentence, then others that may answer, the likeliest first, while they fit as they are."""
        self._own = _under_one_term(self._best, found)
        whole = self._entry_chars - mark_chars(1)
        if entry := _entry(self._best, self._own, whole):
            return [entry]
        for source in self._list_sources(found):
            # The best sentence stands beside steps that are given for another one.
            is_beside = self._form is Form.STEPS and source is not self._best
            beside = [self._part(self._best, self._max_chars, forced=True)] if is_beside else []
            left = whole - sum(len(part.text) + mark_chars(2) for part in beside)
            if items := listed(source, found, self._form, left):
                given = AnswerPart(source, items.start, items.end, items.text, 1.0)
                return _in_reading_order([*(each for each in beside if not is_within(self._best, given)), given])
        room = self._max_chars - mark_chars(1)
        row = whole_part(self._profile, self._best, whole) if self._best.unit.is_row else None
        first = with_antecedent(row or self._part(self._best, room, forced=True), found, room)
        subjects: dict[str, None] = {}
        if taken := subject_chars(first, subjects, (whole if row else room) - len(first.text)):
            room -= taken
        else:
            first = titled(self._profile, first, room)
        room -= len(first.text)
        first, room = with_what_follows(first, found, room, self._more)
        parts = self._with_other_side([first], found)
        room -= sum(len(part.text) + mark_chars(number) for number, part in enumerate(parts[1:], 2))
        may_share = True
        for candidate in sorted(found, key=self._worth, reverse=True):
            worth = self._worth(candidate)
            if len(parts) == _MOST_PARTS or worth < _LEAST_CHANCE:
                break
            if candidate.features["heading"] or not self._belongs(candidate, worth):
                continue
            if _is_said_by(candidate, parts):
                continue
            left = room - mark_chars(len(parts) + 1)
            more = self._more if self._is_under_its_term(candidate) and worth >= _LEAST_TO_SHARE else 0
            part = whole_part(self._profile, candidate, left + more)
            if part is not None:
                room = left - len(part.text)
                room -= subject_chars(part, subjects, room)
                part, room = with_what_follows(part, found, room, self._more)
                parts = [each for each in parts if not is_within(each, part)] + [part]
            elif len(parts) == 1 and may_share and worth >= _LEAST_TO_SHARE and is_bare(parts[0]):
                may_share = False
                if pair := self._side_by_side(candidate, parts[0]):
                    return _in_reading_order(pair)
        parts = [self._with_neighbours(parts[0], parts[1:], found), *parts[1:]]
        parts = self._with_what_is_said_next(parts, found, subjects)
        parts = with_subjects(_in_reading_order(parts), subjects)
        return under_headings(self._profile, parts, min(self._more, self._room_left(parts)))

    def _list_sources(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the best sentence, and those nearly as likely where the question asks for a list or for steps.

        Steps are of the best sentence's passage.
        """
        best = self._best
        if self._form is Form.LIST:
            near = [each for each in found if each.chance >= _LEAST_TO_LIST * best.chance]
        elif self._form is Form.STEPS:
            near = [each for each in found if each.hit is best.hit and each.chance >= _LEAST_STEP * best.chance]
        else:
            return [best]
        return sorted(near, key=lambda each: -each.chance)

    def _with_other_side(self, parts: list[AnswerPart], found: Sequence[Candidate]) -> list[AnswerPart]:
        """Add the likeliest sentence about the side of a comparison that the best one does not tell of."""
        sides = sides_compared(self._profile.text) if self._form is Form.COMPARISON else None
        if sides is None:
            return parts
        one, other = (frozenset(analyse(side, self._profile.language)) for side in sides)
        told = [bool(own) and own <= _terms_about(self._best, self._profile) for own in (one - other, other - one)]
        if all(told) or not any(told):
            return parts
        missing = other - one if told[0] else one - other
        about = [
            each
            for each in found
            if missing
            and missing <= _terms_about(each, self._profile)
            and not each.features["heading"]
            and not any(is_within(each, part) for part in parts)
        ]
        second = max(
            about, key=lambda each: (each.hit.placed.doc_id == self._best.hit.placed.doc_id, each.chance), default=None
        )
        room = self._entry_chars - len(parts[0].text) - mark_chars(1) - mark_chars(2)
        part = whole_part(self._profile, second, room) if second is not None else None
        return [*parts, part] if part is not None else parts

    def _with_neighbours(
        self, first: AnswerPart, others: Sequence[AnswerPart], found: Sequence[Candidate]
    ) -> AnswerPart:
        """Add to the best sentence those under the same term that may answer, too, as one stretch of the passage."""
        best = first.source
        if best.unit.is_row or not best.unit.label or first.kept < 1.0:
            return first
        own = {each.order: each for each in found if each.hit is best.hit and each.unit.label == best.unit.label}
        room = self._entry_chars - sum(len(part.text) + mark_chars(number) for number, part in enumerate(others, 2))
        low, high = first.start, first.end
        inside = [each.order for each in own.values() if low <= each.start < high]
        while inside:
            sides = [own[order] for order in (min(inside) - 1, max(inside) + 1) if order in own]
            sides = [each for each in sides if self._may_stand_beside(each, first, others, room)]
            if not sides:
                break
            each = max(sides, key=lambda side: side.chance)
            inside.append(each.order)
            text = first.text + said_next(first.text, each) if each.start >= first.end else f"{said(each)} {first.text}"
            first = replace(first, start=min(first.start, each.start), end=max(first.end, each.end), text=text)
        return first

    def _may_stand_beside(self, each: Candidate, first: AnswerPart, others: Sequence[AnswerPart], room: int) -> bool:
        is_new = not any(is_within(each, part) for part in others)
        # What was put before the sentence stays before it.
        is_after = each.start >= first.end or first.text.startswith(said(first.source)[:SAME_CHARS])
        fits = len(first.text) + len(said(each)) + 1 + mark_chars(1) <= room
        return fits and is_new and is_after and not each.features["heading"] and each.chance >= _LEAST_BESIDE

    def _with_what_is_said_next(
        self, parts: list[AnswerPart], found: Sequence[Candidate], subjects: Mapping[str, None]
    ) -> list[AnswerPart]:
        """Go on with the best sentence as the passage does, where another one may be meant.

        A sentence that asks the same, or names the trouble, is often chosen before the one behind it that helps.
        """
        first, best = parts[0], self._best
        if first.source is not best or best.chance > _NEARLY_CERTAIN or best.unit.is_row or first.kept < 1.0:
            return parts
        room = self._room_left(parts, subjects)
        here = {each.order: each for each in found if each.hit is best.hit}
        # What was left out of the candidates, as what gives orders is, ends it.
        order = max(order for order, each in here.items() if each.start < first.end) + 1
        while (each := here.get(order)) is not None:
            text = said_next(first.text, each)
            is_apart = each.features["heading"] or each.unit.is_row or each.unit.label != best.unit.label
            is_end = is_apart or _RIGHTS.match(each.text) is not None
            if is_end or len(text) > room or any(is_within(each, part) for part in parts):
                break
            first = replace(first, end=each.end, text=first.text + text)
            room -= len(text)
            order += 1
        return [first, *parts[1:]]

    def _belongs(self, candidate: Candidate, worth: float) -> bool:
        """Whether a sentence may stand beside the best one: under the same term, or from another document if likely."""
        best = self._best
        if best.hit.placed.doc_id != candidate.hit.placed.doc_id and worth < _LEAST_ELSEWHERE:
            return False
        if best.unit.is_row or not best.unit.label:
            return not (best.features["named"] == SURE and candidate.features["named"] < SURE)
        return candidate.unit.label == best.unit.label or candidate in self._own

    def _is_under_its_term(self, candidate: Candidate) -> bool:
        """Whether a sentence stands with the best one under a term of which more is given than of other passages."""
        best = self._best
        is_same = candidate.hit is best.hit and candidate.unit.label == best.unit.label != ""
        return is_same and not best.unit.is_row and not candidate.unit.is_row

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
        if whole := whole_part(self._profile, candidate, room):
            return whole
        if candidate.unit.is_row:
            text = row_text(self._profile, candidate, room) if forced else ""
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


def _stretch(candidate: Candidate, cut: Cut) -> AnswerPart:
    before = _CUT_MARK if cut.start else ""
    after = _CUT_MARK if cut.end < len(candidate.text) else ""
    text = f"{before}{on_one_line(candidate.text[cut.start : cut.end])}{after}"
    return AnswerPart(candidate, candidate.start + cut.start, candidate.start + cut.end, text, cut.kept)


def _is_named_in(label: str, text: str) -> bool:
    """Tell whether a text has a label as words of its own: ``-vv`` has no ``-v``."""
    return re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text, re.ASCII) is not None


def _is_said_by(candidate: Candidate, parts: Sequence[AnswerPart]) -> bool:
    return any(
        is_within(candidate, part) or candidate.text == part.source.text or similar(candidate.terms, part.source.terms)
        for part in parts
    )


def _value(part: AnswerPart) -> float:
    return part.source.chance * part.kept - _PRICE_PER_PART - _PRICE_PER_CHAR * len(part.text)


def _entry(best: Candidate, own: Sequence[Candidate], room: int) -> AnswerPart | None:
    """Return all that a passage says under the term of the best sentence, its ``own``, where that fits."""
    label = best.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    if best.unit.is_row or not label or label.endswith(("?", "？")):
        return None
    below = said(own[0])
    for each in own[1:]:
        below += said_next(below, each)
    below = below.removesuffix(";")
    text = below if _is_named_in(label, said(own[0])) else f"{without_colon(label)}: {below}"
    return AnswerPart(best, own[0].start, own[-1].end, text, 1.0) if len(text) <= room else None


def _under_one_term(best: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
    """Return what stands under the term of a sentence in its order, with the rows of tables in its midst.

    A term that is written again, as in the rows of a table, begins another entry.
    """
    label = best.unit.label
    here = [each for each in found if each.hit is best.hit]
    terms = [each.order for each in here if each.features["heading"] and each.text.strip() == label]
    first = max((order for order in terms if order < best.order), default=-1)
    last = min((order for order in terms if order > best.order), default=math.inf)
    inside = [each for each in here if first < each.order < last]
    own = [each.order for each in inside if each.unit.label == label]
    among = [
        each for each in inside if each.unit.label == label or (each.unit.is_row and min(own) < each.order < max(own))
    ]
    return sorted(among, key=lambda each: each.order)


def _terms_about(candidate: Candidate, profile: QuestionProfile) -> frozenset[str]:
    """Return the terms of a sentence with those that it stands under."""
    return candidate.terms | frozenset(analyse(candidate.above, profile.language))


def _in_reading_order(parts: Sequence[AnswerPart]) -> list[AnswerPart]:
    """Order by passage, the best sentence's first, and within a passage as it reads."""
    passages = list(dict.fromkeys(part.source.hit.placed.id for part in parts))
    return sorted(parts, key=lambda part: (passages.index(part.source.hit.placed.id), part.start))
