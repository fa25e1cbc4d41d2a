"""As of any moment, on pairs of a vector index and a keyword index in which each engine stands once."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import core
from core import bootstrap
from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.vector.memory import MemoryVectorIndex
from tests.builders import settings
from tests.contracts.as_of import AsOfContract

pytestmark = pytest.mark.long

PAIRS = (("memory", "memory"), ("memory", "tantivy"), ("hot", "tantivy"), ("store", "tantivy"))


@pytest.fixture(scope="class", params=PAIRS, ids="-".join)
def kb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """A knowledge base over one pair: vectors in memory, in memory before Milvus Lite, or in Milvus Lite alone."""
    vectors, keywords = request.param
    chosen = settings(
        tmp_path_factory.mktemp("pair"),
        test_mode=False,
        embedder="hash",
        chunk_tokens=60,
        vector_search="auto" if vectors == "hot" else "store",
    )
    with pytest.MonkeyPatch.context() as patch:
        if vectors == "memory":
            patch.setattr(bootstrap, "_vectors", lambda _settings, _folder, dimension, *_: MemoryVectorIndex(dimension))
        if keywords == "memory":
            patch.setattr(bootstrap, "_keywords", lambda _settings, _folder, *_: MemoryKeywordIndex())
        with core.build(chosen) as opened:
            while opened.is_starting:
                time.sleep(0.05)
            yield opened


class TestAsOfOnEveryPair(AsOfContract):
    """The contract, once a pair."""
