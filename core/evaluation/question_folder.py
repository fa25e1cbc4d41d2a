"""Question sets: a folder with ``passages.jsonl`` and ``questions.jsonl``, one JSON object a line.

A passage has ``id``, ``title`` and ``text``; a question ``id``, ``question``, ``passage_id`` or ``passage_ids``,
``answers`` and ``answerable`` (true when absent). ``read_set`` leaves out the lines that cannot be read and says which;
``read_passages`` and ``read_questions`` refuse a file with such a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core.errors import InvalidInput
from core.text.language import is_storable

PASSAGES, QUESTIONS = "passages.jsonl", "questions.jsonl"


@dataclass(frozen=True, slots=True)
class QuestionSetPassage:
    id: str
    title: str
    text: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passages that answer it (none when nothing does) and the accepted answers."""

    id: str
    text: str
    passage_ids: tuple[str, ...]
    answers: tuple[str, ...]
    answerable: bool
    line: int = field(default=0, compare=False)

    @property
    def has_judgement(self) -> bool:
        """Whether anything is known about what is right, so that an answer can be right or wrong."""
        return bool(self.passage_ids or self.answers or not self.answerable)


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A passage or a question that is not part of a measurement, and why; ``id`` is empty where it has none."""

    file: str
    line: int
    id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}{f' ({self.id[:64]})' if self.id else ''}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReadSet:
    passages: list[QuestionSetPassage]
    questions: list[Question]
    left_out: list[SkippedLine]


Read = TypeVar("Read", QuestionSetPassage, Question)
Refused = Callable[[SkippedLine], None]


def read_set(folder: Path) -> ReadSet:
    """Read a set without the lines that cannot be read.

    Raises: ``InvalidInput`` where a file cannot be read, or nothing of it.
    """
    left_out: list[SkippedLine] = []
    passages = list(_read(folder / PASSAGES, _passage, left_out.append))
    check_some(passages, PASSAGES, left_out)
    questions = list(_read(folder / QUESTIONS, _question, left_out.append))
    check_some(questions, QUESTIONS, left_out)
    return ReadSet(passages, questions, left_out)


def read_passages(folder: Path) -> list[QuestionSetPassage]:
    """Read ``passages.jsonl`` of a set. Raises: ``InvalidInput``."""
    return list(_read(folder / PASSAGES, _passage, _refuse))


def read_questions(folder: Path) -> list[Question]:
    """Read ``questions.jsonl`` of a set. Raises: ``InvalidInput``."""
    return list(_read(folder / QUESTIONS, _question, _refuse))


def answerable_from(
    passage_ids: Collection[str], questions: Sequence[Question], left_out: list[SkippedLine]
) -> list[Question]:
    """Return the questions without those whose passages were left out: to find them would be asked too much.

    A line that is not JSON tells no id: while a passage is missing, it may be the one that a question names. Where none
    was left out, a passage that is not there counts as not found.
    """
    if not any(each.file == PASSAGES for each in left_out):
        return list(questions)
    asked: list[Question] = []
    for question in questions:
        missing = [name for name in question.passage_ids if name not in passage_ids]
        if missing:
            reason = f"its passage “{missing[0][:64]}” was left out."
            left_out.append(SkippedLine(QUESTIONS, question.line, question.id, reason))
        else:
            asked.append(question)
    check_some(asked, QUESTIONS, left_out)
    return asked


def check_some(found: Sized, file: str, left_out: Sequence[SkippedLine]) -> None:
    """Raises: ``InvalidInput``, with the first reason, where nothing of a file is left."""
    if len(found):
        return
    first = next((each for each in left_out if each.file == file), None)
    raise InvalidInput(f"Nothing of {file} can be used. {first}" if first else f"{file} is empty.")


def _refuse(unread: SkippedLine) -> None:
    raise InvalidInput(str(unread))


def _read(path: Path, made: Callable[[int, Mapping[str, Any]], Read], refused: Refused) -> Iterator[Read]:
    """Yield what the lines of a file say; what one of them says wrongly goes to ``refused``."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise InvalidInput(f"The question set has no readable {path.name}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name = ""
        try:
            row = _object(line)
            name = _name(row["id"]) if "id" in row else ""
            value = made(number, row)
        except _Unreadable as error:
            refused(SkippedLine(path.name, number, name, str(error)))
        else:
            yield value


class _Unreadable(Exception):
    pass


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _Unreadable("not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise _Unreadable("not JSON.") from error
    if not isinstance(row, dict):
        raise _Unreadable("it is no object.")
    return row


def _passage(line: int, row: Mapping[str, Any]) -> QuestionSetPassage:
    _check_names(row, "id", "text")
    return QuestionSetPassage(
        _name(row["id"]), _text(row.get("title") or "", "title"), _filled(row["text"], "text"), line
    )


def _question(line: int, row: Mapping[str, Any]) -> Question:
    _check_names(row, "id", "question")
    several, one = row.get("passage_ids"), row.get("passage_id")
    ids = several if several is not None else [one] if one is not None else []
    given = row.get("answers") or []
    answers = [given] if isinstance(given, str) else given
    if not isinstance(ids, list) or not isinstance(answers, list):
        raise _Unreadable(f"{'answers' if isinstance(ids, list) else 'passage_ids'} is no list.")
    answerable = row.get("answerable", True)
    if answerable not in (True, False):
        raise _Unreadable("answerable is neither true nor false.")
    return Question(
        id=_name(row["id"]),
        text=_filled(row["question"], "question"),
        passage_ids=tuple(_name(each) for each in ids),
        answers=tuple(_name(each) for each in answers if each != ""),
        answerable=bool(answerable),
        line=line,
    )


def _check_names(row: Mapping[str, Any], *required: str) -> None:
    if any(name not in row for name in required):
        raise _Unreadable(f"it needs {', '.join(required)}.")


def _filled(value: object, field: str) -> str:
    text = _text(value, field)
    if not text.strip():
        raise _Unreadable(f"the {field} is empty.")
    return text


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise _Unreadable(f"the {field} is no text.")
    if not is_storable(value):
        raise _Unreadable(f"the {field} holds signs that are no text.")
    return value


def _name(value: object) -> str:
    """Return an id, or an answer, which may be written as a number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _Unreadable("an id or an answer is neither a text nor a number.")
    return _filled(str(value), "id or answer")
