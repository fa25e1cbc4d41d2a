"""Makes any text one that can be encoded."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Return a text of as many characters, without those that no encoding has."""
    return text.encode("utf-8", "replace").decode("utf-8")
