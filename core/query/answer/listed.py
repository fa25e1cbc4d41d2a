"""Gives a list with the sentence that announces it, as much of it as fits: items, steps or terms in their order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.model import LABEL_JOINT
from core.query.answer.candidates import Candidate
from core.query.answer.forms import Form
from core.query.answer.quotable_units import CELL_JOINT, is_code
from core.text.sentences import on_one_line

_COUNT = r"[(（]?\d{1,2}(?:[)）．、]|\.(?=\s|[^\x00-\x7f]))|[①-⑳]|(?:step|手順|ステップ)\s*\d"
"""A number before an item; that of ``2.5 GB`` or ``2.x`` is none."""
_LETTER = r"\(?(?:[a-zア-ンあ-ん一二三四五六七八九十]|[ivx]{2,4}|\d{3})[.)]\s"
_ITEM = re.compile(rf"\s*(?:[-*•‣・●○■□◆◇▪–—]|{_LETTER}|{_COUNT})", re.IGNORECASE)
_NUMBERED = re.compile(rf"\s*(?:{_COUNT})", re.IGNORECASE)
_NUMBER = re.compile(r"\D{0,4}(\d{1,2})")
_LONGEST_ASIDE = 8
"""Sentences or rows of a note or a table between two items."""
_COLONS = (":", "：")
_LEADS_TO_LIST = re.compile(
    r"(?:[:：]|\.{3}|…)\s*\Z"
    r"|\b(?:as follows|(?:the|these) following(?: \w+){0,3}|(?:steps|points|items) below)\s*\.\s*\Z"
    r"|(?<![年\d])(?:次|以下|下記)の(?:よう|とおり|通り|手順|方法|操作|いずれか|条件|項目)[^。]{0,20}。\s*\Z",
    re.IGNORECASE,
)
"""How a sentence ends that has a list below it: with a colon, "as follows." or 次のようにしてください。"""
_BREAK = re.compile(r"\n\s*\n")
_LEAST_ITEMS = 2
_LEAST_SHOWN = 60
"""Characters of each item, at least, where all are cut to be given together."""
_CUT_MARK = "…"


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of one passage, an item a line; ``start`` and ``end`` count in the passage's text."""

    start: int
    end: int
    text: str


def listed(best: Candidate, found: Sequence[Candidate], form: Form, room: int) -> Listed | None:
    """Return the list that the best sentence announces, or is an item of where a list is wanted; None without one.

    Items are whole where all fit, else their first sentences, else the beginnings of the long ones; what does not fit
    after that is left out, but not the best sentence, and said by a mark.
    """
    own = sorted((each for each in found if each.hit is best.hit), key=lambda each: each.order)
    at = next(number for number, each in enumerate(own) if each.order == best.order)
    first = _first_item(own, at, form)
    if first is None:
        return None
    groups = _groups(own, first)
    if len(groups) < _LEAST_ITEMS or not (at < first or any(best in group for group in groups)):
        return None
    lead = [own[first - 1]] if first and _leads(own[first - 1], own[first]) else []
    for whole in (True, False):
        texts = [_item_text(group if whole else _head(group, best)) for group in groups]
        if sum(len(text) + 1 for text in texts) + sum(len(said(each)) for each in lead) <= room:
            return _written(lead, groups, texts)
    wanted = next((number for number, group in enumerate(groups) if best in group), 0)
    is_best = at >= first
    short = _shortened(texts, wanted if is_best else None, room - sum(len(said(each)) + 1 for each in lead))
    if short:
        return _written(lead, groups, short)
    low = high = wanted
    left = room - sum(len(said(each)) + 1 for each in lead) - 2 * (len(_CUT_MARK) + 1) - len(texts[wanted])
    while high + 1 < len(groups) and len(texts[high + 1]) + 1 <= left:
        high += 1
        left -= len(texts[high]) + 1
    while low and len(texts[low - 1]) + 1 <= left:
        low -= 1
        left -= len(texts[low]) + 1
    if left < 0 or high - low + 1 < _LEAST_ITEMS:
        return None
    shown = [*([_CUT_MARK] if low else []), *texts[low : high + 1], *([_CUT_MARK] if high + 1 < len(groups) else [])]
    return _written(lead, groups[low : high + 1], shown)


def _shortened(texts: Sequence[str], kept: int | None, room: int) -> list[str]:
    """Return the items with the long ones cut alike so that all fit, but for the one ``kept``; none where they do not.

    A reader who asks for all of them sees what each is about, not some of them whole.
    """
    room -= len(texts) - 1
    if kept is not None:
        room -= len(texts[kept])
    others = sorted(len(text) for number, text in enumerate(texts) if number != kept)
    for number, size in enumerate(others):
        share = room // (len(others) - number)
        if size > share:
            if share < _LEAST_SHOWN:
                return []
            return [text if at == kept else _begun(text, share) for at, text in enumerate(texts)]
        room -= size
    return list(texts)


def _begun(text: str, most: int) -> str:
    """Return a text, or as much of its beginning as fits, which ends with a word and a mark."""
    if len(text) <= most:
        return text
    head = text[: most - len(_CUT_MARK)]
    blank = head.rfind(" ")
    return (head[:blank] if blank > most // 2 else head).rstrip() + _CUT_MARK


def said(candidate: Candidate) -> str:
    """Return a sentence or a row on one line, code in its lines, a cell of an entry with the head of its column."""
    unit, text = candidate.unit, candidate.text
    if unit.is_row and unit.label and unit.header:
        return on_one_line(f"{unit.header}: {text};")
    if unit.is_row:
        return on_one_line(text.replace(CELL_JOINT, ": "))
    return "\n".join(map(on_one_line, text.splitlines())) if is_code(text) else on_one_line(text)


def said_next(before: str, candidate: Candidate) -> str:
    """Return what is said behind what was said before; items, code and what follows code begin a line."""
    is_apart = not candidate.unit.is_row and (_ITEM.match(candidate.text) or is_code(candidate.text))
    _, has_lines, last = before.rpartition("\n")
    is_below_code = bool(has_lines) and is_code(last)
    return ("\n" if is_apart or is_below_code else " ") + said(candidate)


def is_item(candidate: Candidate) -> bool:
    return candidate.unit.is_row or _ITEM.match(candidate.text) is not None


def is_term(candidate: Candidate) -> bool:
    """Tell whether a line is a term that others stand under."""
    text = candidate.text.strip()
    labels = candidate.hit.placed.chunk.labels
    return candidate.unit.is_heading and any(text == label.text.rsplit(LABEL_JOINT, 1)[-1] for label in labels)


def _first_item(own: Sequence[Candidate], at: int, form: Form) -> int | None:
    """Return where the list begins that a sentence announces or is of."""
    best = own[at]
    if best.unit.is_row:
        return None
    after = own[at + 1] if at + 1 < len(own) else None
    announces = _LEADS_TO_LIST.search(best.text) is not None or form in (Form.LIST, Form.STEPS)
    # What stands under a term does not announce the terms behind it.
    is_of_one = after is not None and is_term(after) and bool(best.unit.label)
    if after is not None and announces and not is_of_one and not _starts(best) and _starts(after):
        return at + 1
    is_wanted = form is Form.LIST or (form is Form.STEPS and _NUMBERED.match(best.text) is not None)
    if not is_wanted or not _starts(best):
        return None
    first = at
    for number in range(at - 1, -1, -1):
        if _starts(own[number]):
            first = number
        elif not _goes_on(own[number - 1] if number else None, own[number]):
            break
    return first


def _groups(own: Sequence[Candidate], first: int) -> list[list[Candidate]]:
    """Return the items of a list, each with what goes on with it, a note or table between it and the next among it."""
    groups: list[list[Candidate]] = []
    terms = is_term(own[first])
    resumed = first
    for number in range(first, len(own)):
        each = own[number]
        if number >= resumed and groups and (after := _resumes(own, number, groups[-1][0], terms)):
            resumed = after
        if number < resumed:
            groups[-1].append(each)
        elif each.unit.is_row:
            break
        elif is_term(each) if terms else _ITEM.match(each.text) is not None and not each.unit.is_heading:
            groups.append([each])
        elif groups and (
            each.unit.label.endswith(groups[-1][0].text.strip()) if terms else _goes_on(own[number - 1], each)
        ):
            groups[-1].append(each)
        else:
            break
    return groups


def _resumes(own: Sequence[Candidate], number: int, item: Candidate, terms: bool) -> int:
    """Return where a list goes on behind a note or a table that stands at ``number``, 0 where it does not."""
    for at in range(number, min(number + _LONGEST_ASIDE + 1, len(own))):
        if own[at].unit.is_heading and not is_term(own[at]):
            return 0
        if is_term(own[at]) if terms else _is_next(item, own[at]):
            return at
    return 0


def _is_next(item: Candidate, other: Candidate) -> bool:
    """Tell whether an item has the number behind another's."""
    if other.unit.is_row or not (_NUMBERED.match(item.text) and _NUMBERED.match(other.text)):
        return False
    numbers = [_NUMBER.match(unicodedata.normalize("NFKC", each.text.strip())) for each in (item, other)]
    return None not in numbers and int(numbers[1][1]) == int(numbers[0][1]) + 1  # type: ignore[index]


def _starts(each: Candidate) -> bool:
    return is_term(each) or (not each.unit.is_row and _ITEM.match(each.text) is not None)


def _goes_on(before: Candidate | None, each: Candidate) -> bool:
    """Whether a sentence stands in one paragraph with the one before it."""
    if before is None or each.unit.is_row or each.unit.is_heading:
        return False
    return not _BREAK.search(each.hit.placed.chunk.text[before.end : each.start])


def _leads(before: Candidate, first: Candidate) -> bool:
    return not before.unit.is_row and not before.unit.is_heading and not _starts(before) and before.end <= first.start


def _head(group: Sequence[Candidate], best: Candidate) -> list[Candidate]:
    """Return the first sentence of an item, and the best where it is another one."""
    least = 1 if not is_term(group[0]) else 2
    return [each for number, each in enumerate(group) if number < least or each is best]


def _item_text(group: Sequence[Candidate]) -> str:
    first, *others = map(said, group)
    joint = ": " if others and is_term(group[0]) and not first.endswith(_COLONS) else " "
    return joint.join([first, " ".join(others)]) if others else first


def _written(lead: Sequence[Candidate], groups: Sequence[Sequence[Candidate]], texts: Sequence[str]) -> Listed:
    text = "\n".join([*map(said, lead), *texts])
    return Listed([*lead, *groups[0]][0].start, groups[-1][-1].end, text)
