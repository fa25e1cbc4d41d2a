"""Whether an answer to a question of ``manuals_set`` is right, judged by facts that were written down from the manual.

A question names groups of patterns, ``must``: a right answer matches one pattern of each group; one that matches some
group, and not by repeating the question, is partial. What matches ``must_not`` says something else than the manual and
is wrong. A question without an answer is answered rightly by a refusal alone.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.manuals_documents import SET

RIGHT, PARTIAL, WRONG, REFUSED = VERDICTS = ("right", "partial", "wrong", "refused")
UNANSWERABLE = "none"
_WIDE = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff"
_BETWEEN_WIDE = re.compile(f"(?<=[{_WIDE}]) (?=[{_WIDE}])")
_SAME = str.maketrans("‘’“”‐‑−–—…", "''\"\"-----.", "\u00ad\u200b")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the facts of its answer; ``document`` and ``evidence`` are empty where there is none.

    ``evidence`` are short phrases of passages that answer, ``where`` the heading or option above them; ``across`` marks
    that the answer stands in the other language.
    """

    id: str
    language: str
    kind: str
    half: str
    question: str
    document: str = ""
    where: str = ""
    evidence: tuple[str, ...] = ()
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    across: bool = False

    @property
    def is_answerable(self) -> bool:
        return self.kind != UNANSWERABLE


def questions(folder: Path = SET) -> list[Question]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    return [
        Question(
            **{
                **row,
                "must": tuple(map(tuple, row.get("must", ()))),
                **{name: tuple(row.get(name, ())) for name in ("must_not", "evidence")},
            }
        )
        for row in rows
    ]


def plain(text: str) -> str:
    """Return a text as the patterns see it: lower case, one width, one kind of dash, quote and blank."""
    folded = unicodedata.normalize("NFKC", text.translate(_SAME)).casefold()
    return _BETWEEN_WIDE.sub("", " ".join(folded.split()))


def verdict(question: Question, answer: str, is_refused: bool) -> str:
    if not question.is_answerable:
        return RIGHT if is_refused else WRONG
    if is_refused:
        return REFUSED
    text = plain(answer)
    if _matches(question.must_not, text):
        return WRONG
    found = [group for group in question.must if _matches(group, text)]
    if len(found) == len(question.must):
        return RIGHT
    asked = plain(question.question)
    return PARTIAL if any(not _matches(group, asked) for group in found) else WRONG


def holds_evidence(question: Question, document: str, passage: str) -> bool:
    """Tell whether a passage has a phrase that answers, however its lines, cells and marks are set."""
    letters = _letters(passage)
    return document == question.document and any(_letters(phrase) in letters for phrase in question.evidence)


def _matches(patterns: Sequence[str], text: str) -> bool:
    return any(re.search(pattern, text, re.ASCII) for pattern in patterns)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", plain(text))
