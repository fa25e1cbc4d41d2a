"""Question sets: a folder with ``passages.jsonl`` and ``questions.jsonl``, one JSON object a line.

A passage has ``id``, ``title`` and ``text``; a question ``id``, ``question``, ``passage_id`` or ``passage_ids``,
``answers`` and ``answerable`` (true when absent).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Passage:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passages that answer it (none when nothing does) and the accepted answers."""

    id: str
    text: str
    passage_ids: tuple[str, ...]
    answers: tuple[str, ...]
    answerable: bool


def read_passages(folder: Path) -> list[Passage]:
    """Read ``passages.jsonl`` of a set. Raises: ``InvalidInput``."""
    return [
        Passage(str(row["id"]), str(row.get("title") or ""), str(row["text"]))
        for row in _rows(folder / "passages.jsonl", ("id", "text"))
    ]


def read_questions(folder: Path) -> list[Question]:
    """Read ``questions.jsonl`` of a set. Raises: ``InvalidInput``."""
    return [_question(row) for row in _rows(folder / "questions.jsonl", ("id", "question"))]


def _question(row: Mapping[str, Any]) -> Question:
    several = row.get("passage_ids")
    one = row.get("passage_id")
    ids = several if several is not None else [one] if one is not None else []
    return Question(
        id=str(row["id"]),
        text=str(row["question"]),
        passage_ids=tuple(str(name) for name in ids),
        answers=tuple(str(answer) for answer in row.get("answers") or ()),
        answerable=bool(row.get("answerable", True)),
    )


def _rows(path: Path, required: Sequence[str]) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The question set has no readable {path.name}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"{path.name}, line {number}: not JSON.") from error
        if not isinstance(row, dict) or any(name not in row for name in required):
            raise InvalidInput(f"{path.name}, line {number}: it needs {', '.join(required)}.")
        yield row
