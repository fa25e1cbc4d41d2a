"""The embedded keyword stores take each other's place: what another one made is filled anew from the catalogue."""

from __future__ import annotations

from pathlib import Path

import core
from core.model import Part


def test_a_knowledge_base_changes_its_keyword_store_and_back(tmp_path: Path) -> None:
    for number, store in enumerate(("tantivy", "fts5", "tantivy", "fts5"), 1):
        settings = core.Settings(data_dir=tmp_path, embedder="hash", job_workers=0, ocr="off", keyword_store=store)
        with core.build(settings) as kb:
            kb.add_text(f"harbour-{number}", f"The harbour opens at {number} o'clock.")
            kb.work_off()
            kb._projector.flush()
            trace = core.EvoRAG(kb=kb).search(core.Query("When does the harbour open?"))
            assert (kb._keywords.engine, trace.keyword.error) == (store, None)
            assert len(trace.keyword.hits) == kb._keywords.count()[Part.HEAD] == number
