"""A Milvus Lite folder of several collections behaves as one index, and keeps few of them open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.vector import milvus_lite_shards
from core.adapters.vector.milvus import MilvusVectorIndex
from core.adapters.vector.milvus_lite_server import MilvusLiteServer
from core.adapters.vector.milvus_lite_shards import LiteShards
from core.adapters.vector.milvus_rows import as_row
from core.errors import IndexLost, StoreUnavailable
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


@pytest.fixture(autouse=True)
def small_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus_lite_shards, "ROWS", 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


def shards_of(index: MilvusVectorIndex) -> Any:
    return index._of()


class TestManyCollections(VectorIndexContract):
    @pytest.fixture
    def index(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MilvusVectorIndex]:
        monkeypatch.setattr(milvus_lite_shards, "ROWS", 100)
        monkeypatch.setattr(milvus_lite_shards, "_MOST_OPEN", 2)
        monkeypatch.setattr(milvus_lite_shards, "_SEARCHED_S", 0.0)
        index = MilvusVectorIndex(folder, DIMENSION)
        yield index
        index.close()


def test_several_collections_are_searched_counted_and_read_as_one(folder: Path) -> None:
    vectors = unit_vectors(45)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors))
    index.upsert([row(13, vectors[12], Part.HISTORY)])
    index.delete([7, 44])
    for _ in range(2):
        assert shards_of(index)._known() == [0, 10, 20, 30, 40]
        assert dict(index.count()) == {Part.HEAD: 42, Part.HISTORY: 1}
        query = unit_vectors(1, seed=5)[0]
        near = [int(at) + 1 for at in np.argsort(np.linalg.norm(vectors - query, axis=1)) if at + 1 not in (7, 44)]
        assert ids_of(index, query) == near
        assert ids_of(index, query, parts=[Part.HEAD], limit=9) == [at for at in near if at != 13][:9]
        assert set(stored_in(index)) == set(near)
        index.close()
        index = MilvusVectorIndex(folder, DIMENSION)
    index.close()


def test_few_collections_are_open_unless_the_store_itself_is_searched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_lite_shards, "_MOST_OPEN", 2)
    vectors = unit_vectors(60)
    index = MilvusVectorIndex(folder, DIMENSION)
    shards = shards_of(index)
    try:
        for at in range(0, 60, 5):
            index.upsert(rows_of(vectors[at : at + 5], first_id=at + 1))
            assert len(shards._open) <= 2
        assert len(stored_in(index)) == 60
        assert len(shards._open) <= 2
        assert sorted(shards._server._database._collections) == sorted(
            ("default", shards._name_of(start)) for start in shards._open
        )
        assert len(ids_of(index, vectors[0])) == 60
        assert len(shards._open) == len(shards._known()) == 6
        # Once it was not searched for a while, the next write closes what is left over.
        monkeypatch.setattr(milvus_lite_shards, "_SEARCHED_S", 0.0)
        index.upsert(rows_of(vectors[:1]))
        assert len(shards._open) <= 2
        monkeypatch.setattr(milvus_lite_shards, "_UNUSED_S", 0.0)
        index.upsert(rows_of(vectors[:1]))
        assert list(shards._open) == [0]
    finally:
        index.close()


def test_a_folder_of_an_earlier_release_keeps_its_rows_where_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = unit_vectors(60)
    with monkeypatch.context() as patch:
        patch.setattr(milvus_lite_shards, "ROWS", 1 << 40)
        index = MilvusVectorIndex(folder, DIMENSION)
        index.upsert(rows_of(vectors[:33]))
        index.delete([3])
        index.close()
    (folder / "ids").unlink()
    (folder / "rows.json").unlink(missing_ok=True)
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        # What moves stays; only what is new has collections of its own.
        index.upsert([row(25, vectors[24], Part.HISTORY)])
        assert shards_of(index)._known() == [0]
        index.upsert(rows_of(vectors[33:], first_id=34))
        index.upsert([row(31, vectors[30], Part.HISTORY)])
        index.delete([32, 35])
        assert shards_of(index)._known() == [0, 32, 42, 52]
        assert dict(index.count()) == {Part.HEAD: 55, Part.HISTORY: 2}
        found = [number for number, _ in index.ids()]
        assert sorted(found) == [number for number in range(1, 61) if number not in (3, 32, 35)]
        assert sorted(ids_of(index, vectors[0])) == sorted(found)
    finally:
        index.close()


@pytest.mark.parametrize("left", [0, 8 * 20 + 3, 8 * 42, 8 * 45 - 1])
def test_a_log_of_ids_that_is_lost_or_cut_is_made_anew(folder: Path, left: int) -> None:
    vectors = unit_vectors(45)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors))
    index.delete([1, 2, 3, 17])
    index.close()
    log = folder / "ids"
    log.write_bytes(log.read_bytes()[:left])
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert([row(40, vectors[39], Part.HISTORY), row(2, vectors[1])])
        index.delete([12])
        assert sorted(stored_in(index)) == [2, *(n for n in range(4, 46) if n not in (12, 17))]
        assert [part for number, part in index.ids() if number == 40] == [Part.HISTORY]
    finally:
        index.close()


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_log_that_was_cut_is_made_anew_where_rows_were_deleted_too(folder: Path, is_closed: bool) -> None:
    vectors = unit_vectors(10)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors))
    index.delete([1, 2, 3])
    index.close()
    log = folder / "ids"
    log.write_bytes(log.read_bytes()[:-16])
    if not is_closed:
        (folder / "closed").unlink()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert([row(21, vectors[0]), row(22, vectors[1])])
        index.upsert([row(10, vectors[9], Part.HISTORY)])
        assert sorted(number for number, _ in index.ids()) == [*range(4, 11), 21, 22]
    finally:
        index.close()


def test_a_deletion_of_what_was_never_written_goes_on_beside_a_damaged_file(folder: Path) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(25)))
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        next(folder.rglob("data_*.parquet")).write_bytes(b"damaged")
        index.delete([25, 77])
        assert dict(index.count())[Part.HEAD] == 24
    finally:
        index.close()


def test_nothing_of_a_purged_row_is_left_and_it_can_come_again(folder: Path) -> None:
    vectors = unit_vectors(25)
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert(rows_of(vectors, first_id=1_000_000_001))
        index.delete([1_000_000_004])
        assert index.expunge([1_000_000_004])
        gone = np.array([1_000_000_004]).tobytes()
        # Milvus Lite keeps the ids of what it has deleted, and nothing else of it.
        rows = [*folder.rglob("data_*"), *folder.rglob("*.arrow"), folder / "ids"]
        assert len(rows) > 3
        assert not [path for path in rows if gone in path.read_bytes()]
        index.upsert([row(1_000_000_004, vectors[3])])
        assert len(stored_in(index)) == 25
        index.upsert([row(1_000_000_004, vectors[3], Part.HISTORY)])
        assert len(stored_in(index)) == 25
    finally:
        index.close()


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_emptying_that_was_ended_half_way_leaves_an_index_that_can_be_filled(folder: Path, dropped: int) -> None:
    vectors = unit_vectors(35)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors))
    shards, done = shards_of(index), []

    class Ends(Exception):
        pass

    class Client:
        def drop_collection(self, name: str) -> None:
            if len(done) == dropped:
                raise Ends
            index._client.drop_collection(name)
            done.append(name)

    with pytest.raises(Ends):
        shards.clear(Client())
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert(rows_of(vectors))
        assert sorted(stored_in(index)) == list(range(1, 36))
        assert len(ids_of(index, vectors[0])) == 35
    finally:
        index.close()


def test_rows_are_counted_once_and_again_after_a_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(25)))
    assert dict(index.count()) == {Part.HEAD: 25, Part.HISTORY: 0}
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION)
    shards = shards_of(index)
    counted = []
    count = shards._counted
    monkeypatch.setattr(shards, "_counted", lambda start: counted.append(start) or count(start))
    try:
        assert sum(index.count().values()) == 25
        assert counted == []
        index.delete([12])
        # Whoever kills the process from here on leaves no count of what was changed.
        assert set(json.loads((folder / "rows.json").read_bytes())) == {"0", "20"}
        assert sum(index.count().values()) == 24
        assert counted == [10]
        index.clear()
        assert sum(index.count().values()) == 0
    finally:
        index.close()


def test_a_count_of_what_changes_meanwhile_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    shards = shards_of(index)
    try:
        index.upsert(rows_of(unit_vectors(3)))
        keep = shards._counts.keep_one

        def late(*given: Any) -> None:
            index.upsert([row(5, unit_vectors(1)[0])])
            keep(*given)

        monkeypatch.setattr(shards._counts, "keep_one", late)
        assert sum(index.count().values()) == 3
        monkeypatch.setattr(shards._counts, "keep_one", keep)
        assert sum(index.count().values()) == 4
    finally:
        index.close()


def test_a_damaged_collection_is_said_and_all_is_written_anew(folder: Path) -> None:
    vectors = unit_vectors(30)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors))
    index.close()
    damaged = folder / "collections" / "rag_kb_from_10"
    for path in damaged.rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:40])
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        for act in (
            lambda: index.search(vectors[0], 5, BOTH),
            lambda: list(index.stored()),
            lambda: index.upsert([row(12, vectors[0])]),
        ):
            with pytest.raises(IndexLost):
                act()
        index.clear()
        index.upsert(rows_of(vectors))
        assert len(ids_of(index, vectors[0])) == 30
    finally:
        index.close()


def test_a_collection_that_cannot_be_written_out_is_read_from_its_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_lite_shards, "_MOST_OPEN", 2)
    vectors = unit_vectors(50)
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert(rows_of(vectors[:9]))

        with monkeypatch.context() as patch:
            patch.setattr("milvus_lite.engine.collection.execute_flush", full)
            index.upsert(rows_of(vectors[9:], first_id=10))
        assert len(stored_in(index)) == 50
    finally:
        index.close()


def test_a_store_that_memory_cannot_hold_is_not_searched_and_else_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = unit_vectors(60)
    monkeypatch.setattr(milvus_lite_shards, "_BYTES", 100_000)
    index = MilvusVectorIndex(folder, DIMENSION, memory=4 * 5 * 100_000)
    try:
        index.upsert(rows_of(vectors))
        with pytest.raises(StoreUnavailable, match="60 vectors are too many"):
            index.search(vectors[0], 5, BOTH)
        index.upsert(rows_of(vectors[:5]))
        assert len(stored_in(index)) == sum(index.count().values()) == 60
        assert len(shards_of(index)._open) <= 2
    finally:
        index.close()


def test_out_of_memory_is_no_damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(30)))
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION)

    def exhausted(_name: str) -> None:
        raise MemoryError

    try:
        monkeypatch.setattr(shards_of(index)._server, "collection", exhausted)
        with pytest.raises(StoreUnavailable) as raised:
            index.upsert([row(15, unit_vectors(1)[0])])
        assert not isinstance(raised.value, IndexLost)
    finally:
        index.close()


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_what_was_acknowledged_is_there_after_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus_lite_shards, "ROWS_PER_CLUSTER", 0)
    vectors = unit_vectors(9)
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert(rows_of(vectors[:5]))
        assert len(ids_of(index, vectors[0])) == 5
        with monkeypatch.context() as patch:
            patch.setattr("milvus_lite.engine.collection.execute_flush", full)
            assert len(ids_of(index, vectors[0])) == 5, "a search writes nothing"
            with pytest.raises(StoreUnavailable):
                index.upsert(rows_of(vectors[5:7], first_id=6))
        assert {1, 2, 3, 4, 5} <= set(stored_in(index))
        index.upsert(rows_of(vectors[5:], first_id=6))
        for _ in range(2):
            assert sorted(ids_of(index, vectors[0])) == list(range(1, 10))
            index.close()
            index = MilvusVectorIndex(folder, DIMENSION)
    finally:
        index.close()


def test_a_row_whose_id_the_log_has_lost_is_deleted_and_purged(folder: Path) -> None:
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(unit_vectors(25), first_id=1_000_000_001))
    index.close()
    log = folder / "ids"
    whole, gone = log.read_bytes(), np.array([1_000_000_004]).tobytes()
    log.write_bytes(whole.replace(gone, np.array([1_000_000_504]).tobytes()))
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.delete([1_000_000_004])
        assert sorted(stored_in(index)) == [1_000_000_001 + place for place in range(25) if place != 3]
        assert index.expunge([1_000_000_004])
        assert not [path for path in folder.rglob("data_*") if gone in path.read_bytes()]
    finally:
        index.close()


@pytest.mark.parametrize("again", [False, True])
def test_a_purge_finds_rows_that_the_log_does_not_know(folder: Path, again: bool) -> None:
    vectors = unit_vectors(25)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors, first_id=1_000_000_001))
    index.delete([1_000_000_004])
    index.close()
    (folder / "ids").unlink()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        if again:
            index.upsert([row(1_000_000_004, vectors[0])])
            index.delete([1_000_000_004])
        assert index.expunge([1_000_000_004])
        gone = np.array([1_000_000_004]).tobytes()
        assert not [path for path in (*folder.rglob("data_*"), folder / "ids") if gone in path.read_bytes()]
        assert len(stored_in(index)) == 24
    finally:
        index.close()


@pytest.mark.parametrize("count", [7, 35])
def test_what_an_earlier_release_wrote_meanwhile_is_found(folder: Path, count: int) -> None:
    vectors = unit_vectors(count + 1)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors[:count]))
    assert sum(index.count().values()) == count
    index.close()
    # It knows one collection: a new row, one that moves, one that goes.
    earlier = MilvusLiteServer(folder)
    collection = earlier.collection("rag_kb")
    new = [row(500, vectors[count]), row(count, vectors[count - 1], Part.HISTORY)]
    collection.insert([{**each, "embedding": each["embedding"].tolist()} for each in map(as_row, new)])
    collection.delete([3])
    earlier.close()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        if count == 35:
            assert list(index.stored()) == [], "it is filled from the catalogue"
        else:
            assert sorted(stored_in(index)) == [1, 2, 4, 5, 6, 7, 500]
            assert dict(index.count()) == {Part.HEAD: 6, Part.HISTORY: 1}
            index.delete([500])
            assert 500 not in stored_in(index)
    finally:
        index.close()


def test_a_collection_whose_maker_was_killed_gets_its_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit_vectors(15)
    index = MilvusVectorIndex(folder, DIMENSION)
    index.upsert(rows_of(vectors[:10]))

    class Killed(Exception):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(LiteShards, "_index", killed)
        with pytest.raises(StoreUnavailable):
            index.upsert(rows_of(vectors[10:], first_id=11))
    index.close()
    index = MilvusVectorIndex(folder, DIMENSION)
    try:
        index.upsert(rows_of(vectors[10:], first_id=11))
        assert shards_of(index)._known() == [0, 10]
        assert index._client.list_indexes("rag_kb_from_10") == ["embedding"]
        assert len(ids_of(index, vectors[0])) == 15
    finally:
        index.close()


def test_a_count_while_rows_are_written_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit_vectors(5)
    index = MilvusVectorIndex(folder, DIMENSION)
    counts = []

    def counting(rows: list[dict[str, Any]]) -> None:
        counts.append(sum(shards_of(index).count(index._client, "").values()))
        insert(rows)

    try:
        index.upsert(rows_of(vectors[:2]))
        with shards_of(index)._using(0) as collection:
            insert = collection.insert
            monkeypatch.setattr(collection, "insert", counting)
            index.upsert(rows_of(vectors[2:], first_id=3))
        assert counts == [2]
        assert not (folder / "rows.json").exists() or json.loads((folder / "rows.json").read_bytes()) == {}
        assert sum(index.count().values()) == 5
    finally:
        index.close()
