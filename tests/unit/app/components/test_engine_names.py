"""What the stores work with, as a reader is told."""

from __future__ import annotations

import pytest

from app.components.shared.wording import engine_name
from core.adapters.vector.coarse_vectors import CoarseVectors
from core.adapters.vector.flat_vectors import FlatVectors
from core.adapters.vector.memory import MemoryVectorIndex


@pytest.mark.parametrize("engine", [FlatVectors.engine, CoarseVectors.engine, MemoryVectorIndex.engine])
def test_each_engine_in_memory_is_named_in_the_readers_language(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.i18n.language", lambda: "ja")
    assert "メモリ内" in engine_name(engine)


def test_names_of_programs_stay() -> None:
    assert engine_name("tantivy") == "tantivy"
