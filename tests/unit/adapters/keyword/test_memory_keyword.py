"""The keyword index in memory keeps the contract."""

from __future__ import annotations

from math import log

import pytest

from core.adapters.keyword.memory import MemoryKeywordIndex
from tests.contracts.keyword_index import HEAD, KeywordIndexContract, row


class TestMemoryKeywordIndex(KeywordIndexContract):
    @pytest.fixture
    def index(self) -> MemoryKeywordIndex:
        return MemoryKeywordIndex()


def test_score_is_the_formula_of_bm25() -> None:
    index = MemoryKeywordIndex()
    index.upsert([row(1, "harbour harbour ferry"), row(2, "ferry"), row(3, "town hall")])
    [hit] = index.search("harbour", 5, [HEAD])
    idf = log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert hit.score == pytest.approx(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))
