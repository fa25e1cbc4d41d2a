"""The sample knowledge base: the papers of Kumoi Instruments, an invented maker of observatory instruments.

Every document is written by this project; ``examples/make_sample.py`` writes the Office and PDF files among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One file to upload; ``version_order`` 2 goes up after 1, under the same name."""

    name: str
    path: Path
    version_order: int
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question that the newest versions answer; ``before`` is what the first version said, where it differs."""

    question: str
    answer: str
    document: str
    language: str
    before: str = ""


def documents() -> Iterator[SampleDocument]:
    """Yield every first version by name, then every second one."""
    tags: dict[str, list[str]] = _load("tags.json")
    for order in (1, 2):
        for path in sorted((FOLDER / "documents" / f"v{order}").iterdir()):
            yield SampleDocument(path.name, path, order, tuple(tags[path.name]))


def questions(language: str = "") -> list[SampleQuestion]:
    """Return the example questions, all or those of ``en`` or ``ja``."""
    found = [SampleQuestion(**entry) for entry in _load("questions.json")]
    return [question for question in found if language in ("", question.language)]


def _load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))
