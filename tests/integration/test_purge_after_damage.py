"""A purge goes on where a file of Milvus Lite is gone: the store is filled again from the catalogue first."""

from __future__ import annotations

import time
from pathlib import Path

from tests.builders import add, knowledge_base

KEPT = {"embedder": "hash", "test_mode": False, "generator": "none", "reader": "off", "ocr": "off"}
PATIENCE_S = 60.0


def test_purge_ends_where_a_file_of_the_vectors_is_gone(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, **KEPT) as kb:
        for at in range(3):
            add(kb, f"fees {at}", f"The fee number {at} is {at + 10} euros.")
    next((tmp_path / "data" / "vectors").rglob("data_*.parquet")).unlink()
    with knowledge_base(tmp_path, **KEPT) as kb:
        kb._background.join()
        kb.purge("fees 0.txt")
        until = time.monotonic() + PATIENCE_S
        # As a server does by itself, again and again.
        while not kb._purge.finish() and time.monotonic() < until:
            kb.work_off()
            time.sleep(0.2)
        assert not kb.catalog.purges.pending()
        kb.work_off()
        assert all(each.is_sound for each in kb.check())
