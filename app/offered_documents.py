"""The documents that a field offers: the first whose names fit what is written into it, and those chosen before."""

from __future__ import annotations

from collections.abc import Sequence

from app.context import kb
from core.errors import NotFound
from core.model import Document

OFFERED_DOCUMENTS = 50


def chosen_documents(doc_keys: Sequence[str]) -> list[Document]:
    """Those of the documents that there are."""
    chosen = []
    for doc_key in doc_keys:
        try:
            chosen.append(kb().document(doc_key))
        except NotFound:
            continue
    return chosen


def offered_documents(search: str | None, chosen: Sequence[str] = (), *, with_gone: bool = False) -> list[Document]:
    """The chosen documents, and the first whose names fit; one that is both is there twice."""
    found = kb().documents(search or "", include_deleted=with_gone, limit=OFFERED_DOCUMENTS)
    return [*chosen_documents(chosen), *found]
