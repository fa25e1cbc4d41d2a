"""Documents as the choices of a field that finds them by what is written into it."""

from __future__ import annotations

from collections.abc import Sequence

from core.model import Document


def document_options(documents: Sequence[Document]) -> list[dict[str, str]]:
    """Each document once."""
    return [{"value": key, "label": name} for key, name in {each.doc_key: each.name for each in documents}.items()]
