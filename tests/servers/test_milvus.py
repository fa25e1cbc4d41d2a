"""A real Milvus server keeps the contract, and what only a server can do wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.vector.milvus import Clusters, MilvusVectorIndex, Patience
from core.adapters.vector.milvus_collection import schema
from core.errors import StoreUnavailable, WrongIndex
from core.model import Part
from tests.builders import on_servers
from tests.contracts.consistency import ConsistencyContract
from tests.contracts.vector_index import (
    DIMENSION,
    VectorIndexContract,
    ids_of,
    nearest,
    row,
    rows_of,
    stored_in,
    unit_vectors,
)
from tests.waiting import until

Opener = Callable[..., MilvusVectorIndex]


@pytest.fixture(scope="module")
def open_index(milvus: Any) -> Iterator[Opener]:
    """Opens indexes as further processes would, and closes them."""
    opened: list[MilvusVectorIndex] = []

    def open_one(name: str = "contract", **more: Any) -> MilvusVectorIndex:
        opened.append(MilvusVectorIndex(milvus.url, DIMENSION, name=name, **{"token": milvus.token, **more}))
        return opened[-1]

    yield open_one
    for index in opened:
        index.close()


@pytest.fixture(scope="module")
def kept(open_index: Opener) -> MilvusVectorIndex:
    return open_index()


@pytest.fixture
def index(kept: MilvusVectorIndex) -> MilvusVectorIndex:
    """The collection emptied of its rows, which is quicker than a new one."""
    kept.delete([chunk_id for chunk_id, _ in kept.ids()])
    return kept


class TestMilvusServer(VectorIndexContract):
    largest_id = 2**63 - 2
    """A query of the server (2.3.5) leaves out the very largest number, which its searches find."""


def test_other_processes_find_at_once_what_was_written(index: MilvusVectorIndex, open_index: Opener) -> None:
    vectors = unit_vectors(10)
    other = open_index()
    for n, vector in enumerate(vectors, start=1):
        index.upsert([row(n, vector)])
        assert ids_of(other, vector, limit=1, parts=[Part.HEAD]) == [n]
        index.delete([n])
        assert ids_of(other, vector, limit=1, parts=[Part.HEAD]) == []


def test_emptying_leaves_other_processes_with_a_collection_that_fills_again(
    index: MilvusVectorIndex, open_index: Opener
) -> None:
    vectors = unit_vectors(3)
    other = open_index()
    index.upsert(rows_of(vectors))
    index.clear()
    assert dict(other.count()) == {Part.HEAD: 0, Part.HISTORY: 0}
    index.upsert(rows_of(vectors[:2]))
    assert sorted(ids_of(other, vectors[0])) == [1, 2]


def test_more_rows_than_one_answer_takes_are_told_once(index: MilvusVectorIndex) -> None:
    vectors = unit_vectors(20_000)
    index.upsert(rows_of(vectors, first_id=-10_000))
    told = np.concatenate([batch.ids for batch in index.stored()])
    assert np.array_equal(np.sort(told), np.arange(-10_000, 10_000))


def test_approximate_search_of_another_generation_finds_the_nearest(open_index: Opener) -> None:
    random = np.random.default_rng(5)
    around = unit_vectors(60)[random.integers(0, 60, 3000)] + 0.12 * random.standard_normal((3000, DIMENSION))
    vectors = (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float32)
    index = open_index("contract_2", clusters=Clusters(nlist=64))
    index.upsert(rows_of(vectors))
    client = index._client
    client.flush("contract_2")
    deadline = time.monotonic() + 30
    while client.describe_index("contract_2", "embedding")["indexed_rows"] < 3000 and time.monotonic() < deadline:
        time.sleep(0.1)
    found = [
        len(
            set(ids_of(index, query, limit=50, parts=[Part.HEAD]))
            & dict(nearest(vectors, query, range(1, 3001), 50)).keys()
        )
        for query in vectors[::100]
    ]
    assert index._nprobe < 64
    assert np.mean(found) >= 0.95 * 50


def test_collection_that_was_half_made_is_finished(index: MilvusVectorIndex, open_index: Opener) -> None:
    client = index._client
    client.create_collection("half_rows_1", schema=schema(client, DIMENSION))
    half = open_index("half")
    half.upsert(rows_of(unit_vectors(2)))
    assert len(stored_in(half)) == 2


def test_collection_of_somebody_else_is_refused(index: MilvusVectorIndex, open_index: Opener) -> None:
    from pymilvus import DataType

    fields = index._client.create_schema(auto_id=False)
    fields.add_field("id", DataType.INT64, is_primary=True)
    fields.add_field("embedding", DataType.FLOAT_VECTOR, dim=DIMENSION)
    index._client.create_collection("foreign", schema=fields)
    with pytest.raises(WrongIndex, match="foreign") as refused:
        open_index("foreign")
    assert "EVORAG_INDEX_NAME" in refused.value.remedy
    assert index._client.has_collection("foreign")


def test_wrong_token_is_an_error_that_does_not_show_it(open_index: Opener) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        open_index(token="root:a-wrong-secret", patience=Patience(attempts=1))
    assert "secret" not in repr(refused.value)


def is_searched(index: MilvusVectorIndex, vector: np.ndarray) -> bool:
    try:
        return bool(index.search(vector, 1, [Part.HEAD]))
    except StoreUnavailable:
        return False


def test_what_was_acknowledged_is_there_when_a_killed_server_is_back(
    index: MilvusVectorIndex, open_index: Opener, milvus: Any
) -> None:
    vectors = unit_vectors(200)
    index.upsert(rows_of(vectors[:150]))
    index.upsert(rows_of(vectors[150:], Part.HISTORY, first_id=151))
    index.delete([3])
    asking = open_index(patience=Patience(search_timeout_s=1.0))
    milvus.kill()
    with pytest.raises(StoreUnavailable):
        asking.search(vectors[0], 1, [Part.HEAD])
    milvus.restart()
    # It answers before it has loaded its collections again; until then the store is told to be away.
    until(lambda: is_searched(asking, vectors[0]), 120)
    assert dict(index.count()) == {Part.HEAD: 149, Part.HISTORY: 50}
    assert ids_of(asking, vectors[4], limit=1, parts=[Part.HEAD]) == [5]
    index.upsert([row(3, vectors[2])])
    assert len(stored_in(index)) == 200


def test_every_fault_is_found_named_and_mended(milvus: Any, tmp_path: Path) -> None:
    urls = {"vector_url": milvus.url, "vector_token": milvus.token}
    with on_servers(tmp_path, **urls, index_name="consistency", store_timeout_s=20.0) as kb:
        ConsistencyContract().test_every_fault_is_found_named_and_mended(kb, "vector")
