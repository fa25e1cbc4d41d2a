"""What a part of an answer is about where its words leave that out: its term, its heading or its document's title."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.model import LABEL_JOINT
from core.query.answer.answer_part import AnswerPart
from core.query.answer.candidates import Candidate
from core.query.answer.question_profile import QuestionProfile

_SUBJECT_KINDS = ("name", "called", "thing")
_TITLE = re.compile(r"[^\W\d_](?:[^\W_]|[ ・＝’'()（）-]){0,39}")
_CODED = re.compile(r"[\d-]")
_LONGEST_SUBJECT = 80


def subject_chars(part: AnswerPart, subjects: dict[str, None], room: int) -> int:
    """Note the term of a part where it fits and is not among ``subjects`` yet, and return how much room it takes."""
    label = _label(part)
    if not label or label in subjects or len(label) + 2 > room:
        return 0
    subjects[label] = None
    return len(label) + 2


def with_subjects(parts: Sequence[AnswerPart], subjects: Mapping[str, None]) -> list[AnswerPart]:
    """Put each of the ``subjects`` before the first part that is about it."""
    left = dict(subjects)
    named = []
    for part in parts:
        label = _label(part)
        named.append(replace(part, text=f"{without_colon(label)}: {part.text}") if label in left else part)
        left.pop(label, None)
    return named


def titled(profile: QuestionProfile, part: AnswerPart, room: int) -> AnswerPart:
    """Put the title before a sentence that leaves out what it is about, where that may be asked."""
    title = part.source.hit.placed.title.strip()
    if profile.expectation.kind not in _SUBJECT_KINDS or part.source.unit.is_row or not _TITLE.fullmatch(title):
        return part
    if _heading(profile, part) or (_CODED.search(title) and part.source.hit.placed.name.startswith(title)):
        return part
    text = f"{title}: {part.text}"
    known = f"{profile.text}\n{part.source.text}".casefold()
    return part if title.casefold() in known or len(text) > room else replace(part, text=text)


def under_headings(profile: QuestionProfile, parts: Sequence[AnswerPart], room: int) -> list[AnswerPart]:
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


def section_of(candidate: Candidate) -> str:
    """Return the heading that a candidate stands under, without its sign."""
    path = candidate.hit.placed.chunk.locator.heading_path
    return _bare(candidate.unit.section or (path[-1] if path else ""))


def _bare(heading: str) -> str:
    return without_colon(heading.strip().lstrip("# "))


def without_colon(label: str) -> str:
    return label.rstrip(":： ")


def _label(part: AnswerPart) -> str:
    """The term that what a part says is about, where the part leaves it out."""
    label = part.source.unit.label.rsplit(LABEL_JOINT, 1)[-1]
    return label if _is_subject(label, part.source.text) else ""


def _heading(profile: QuestionProfile, part: AnswerPart) -> str:
    """The heading that a part stands under, where neither the part nor the question says it and no term does."""
    unit = part.source.unit
    heading = _bare(unit.section)
    if unit.is_row or unit.label or not _is_subject(heading, part.text):
        return ""
    return "" if heading.casefold() in f"{profile.text}\n{part.text}".casefold() else heading


def _is_subject(label: str, text: str) -> bool:
    """Whether a label names what a sentence under it is about: a short one that neither asks nor is in the sentence."""
    return 0 < len(label) <= _LONGEST_SUBJECT and not label.endswith(("?", "？")) and label not in text
