"""Conversations: questions that follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from core.model.questions import TraceSummary


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line of the list of conversations; ``turns`` counts its questions."""

    id: str
    title: str
    created_at: datetime
    changed_at: datetime
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer; ``standalone`` is empty where the question stands by itself.

    ``is_purged``: the account of the question quoted text that was purged since, and is gone.
    """

    number: int
    summary: TraceSummary
    standalone: str = ""
    is_purged: bool = False
