"""How long it is kept what people ask and do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """Days for which things are kept; 0 keeps them for ever."""

    questions: int = 0
    conversations: int = 0
    jobs: int = 0
    audit: int = 0
    """After it, the names and notes of publications go; what was shown when stays."""


@dataclass(frozen=True, slots=True)
class OwnCounts:
    """How much is kept of one user."""

    questions: int
    conversations: int
    jobs: int
    """That have ended."""
    documents: int
    """That they uploaded a version of, and that are there."""
    publications: int
    question_sets: int = 0
    saved_questions: int = 0
