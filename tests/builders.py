"""Builds the values that tests start from."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import core
from core.catalog.engine import Database
from core.model import Chunk, Hit, IndexHit, LegRank, Locator, PlacedChunk
from core.settings import Settings


def settings(folder: Path, **changes: Any) -> Settings:
    """Settings with both indexes in memory, the hashing embedder, and no worker thread unless asked for.

    Limits of time are so long that none is reached because the machine has other work.
    """
    values: dict[str, Any] = {"data_dir": folder / "data", "test_mode": True, "job_workers": 0, "disk_reserve_bytes": 0}
    values |= {"leg_timeout_s": 120.0, "diff_timeout_s": 120.0}
    return Settings(**{**values, **changes})


def knowledge_base(folder: Path, **changes: Any) -> core.KnowledgeBase:
    """Open the knowledge base of a folder; a new one begins with a copy of an empty catalogue.

    Two thirds of the time of a test went into the migrations, which have tests of their own. Indexes in memory are
    empty after a start: they are filled before a test asks.
    """
    chosen = settings(folder, **changes)
    is_new = begin(chosen.data_dir)
    kb = core.build(chosen)
    if not is_new:
        # A store that fails shows that to the test which made it fail.
        with suppress(Exception):
            kb._projector.flush()
    return kb


@contextmanager
def on_servers(folder: Path, **changes: Any) -> Iterator[core.KnowledgeBase]:
    """Open a knowledge base on the servers that ``changes`` name, once it has begun with them."""
    chosen = Settings(**{"data_dir": folder / "data", "embedder": "hash", "job_workers": 0, **changes})
    begin(chosen.data_dir)
    with core.build(chosen) as kb:
        kb._background.join()
        yield kb


def begin(data_dir: Path) -> bool:
    """Put an empty catalogue into a data folder that has none; tell whether it had none."""
    if (data_dir / "catalog.db").exists():
        return False
    data_dir.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_empty_catalog(), data_dir / "catalog.db")
    return True


@cache
def _empty_catalog() -> Path:
    """Return the file of a migrated catalogue that holds nothing."""
    folder = tempfile.mkdtemp(prefix="evorag-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "catalog.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    assert database.truncate_log()
    database.engine.dispose()
    return path


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
