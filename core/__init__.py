"""EvoRAG: a knowledge base with versions inside retrieval and a full account of every rank.

``build(settings)`` opens a ``KnowledgeBase``; ``EvoRAG(kb=…)`` asks it. Importing this package loads no adapter, no
database driver and no model: each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.bootstrap import build
    from core.client import RagClient
    from core.errors import EvoRAGError
    from core.knowledge_base import KnowledgeBase
    from core.model import Filters, Query
    from core.rag import EvoRAG, add_user_text, delete_document, get_all_data, update_document
    from core.settings import Settings

_HOMES = {
    "build": "core.bootstrap",
    "EvoRAGError": "core.errors",
    "KnowledgeBase": "core.knowledge_base",
    "Filters": "core.model",
    "Query": "core.model",
    "EvoRAG": "core.rag",
    "RagClient": "core.client",
    "Settings": "core.settings",
    "add_user_text": "core.rag",
    "delete_document": "core.rag",
    "get_all_data": "core.rag",
    "update_document": "core.rag",
}

__all__ = [
    "EvoRAG",
    "EvoRAGError",
    "Filters",
    "KnowledgeBase",
    "Query",
    "RagClient",
    "Settings",
    "add_user_text",
    "build",
    "delete_document",
    "get_all_data",
    "update_document",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
