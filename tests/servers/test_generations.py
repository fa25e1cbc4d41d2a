"""Generations on PostgreSQL, Milvus and Elasticsearch: two collections and two pairs of indexes, one of each serves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import core
from core.model import GenerationState
from tests.builders import add, on_servers
from tests.integration.test_generations import filled, found, rows, states

READY, SERVING = GenerationState.READY, GenerationState.SERVING


@pytest.fixture
def kb(postgres: Any, milvus: Any, elastic: Any, tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with on_servers(
        tmp_path,
        catalog_url=postgres.database(),
        vector_url=milvus.url,
        vector_token=milvus.token,
        keyword_url=elastic.url,
        index_name="generations",
        store_timeout_s=20.0,
    ) as opened:
        yield opened


def test_another_generation_is_built_serves_is_left_and_removed(kb: core.KnowledgeBase) -> None:
    filled(kb)
    kb.generations.build("hash:64")
    kb.work_off()
    assert states(kb) == {1: SERVING, 2: READY}
    assert rows(kb, 2) == rows(kb, 1)
    kb.generations.switch(2)
    assert found(kb, "medlar") == ["medlar.txt"]
    add(kb, "fig", "The fig is harvested twice.")
    assert (kb._embedder.id, found(kb, "fig")) == ("hash-64", ["fig.txt"])
    kb.work_off()
    kb.generations.switch(1)
    assert (kb._embedder.id, found(kb, "fig")) == ("hash-384", ["fig.txt"])
    assert rows(kb, 2) == rows(kb, 1)
    kb.generations.remove(2)
    kb.work_off()
    assert states(kb) == {1: SERVING}
    assert found(kb, "quince") == ["quince.txt"]
