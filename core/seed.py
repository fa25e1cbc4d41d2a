"""The seed system's functions over the knowledge base of the environment."""

from __future__ import annotations

from typing import Any

from core.rag import EvoRAG


def add_user_text(text: str, source: str = "user text") -> int:
    """Add a text entry, wait until it can be found, and return its document id."""
    return EvoRAG().add_user_text(text, source)


def get_all_data() -> list[dict[str, Any]]:
    """Return id, text, source and version of every document that is shown."""
    return EvoRAG().get_all_data()


def update_document(doc_id: int | str, text: str) -> int:
    """Make ``text`` the next version of a document and return the version's number."""
    return EvoRAG().update_document(doc_id, text)


def delete_document(doc_id: int | str) -> None:
    """Take a document out of every answer."""
    EvoRAG().delete_document(doc_id)
