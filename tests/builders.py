"""Builds the values that tests start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import core
from core.model import Chunk, Hit, IndexHit, LegRank, Locator, PlacedChunk
from core.settings import Settings


def settings(folder: Path, **changes: Any) -> Settings:
    """Settings with both indexes in memory, the hashing embedder, and no worker thread unless asked for."""
    values: dict[str, Any] = {"data_dir": folder / "data", "test_mode": True, "job_workers": 0}
    return Settings(**{**values, **changes})


def knowledge_base(folder: Path, **changes: Any) -> core.KnowledgeBase:
    return core.build(settings(folder, **changes))


def add(kb: core.KnowledgeBase, name: str, text: str) -> core.model.Upload:
    """Add a text entry and index it before returning."""
    upload = kb.add_text(name, text)
    kb.work_off()
    return upload


def placed(
    chunk_id: int, text: str = "text", *, doc_id: int = 1, title: str = "Title", version: int = 1
) -> PlacedChunk:
    return PlacedChunk(
        id=chunk_id,
        doc_id=doc_id,
        doc_key=f"doc-{doc_id}.txt",
        name=f"doc-{doc_id}.txt",
        title=title,
        version=version,
        chunk=Chunk(0, text, 0, len(text), locator=Locator()),
        content_hash=text.encode(),
    )


def hit(chunk_id: int, text: str, *, rank: int = 1, doc_id: int = 1) -> Hit:
    return Hit(rank, placed(chunk_id, text, doc_id=doc_id), 1 / (60 + rank), LegRank(rank, 0.5, 1 / (60 + rank)), None)


def index_hits(*ids: int) -> list[IndexHit]:
    return [IndexHit(chunk_id, 1.0 / rank) for rank, chunk_id in enumerate(ids, 1)]
