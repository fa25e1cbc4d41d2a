"""Chooses what of the candidates is given: the best sentence and further ones that may answer, each whole, as they fit.

Only what does not fit is cut. Whole sentences held the right answer more often than those cut to the clause that was
asked for, by .5 to 2 points on five question sets, and further ones by 1 to 3 (`python -m benchmarks.answers`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.model import LABEL_JOINT
from core.query.answer.answer_types import leads_on, refers_back
from core.query.answer.candidates import Candidate
from core.query.answer.forms import Form, form_wanted, sides_compared
from core.query.answer.listed import is_item, is_term, listed, said
from core.query.answer.named_labels import SURE
from core.query.answer.question_profile import QuestionProfile, similar
from core.query.answer.quotable_units import COMMAND, UNFINISHED
from core.query.answer.row_text import row_text
from core.query.answer.trim_clauses import Cut, Divided, divide, fill, squeeze
from core.text.analysis import analyse
from core.text.sentences import on_one_line

_LEAST_CHANCE = 0.01
"""Of answering, at which a further sentence is given."""
_LEAST_ELSEWHERE = 0.03
"""The same of another document than the best one's."""
_LEAST_BESIDE = 0.02
"""The same beside the best sentence and under its term, where more characters are given."""
_SAME_CHARS = 20
"""From which a text is known to begin with its sentence, and not with what was put before that."""
_LEAST_TO_SHARE = 0.05
"""The same where the best sentence has to be cut for it."""
_PRICE_PER_CHAR = 0.001
_PRICE_PER_PART = 0.015
"""Two sentences that are both cut have to be worth more than the best alone at these prices."""
_LEAST_TO_LIST = 0.2
"""Of the best sentence's chance, at which another one gives the list that was asked for."""
_MOST_PARTS = 4
_USUAL_CHARS, _ENTRY_CHARS = 250, 600
"""All that stands under a term is given where it has at most so many characters for every so many of an answer."""
_CUT_MARK = "…"
_ITEM_MARK = re.compile(
    r"\A(?:\(?\d{1,2}(?:\)|\.(?=\s|[^\x00-\x7f]))|[•‣・▪]|[●○■□◆◇](?!印)|[-*–](?=\s))\s*(?=[^\W\d_])"
)
_ANNOUNCES = re.compile(r"\b(?:as follows|like this|following)\b|次の|以下の|下記の|次に示", re.IGNORECASE)
_COUNTS = re.compile(r"\b(?:two|three|four|five|several|some)\b[^.]*\.\Z|[二三四五2-5２-５]つ[^。]*。\Z", re.IGNORECASE)
"""Sentences that may have told how many things there are, which the next ones name."""
_FIRST = re.compile(r"(?:first(?:ly)?|one (?:is|of)|the first)\b|まず|第一に|(?:一|1|１)つ(?:目|め)", re.IGNORECASE)
_FURTHER = re.compile(
    r"(?:second(?:ly)?|third(?:ly)?|then|next|finally|last(?:ly)?|the (?:second|third|other|last))\b"
    r"|次に|第[二三]に|(?:[二三四]|[2-4２-４])つ(?:目|め)|最後に",
    re.IGNORECASE,
)
_FORMER = re.compile(r"the (?:former|latter)\b|前者|後者", re.IGNORECASE)
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
        self._form = form_wanted(profile.text)
        self._best = best
        self._max_chars = max_chars
        self._entry_chars = max_chars * _ENTRY_CHARS // _USUAL_CHARS
        self._more = self._entry_chars - max_chars
        self._divided: dict[Candidate, Divided] = {}
        self._own: list[Candidate] = []

    def compose(self, found: Sequence[Candidate]) -> list[AnswerPart]:
        """Take the best sentence, then others that may answer, the likeliest first, while they fit as they are."""
        self._own = _under_one_term(self._best, found)
        whole = self._entry_chars - mark_chars(1)
        if entry := _entry(self._best, self._own, whole):
            return [entry]
        for source in self._may_list(found):
            if items := listed(source, found, self._form, whole):
                return [AnswerPart(source, items.start, items.end, items.text, 1.0)]
        room = self._max_chars - mark_chars(1)
        first = self._with_antecedent(self._part(self._best, room, forced=True), found)
        subjects: dict[str, None] = {}
        if taken := _subject_chars(first, subjects, room - len(first.text)):
            room -= taken
        else:
            first = _titled(self._profile, first, room)
        room -= len(first.text)
        first, room = _with_what_follows(first, found, room, self._more)
        parts = self._with_other_side([first], found)
        room -= sum(len(part.text) + mark_chars(number) for number, part in enumerate(parts[1:], 2))
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
            more = self._more if self._is_under_its_term(candidate) and worth >= _LEAST_TO_SHARE else 0
            part = _whole(self._profile, candidate, left + more)
            if part is not None:
                room = left - len(part.text)
                room -= _subject_chars(part, subjects, room)
                part, room = _with_what_follows(part, found, room, self._more)
                parts = [each for each in parts if not _is_within(each, part)] + [part]
            elif len(parts) == 1 and may_share and worth >= _LEAST_TO_SHARE and _is_bare(parts[0]):
                may_share = False
                if pair := self._side_by_side(candidate, parts[0]):
                    return _in_reading_order(pair)
        parts = [self._with_neighbours(parts[0], parts[1:], found), *parts[1:]]
        parts = _with_subjects(_in_reading_order(parts), subjects)
        return _under_headings(self._profile, parts, self._more)

    def _may_list(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the best sentence, before it those nearly as likely where the question asks for a list."""
        if self._form is not Form.LIST:
            return [self._best]
        near = [each for each in found if each.chance >= _LEAST_TO_LIST * self._best.chance]
        return sorted(near, key=lambda each: -each.chance)

    def _with_antecedent(self, first: AnswerPart, found: Sequence[Candidate]) -> AnswerPart:
        """Put before a sentence what it says nothing without: what "This" means, and what leads to a command."""
        best = first.source
        if best.unit.is_row or first.kept < 1.0 or not first.text.startswith(on_one_line(best.text)[:_SAME_CHARS]):
            return first
        own = {each.order: each for each in found if each.hit is best.hit and each.unit.label == best.unit.label}
        source, is_within = best, False
        while (before := own.get(source.order - 1)) is not None and not before.unit.is_row:
            whole = f"{said(before)} {first.text}"
            is_rest = _is_open(before) and (is_within or _goes_on(source))
            leads = leads_on(before.text) or _announces_command(before, source)
            belongs = refers_back(source.text) or leads or is_rest
            is_within = is_rest and not is_within
            is_apart = before.features["heading"] or not belongs
            if is_apart or len(whole) > self._max_chars - mark_chars(1):
                break
            first = replace(first, start=before.start, text=whole)
            source = before
        return first

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
            if missing and missing <= _terms_about(each, self._profile) and not each.features["heading"]
        ]
        second = max(
            about, key=lambda each: (each.hit.placed.doc_id == self._best.hit.placed.doc_id, each.chance), default=None
        )
        room = self._entry_chars - len(parts[0].text) - mark_chars(1) - mark_chars(2)
        part = _whole(self._profile, second, room) if second is not None else None
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
            text = f"{first.text} {said(each)}" if each.start >= first.end else f"{said(each)} {first.text}"
            first = replace(first, start=min(first.start, each.start), end=max(first.end, each.end), text=text)
        return first

    def _may_stand_beside(self, each: Candidate, first: AnswerPart, others: Sequence[AnswerPart], room: int) -> bool:
        is_new = not any(_is_within(each, part) for part in others)
        # What was put before the sentence stays before it.
        is_after = each.start >= first.end or first.text.startswith(said(first.source)[:_SAME_CHARS])
        fits = len(first.text) + len(each.text) + 1 + mark_chars(1) <= room
        return fits and is_new and is_after and not each.features["heading"] and each.chance >= _LEAST_BESIDE

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
        if whole := _whole(self._profile, candidate, room):
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


def _whole(profile: QuestionProfile, candidate: Candidate, room: int) -> AnswerPart | None:
    """Return a sentence or a table row as it is, where it fits."""
    if candidate.unit.is_row:
        text = row_text(profile, candidate, candidate.end - candidate.start + len(candidate.unit.header) + room)
    else:
        text = on_one_line(candidate.text)
        # What counts an item of a list says nothing where the other items are not given.
        if (mark := _ITEM_MARK.match(text)) and form_wanted(profile.text) not in (Form.STEPS, Form.LIST):
            text = text[mark.end() :]
    return AnswerPart(candidate, candidate.start, candidate.end, text, 1.0) if 0 < len(text) <= room else None


def _stretch(candidate: Candidate, cut: Cut) -> AnswerPart:
    before = _CUT_MARK if cut.start else ""
    after = _CUT_MARK if cut.end < len(candidate.text) else ""
    text = f"{before}{on_one_line(candidate.text[cut.start : cut.end])}{after}"
    return AnswerPart(candidate, candidate.start + cut.start, candidate.start + cut.end, text, cut.kept)


def _is_open(candidate: Candidate) -> bool:
    """Tell whether a text ends without a mark, as what a command or an example interrupts does, and these."""
    return candidate.text.isascii() and candidate.text.rstrip()[-1:].isalnum()


def _goes_on(candidate: Candidate) -> bool:
    """Tell whether a text goes on with a sentence that has begun before it."""
    return candidate.text.isascii() and candidate.text[:1].islower()


def _is_bare(part: AnswerPart) -> bool:
    """Tell whether a part is its sentence or less, with nothing put before or behind it."""
    return part.source.start <= part.start and part.end <= part.source.end


def _is_named_in(label: str, text: str) -> bool:
    """Tell whether a text has a label as words of its own: ``-vv`` has no ``-v``."""
    return re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text, re.ASCII) is not None


def _value(part: AnswerPart) -> float:
    return part.source.chance * part.kept - _PRICE_PER_PART - _PRICE_PER_CHAR * len(part.text)


def _entry(best: Candidate, own: Sequence[Candidate], room: int) -> AnswerPart | None:
    """Return all that a passage says under the term of the best sentence, its ``own``, where that fits."""
    label = best.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    if best.unit.is_row or not label or label.endswith(("?", "？")):
        return None
    below = " ".join(map(said, own))
    text = below if _is_named_in(label, below) else f"{_without_colon(label)}: {below}"
    return AnswerPart(best, own[0].start, own[-1].end, text, 1.0) if len(text) <= room else None


def _under_one_term(best: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
    """Return what stands under the term of a sentence in its order, with the rows of tables in its midst."""
    own = [each.order for each in found if each.hit is best.hit and each.unit.label == best.unit.label]
    among = [
        each
        for each in found
        if each.hit is best.hit
        and (each.unit.label == best.unit.label or (each.unit.is_row and min(own) < each.order < max(own)))
    ]
    return sorted(among, key=lambda each: each.order)


def _with_what_follows(part: AnswerPart, found: Sequence[Candidate], room: int, more: int) -> tuple[AnswerPart, int]:
    """Add to a sentence that ends with a colon, or in its midst, what it announces as it fits: a command, or items.

    They may take ``more`` characters than ``room``, which is what is left for other sentences.
    """
    source = part.source
    if not source.unit.is_row and (after := _that_tell_of_it(source, found)):
        for candidate in after:
            if len(text := said(candidate)) + 1 > room + more:
                break
            part = replace(part, end=candidate.end, text=f"{part.text} {text}")
            room -= len(text) + 1
        return part, room
    is_unfinished = UNFINISHED.search(part.text) is not None
    after = [each for each in found if each.hit is source.hit and each.order > source.order]
    is_announced = any(each.order == source.order + 1 and _announces_command(source, each) for each in after)
    if source.unit.is_row or not (is_unfinished or is_announced or part.text.endswith((":", "："))):
        return part, room
    is_list = len(after) > 1 and all(map(is_item, after[:2]))
    for at, candidate in enumerate(sorted(after, key=lambda each: each.order)):
        text = said(candidate)
        is_next_term = not is_unfinished and is_term(candidate)
        if is_next_term or candidate.unit.label not in (source.unit.label, "") or len(text) + 1 > room + more:
            break
        if at > 0 and (not is_list or candidate.features["heading"] or not is_item(candidate)):
            break
        part = replace(part, end=candidate.end, text=f"{part.text} {text}")
        room -= len(text) + 1
    return part, room


def _announces_command(source: Candidate, after: Candidate) -> bool:
    """Tell whether a sentence says that the command below it is what it means, though it ends with a stop."""
    return COMMAND.match(after.text) is not None and _ANNOUNCES.search(source.text) is not None


def _that_tell_of_it(source: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences behind one that tell of what it names or counts: "The former…", or "First, … Then, …"."""
    own = {each.order: each for each in found if each.hit is source.hit and each.unit.label == source.unit.label}
    after: list[Candidate] = []
    following = own.get(source.order + 1)
    if following is None:
        return after
    is_counted = _COUNTS.search(source.text) is not None and _FIRST.match(following.text) is not None
    pattern = _FURTHER if is_counted else _FORMER
    while following is not None and ((is_counted and not after) or pattern.match(following.text)):
        after.append(following)
        following = own.get(following.order + 1)
    return after


def _terms_about(candidate: Candidate, profile: QuestionProfile) -> frozenset[str]:
    """Return the terms of a sentence with those that it stands under."""
    return candidate.terms | frozenset(analyse(candidate.above, profile.language))


def _is_within(each: Candidate | AnswerPart, part: AnswerPart) -> bool:
    hit = each.hit if isinstance(each, Candidate) else each.source.hit
    return hit is part.source.hit and part.start <= each.start < part.end


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
        named.append(replace(part, text=f"{_without_colon(label)}: {part.text}") if label in left else part)
        left.pop(label, None)
    return named


def _without_colon(label: str) -> str:
    return label.rstrip(":： ")


def _titled(profile: QuestionProfile, part: AnswerPart, room: int) -> AnswerPart:
    """Put the title before a sentence that leaves out what it is about, where that may be asked."""
    title = part.source.hit.placed.title.strip()
    if profile.expectation.kind not in _SUBJECT_KINDS or part.source.unit.is_row or not _TITLE.fullmatch(title):
        return part
    if _heading(profile, part) or (_CODED.search(title) and part.source.hit.placed.name.startswith(title)):
        return part
    text = f"{title}: {part.text}"
    known = f"{profile.text}\n{part.source.text}".casefold()
    return part if title.casefold() in known or len(text) > room else replace(part, text=text)


def _under_headings(profile: QuestionProfile, parts: Sequence[AnswerPart], room: int) -> list[AnswerPart]:
    """Put the heading before each part that leaves out what it is about, where that may be asked, as it fits."""
    if profile.expectation.kind not in _SUBJECT_KINDS:
        return list(parts)
    headed: list[AnswerPart] = []
    said: set[str] = set()
    for part in parts:
        heading = _heading(profile, part)
        if heading and heading not in said and len(heading) + 2 <= room:
            said.add(heading)
            room -= len(heading) + 2
            part = replace(part, text=f"{heading}: {part.text}")
        headed.append(part)
    return headed


def _heading(profile: QuestionProfile, part: AnswerPart) -> str:
    """The heading that a part stands under, where neither the part nor the question says it and no term does."""
    unit = part.source.unit
    heading = _without_colon(unit.section.strip().lstrip("# "))
    if unit.is_row or unit.label or not _is_subject(heading, part.text):
        return ""
    return "" if heading.casefold() in f"{profile.text}\n{part.text}".casefold() else heading


def _is_subject(label: str, text: str) -> bool:
    """Whether a label names what a sentence under it is about: a short one that neither asks nor is in the sentence."""
    return 0 < len(label) <= _LONGEST_SUBJECT and not label.endswith(("?", "？")) and label not in text


def _in_reading_order(parts: Sequence[AnswerPart]) -> list[AnswerPart]:
    """Order by passage, the best sentence's first, and within a passage as it reads."""
    passages = list(dict.fromkeys(part.source.hit.placed.id for part in parts))
    return sorted(parts, key=lambda part: (passages.index(part.source.hit.placed.id), part.start))


def mark_chars(number: int) -> int:
    return len(f" [{number}]") + (number > 1)
