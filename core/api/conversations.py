"""Conversations: questions that follow each other."""

from __future__ import annotations

import builtins
from typing import Protocol

from core.model import Conversation, Turn


class ConversationsApi(Protocol):
    """The conversations of the caller; administrators see all. Raises ``NotFound`` for an id that is none."""

    def list(self, limit: int = 100, before: str = "") -> builtins.list[Conversation]:
        """Return up to 10,000 conversations, the last active first, after the one ``before``."""

    def get(self, conversation_id: str) -> Conversation:
        """Return one conversation."""

    def turns(self, conversation_id: str) -> builtins.list[Turn]:
        """Return the questions of a conversation, oldest first."""

    def create(self, title: str = "") -> Conversation:
        """Begin a conversation; one without a title is named after its first question. Raises: ``InvalidInput``."""

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Raises: ``InvalidInput`` for a title that is empty or too long."""

    def delete(self, conversation_id: str) -> None:
        """Remove a conversation; its questions stay in the history."""

    def export(self, conversation_id: str, form: str = "md") -> str:
        """Return a conversation with its answers and citations as ``md`` or ``json``. Raises: ``InvalidInput``."""
