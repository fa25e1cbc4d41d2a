"""How pages and routes reach the facade of the application that serves the present request."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import flask

from core import access

if TYPE_CHECKING:
    from core import EvoRAG, KnowledgeBase
    from core.model import Principal

KB_KEY = "EVORAG_KB"
RAG_KEY = "EVORAG_RAG"


def kb() -> KnowledgeBase:
    """Return the knowledge base behind the present request."""
    return cast("KnowledgeBase", flask.current_app.config[KB_KEY])


def rag() -> EvoRAG:
    """Return the question answering behind the present request."""
    return cast("EvoRAG", flask.current_app.config[RAG_KEY])


def principal() -> Principal:
    """Return on whose behalf the present request is made."""
    return access.current()
