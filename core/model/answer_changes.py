"""What another version of a document changes in an answer: the two accounts, and what became of each passage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.model.questions import Hit, SavedQuestion, Trace


class Evidence(StrEnum):
    """What became of a passage among the first hits of a question."""

    APPEARED = "appeared"
    VANISHED = "vanished"
    MOVED = "moved"
    STAYED = "stayed"


class Reason(StrEnum):
    """Why: its own text is new, gone or another; its BM25 scores changed with the collection; others passed it."""

    TEXT = "text"
    STATISTICS = "statistics"
    OTHERS = "others"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """A passage on both sides of a comparison of answers.

    Both sides are given where the same chunk is among both first hits, or where one chunk's text became the other's.
    """

    evidence: Evidence
    reason: Reason
    old: Hit | None
    new: Hit | None


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """One question asked of two versions."""

    question: str
    old: Trace
    new: Trace
    is_changed: bool
    """The answers differ in what they say, not only in what they cite."""
    evidence: tuple[EvidenceChange, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """What publishing a version would do to the answer of one saved question."""

    question: SavedQuestion
    comparison: AnswerComparison
