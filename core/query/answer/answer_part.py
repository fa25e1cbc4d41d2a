"""A part of an answer: a sentence or a table row, with what it needs of the text before and behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.query.answer.answer_types import leads_on, names_again, refers_back
from core.query.answer.candidates import Candidate
from core.query.answer.forms import Form, form_wanted
from core.query.answer.listed import is_item, is_term, said, said_next
from core.query.answer.question_profile import QuestionProfile
from core.query.answer.quotable_units import UNFINISHED, is_code, is_typed
from core.query.answer.row_text import row_text
from core.text.sentences import on_one_line

SAME_CHARS = 20
"""From which a text is known to begin with its sentence, and not with what was put before that."""
_ITEM_MARK = re.compile(
    r"\A(?:\(?\d{1,2}(?:\)|\.(?=\s|[^\x00-\x7f]))|[•‣・▪]|[●○■□◆◇](?!印)|[-*–](?=\s))\s*(?=[^\W\d_])"
)
_POINTS_BELOW = re.compile(
    r"\b(?:as follows|like this|following)\b|\bbelow\W*\Z|次の|以下の|下記の|次に示", re.IGNORECASE
)
_COUNTS = re.compile(r"\b(?:two|three|four|five|several|some)\b[^.]*\.\Z|[二三四五2-5２-５]つ[^。]*。\Z", re.IGNORECASE)
"""Sentences that may have told how many things there are, which the next ones name."""
_FIRST = re.compile(r"(?:first(?:ly)?|one (?:is|of)|the first)\b|まず|第一に|(?:一|1|１)つ(?:目|め)", re.IGNORECASE)
_FURTHER = re.compile(
    r"(?:second(?:ly)?|third(?:ly)?|then|next|finally|last(?:ly)?|the (?:second|third|other|last))\b"
    r"|次に|第[二三]に|(?:[二三四]|[2-4２-４])つ(?:目|め)|最後に",
    re.IGNORECASE,
)
_BLANK_LINE = re.compile(r"\n\s*\n")
_FORMER = re.compile(r"the (?:former|latter)\b|前者|後者", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A stretch of one passage that the answer gives; ``start`` and ``end`` count in the passage's text."""

    source: Candidate
    start: int
    end: int
    text: str
    kept: float


def mark_chars(number: int) -> int:
    return len(f" [{number}]") + (number > 1)


def whole_part(profile: QuestionProfile, candidate: Candidate, room: int) -> AnswerPart | None:
    """Return a sentence or a table row as it is, where it fits."""
    if candidate.unit.is_row:
        text = row_text(profile, candidate, candidate.end - candidate.start + len(candidate.unit.header) + room)
    else:
        text = on_one_line(candidate.text)
        # What counts an item of a list says nothing where the other items are not given.
        if (mark := _ITEM_MARK.match(text)) and form_wanted(profile.text) not in (Form.STEPS, Form.LIST):
            text = text[mark.end() :]
    return AnswerPart(candidate, candidate.start, candidate.end, text, 1.0) if 0 < len(text) <= room else None


def is_bare(part: AnswerPart) -> bool:
    """Tell whether a part is its sentence or less, with nothing put before or behind it."""
    return part.source.start <= part.start and part.end <= part.source.end


def is_within(each: Candidate | AnswerPart, part: AnswerPart) -> bool:
    hit = each.hit if isinstance(each, Candidate) else each.source.hit
    return hit is part.source.hit and part.start <= each.start < part.end


def with_antecedent(first: AnswerPart, found: Sequence[Candidate], room: int) -> AnswerPart:
    """Put before a sentence what it says nothing without: what "This" means, and what leads to a command."""
    best = first.source
    if best.unit.is_row or first.kept < 1.0 or not first.text.startswith(on_one_line(best.text)[:SAME_CHARS]):
        return first
    own = {each.order: each for each in found if each.hit is best.hit and each.unit.label == best.unit.label}
    # Lines that all lack a mark are a list, each of its own.
    is_ended = _is_ended(best, own.get(best.order + 1))
    source, is_inside = best, False
    while (before := own.get(source.order - 1)) is not None and not before.unit.is_row:
        whole = f"{said(before)} {first.text}"
        is_rest = is_ended and _is_open(before) and (is_inside or _goes_on(source))
        leads = leads_on(before.text) or _announces_command(before, source)
        belongs = refers_back(source.text) or names_again(source.text, before.text) or leads or is_rest
        is_inside = is_rest and not is_inside
        is_apart = before.features["heading"] or not belongs
        if is_apart or len(whole) > room:
            break
        first = replace(first, start=before.start, text=whole)
        source = before
    return first


def with_what_follows(part: AnswerPart, found: Sequence[Candidate], room: int, more: int) -> tuple[AnswerPart, int]:
    """Add to a sentence that ends with a colon, or in its midst, what it announces as it fits: a command, or items.

    They may take ``more`` characters than ``room``, which is what is left for other sentences.
    """
    source = part.source
    if not source.unit.is_row and (after := _that_tell_of_it(source, found)):
        for candidate in after:
            if len(text := said_next(part.text, candidate)) > room + more:
                break
            part = replace(part, end=candidate.end, text=part.text + text)
            room -= len(text)
        return part, room
    is_unfinished = UNFINISHED.search(part.text) is not None
    after = [each for each in found if each.hit is source.hit and each.order > source.order]
    is_announced = any(each.order == source.order + 1 and _announces_command(source, each) for each in after)
    if source.unit.is_row or not (is_unfinished or is_announced or part.text.endswith((":", "："))):
        return part, room
    is_list = len(after) > 1 and all(map(is_item, after[:2]))
    for at, candidate in enumerate(sorted(after, key=lambda each: each.order)):
        text = said_next(part.text, candidate)
        is_next_term = not is_unfinished and is_term(candidate)
        if is_next_term or candidate.unit.label not in (source.unit.label, "") or len(text) > room + more:
            break
        is_next_item = is_list and not candidate.features["heading"] and is_item(candidate)
        if at > 0 and not is_next_item and not (is_code(candidate.text) and _is_in_one_block(part, candidate)):
            break
        part = replace(part, end=candidate.end, text=part.text + text)
        room -= len(text)
    return part, room


def _is_in_one_block(part: AnswerPart, after: Candidate) -> bool:
    """Tell whether no blank line stands between a part and what follows it."""
    return _BLANK_LINE.search(after.hit.placed.chunk.text[part.end : after.start]) is None


def _announces_command(source: Candidate, after: Candidate) -> bool:
    """Tell whether a sentence says that the command below it is what it means, though it ends with a stop."""
    return is_typed(after.text) and _POINTS_BELOW.search(source.text) is not None


def _that_tell_of_it(source: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences behind one that tell of what it names or counts: "The former…", or "First, … Then, …"."""
    own = {
        each.order: each
        for each in found
        if each.hit is source.hit and each.unit.label == source.unit.label and not each.unit.is_row
    }
    after: list[Candidate] = []
    following = own.get(source.order + 1)
    if following is None:
        return after
    is_counted = _COUNTS.search(source.text) is not None and _FIRST.match(following.text) is not None
    pattern = _FURTHER if is_counted else _FORMER
    while following is not None and ((is_counted and not after) or pattern.match(following.text)):
        if following.features["heading"]:
            break
        after.append(following)
        following = own.get(following.order + 1)
    return after


def _is_open(candidate: Candidate) -> bool:
    """Tell whether a text ends without a mark, as what a command or an example interrupts does, and these."""
    return candidate.text.isascii() and candidate.text.rstrip()[-1:].isalnum()


def _is_ended(candidate: Candidate, after: Candidate | None) -> bool:
    """Tell whether a text has the mark that ends its sentence, or what goes on with it has."""
    return not _is_open(candidate) or (after is not None and _goes_on(after) and not _is_open(after))


def _goes_on(candidate: Candidate) -> bool:
    """Tell whether a text goes on with a sentence that has begun before it."""
    return candidate.text.isascii() and candidate.text[:1].islower()
