"""Milvus Lite keeps the contract, survives kill -9, and leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pymilvus import DataType, MilvusException

from core.adapters.vector.milvus import Clusters, MilvusVectorIndex, Patience
from core.adapters.vector.milvus_lite_shards import LiteShards
from core.adapters.vector.milvus_rows import as_row, batches
from core.errors import StoreUnavailable, WrongIndex
from core.model import Part
from tests.contracts.vector_index import (
    BOTH,
    DIMENSION,
    VectorIndexContract,
    ids_of,
    row,
    rows_of,
    stored_in,
    unit_vectors,
)

WRITER = """
import itertools, sys
from pathlib import Path
from core.adapters.vector.milvus import MilvusVectorIndex
from core.model import Part
from tests.contracts.vector_index import DIMENSION, row, unit_vectors

index = MilvusVectorIndex(Path(sys.argv[1]), DIMENSION)
vectors = unit_vectors(100)
for start in itertools.count(0, 20):
    index.upsert([row(start + n, vectors[(start + n) % 100]) for n in range(20)])
    if start % 100 == 80:
        index.delete([start])
        index.upsert([row(start + 1, vectors[0], Part.HISTORY)])
    print(start, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


class TestMilvusVectorIndex(VectorIndexContract):
    @pytest.fixture
    def index(self, folder: Path) -> Iterator[MilvusVectorIndex]:
        index = MilvusVectorIndex(folder, DIMENSION)
        yield index
        index.close()


def test_rows_are_there_after_closing_and_opening(folder: Path) -> None:
    vectors = unit_vectors(400)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors[:200]))
    index.upsert(rows_of(vectors[200:], Part.HISTORY, first_id=201))
    index.delete([7])
    index.close()

    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        assert dict(index.count()) == {Part.HEAD: 199, Part.HISTORY: 200}
        query = unit_vectors(1, seed=5)[0]
        expected = np.argsort(np.linalg.norm(np.delete(vectors[:200], 6, axis=0) - query, axis=1))[:20]
        assert ids_of(index, query, limit=20, parts=[Part.HEAD]) == [n + 1 + (n >= 6) for n in expected]
        assert ids_of(index, vectors[5], limit=1, doc_ids=[0]) == [6]
    finally:
        index.close()


@pytest.mark.long
def test_every_acknowledged_row_is_there_after_kill(folder: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(15)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()

    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        found = dict(index.ids())
        written = {start + n for start in acknowledged for n in range(20)}
        deleted = {start for start in acknowledged if start % 100 == 80}
        assert written - deleted <= set(found)
        assert not deleted & set(found)
        assert all(found[start + 1] is Part.HISTORY for start in deleted)
        assert set(found) <= written | {max(acknowledged) + 20 + n for n in range(20)}
    finally:
        index.close()


def test_closing_ends_every_thread_and_frees_the_folder(folder: Path) -> None:
    before = set(threading.enumerate())
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(3)))
    index.close()
    index.close()
    assert {thread.name for thread in set(threading.enumerate()) - before} == set()
    MilvusVectorIndex(folder, DIMENSION, patience=Patience(attempts=1)).close()


def test_closed_index_is_an_error_and_not_an_empty_result(folder: Path) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.close()
    with pytest.raises(StoreUnavailable):
        index.search(unit_vectors(1)[0], 5, [Part.HEAD])
    with pytest.raises(StoreUnavailable):
        index.upsert(rows_of(unit_vectors(1)))


def test_folder_in_use_is_tried_three_times(folder: Path) -> None:
    pauses = []
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("core.adapters.vector.milvus.time.sleep", pauses.append)
            with pytest.raises(StoreUnavailable, match="tried 3 times"):
                MilvusVectorIndex(folder, DIMENSION)
    finally:
        index.close()
    assert pauses == [5.0, 5.0]


def test_unreachable_server_is_an_error(folder: Path) -> None:
    with pytest.raises(StoreUnavailable):
        MilvusVectorIndex("http://127.0.0.1:1", DIMENSION, patience=Patience(attempts=1, timeout_s=0.5))


def test_folder_with_a_long_name_can_be_served(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("er" * 40)
    index = MilvusVectorIndex(folder, DIMENSION)
    socket = Path(str(index._collection.socket).removeprefix("unix:"))
    index.upsert(rows_of(unit_vectors(2)))
    assert index.count()[Part.HEAD] == 2
    index.close()
    assert not socket.parent.exists()


def test_rows_of_many_megabytes_are_sent_in_several_requests() -> None:
    rows = [as_row(row(n, unit_vectors(1)[0], text="x" * 65_535)) for n in range(150)]
    sent = list(batches(rows))
    assert [one["id"] for batch in sent for one in batch] == list(range(150))
    assert len(sent) == 3


def test_vectors_of_another_model_are_refused(folder: Path) -> None:
    MilvusVectorIndex(folder, DIMENSION).close()
    with pytest.raises(WrongIndex, match=f"{DIMENSION} dimensions.*{DIMENSION + 1}"):
        MilvusVectorIndex(folder, DIMENSION + 1)


def test_collection_of_before_fingerprints_is_emptied_to_be_filled_anew(folder: Path) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(3)))
    client = index._client
    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=DIMENSION)
    client.drop_collection("rag_kb")
    client.create_collection("rag_kb", schema=schema)
    client.insert("rag_kb", [{"id": 1, "embedding": unit_vectors(1)[0]}])
    index.close()
    with pytest.raises(WrongIndex, match="before"):
        MilvusVectorIndex(folder, DIMENSION, mends=False)
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        assert dict(index.count()) == {Part.HEAD: 0, Part.HISTORY: 0}
        index.upsert(rows_of(unit_vectors(3)))
        assert len(stored_in(index)) == 3
    finally:
        index.close()


def test_collection_that_a_killed_process_had_begun_is_made_anew(folder: Path) -> None:
    # What Milvus Lite leaves where the process ends before it has written the schema.
    begun = folder / "collections" / "rag_kb"
    begun.mkdir(parents=True)
    (begun / "schema.json.tmp").write_text("{", encoding="ascii")
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert([row(1, unit_vectors(1)[0])])
    assert dict(index.count())[Part.HEAD] == 1
    index.close()


def test_text_and_source_are_cut_by_bytes_between_characters(folder: Path) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert([row(1, unit_vectors(1)[0], text="aあ" * 40_000)])
        with index._of()._using(0) as collection:
            [stored] = collection.query("id == 1", output_fields=["text", "source"])
        assert len(stored["text"].encode()) in range(65_532, 65_536)
        assert ("aあ" * 40_000).startswith(stored["text"])
    finally:
        index.close()


@pytest.mark.long
def test_large_collection_probes_few_clusters_but_still_fills_the_limit(folder: Path) -> None:
    vectors = unit_vectors(3000)
    index = MilvusVectorIndex(folder, DIMENSION, clusters=Clusters(32, 2))
    index.upsert(rows_of(vectors[:2950]))
    index.upsert(rows_of(vectors[2950:], Part.HISTORY, first_id=2951))
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION, clusters=Clusters(32, 2))
    try:
        assert len(index.search(vectors[0], 50, [Part.HISTORY])) == 50
        assert ids_of(index, vectors[77], limit=1) == [78]
        assert len(index.search(vectors[0], 2000, BOTH)) == 2000
    finally:
        index.close()


def test_a_search_neither_waits_for_a_count_nor_fails_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, counted = threading.Event(), threading.Event()
    index = MilvusVectorIndex(folder, DIMENSION)

    def failing(*_: object) -> int:
        searched.wait(10)
        counted.set()
        raise StoreUnavailable("The store is ailing.")

    try:
        vectors = unit_vectors(3)
        index.upsert(rows_of(vectors))
        # Rows of a server are counted now and then, since others write there.
        monkeypatch.setattr(index, "_nprobe", 1)
        monkeypatch.setattr(index, "_counted", -1e9)
        monkeypatch.setattr(index._of(), "count", failing)
        assert ids_of(index, vectors[0], limit=1) == [1]
        searched.set()
        assert counted.wait(60)
    finally:
        index.close()


def test_a_folder_that_takes_long_to_open_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "vectors"
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(3)))
    index.close()

    def late(*_args: object) -> None:
        raise MilvusException(message="<_MultiThreadedRendezvous: StatusCode.DEADLINE_EXCEEDED, Deadline Exceeded>")

    with monkeypatch.context() as patch, pytest.raises(StoreUnavailable):
        patch.setattr(LiteShards, "open", late)
        MilvusVectorIndex(folder, DIMENSION, patience=Patience(attempts=1))
    again = MilvusVectorIndex(folder, DIMENSION)
    assert sum(again.count().values()) == 3
    again.close()
