"""The vector index in memory keeps the contract."""

from __future__ import annotations

import pytest

from core.adapters.vector.memory import MemoryVectorIndex
from core.errors import StoreUnavailable
from core.model import Part
from tests.contracts.vector_index import DIMENSION, VectorIndexContract, unit_vectors


class TestMemoryVectorIndex(VectorIndexContract):
    @pytest.fixture
    def index(self) -> MemoryVectorIndex:
        return MemoryVectorIndex(DIMENSION)


def test_closed_index_is_an_error_and_not_an_empty_result() -> None:
    index = MemoryVectorIndex(DIMENSION)
    index.close()
    with pytest.raises(StoreUnavailable):
        index.search(unit_vectors(1)[0], 5, [Part.HEAD])
