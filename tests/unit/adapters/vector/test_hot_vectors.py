"""Vectors held in memory before another index: the contract, loading, and who answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.adapters.vector import hot_vectors
from core.adapters.vector.hot_vectors import ENGINE, HotVectors
from core.adapters.vector.memory import MemoryVectorIndex
from core.adapters.vector.milvus import MilvusVectorIndex
from core.errors import StoreUnavailable
from core.model import Part
from tests.contracts.vector_index import BOTH, DIMENSION, VectorIndexContract, ids_of, row, rows_of, unit_vectors


class Unreachable(MemoryVectorIndex):
    """An index that is down for searches."""

    def search(self, *_args: object, **_more: object) -> list:
        raise StoreUnavailable("down")


class Unsearched(MemoryVectorIndex):
    """An index that nothing is asked of; what is closed says so."""

    def search(self, *args: object, **more: object) -> list:
        super().search(*args, **more)
        raise AssertionError("Memory had all of it.")


class TestHotVectorsOverMemory(VectorIndexContract):
    @pytest.fixture
    def index(self) -> HotVectors:
        hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)
        hot.load([])
        return hot


class TestHotVectorsWithHistory(VectorIndexContract):
    @pytest.fixture
    def index(self) -> HotVectors:
        hot = HotVectors(Unsearched(DIMENSION), DIMENSION)
        hot.load([])
        hot.load([], Part.HISTORY)
        return hot


class TestHotVectorsNotYetLoaded(VectorIndexContract):
    @pytest.fixture
    def index(self) -> HotVectors:
        return HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)


class TestHotVectorsOverMilvusLite(VectorIndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[HotVectors]:
        hot = HotVectors(MilvusVectorIndex(tmp_path / "vectors", DIMENSION), DIMENSION)
        hot.load([])
        yield hot
        hot.close()


class ReadOnly(MemoryVectorIndex):
    """An index that is down for writes."""

    def upsert(self, rows: object) -> None:
        raise StoreUnavailable("down")


def test_loaded_head_is_searched_in_memory_and_history_in_the_store() -> None:
    vectors = unit_vectors(4)
    hot = HotVectors(Unreachable(DIMENSION), DIMENSION)
    hot.load([(n, 1, vector) for n, vector in enumerate(vectors[:3])])
    hot.upsert([row(3, vectors[3], Part.HISTORY)])
    assert hot.engine == hot.engine_for([Part.HEAD]) == ENGINE
    assert ids_of(hot, vectors[2], limit=1, parts=[Part.HEAD]) == [2]
    for parts in ([Part.HISTORY], BOTH):
        assert hot.engine_for(parts) == MemoryVectorIndex.engine
        with pytest.raises(StoreUnavailable):
            hot.search(vectors[0], 1, parts)


def test_history_that_was_loaded_is_searched_in_memory_alone_and_beside_the_head() -> None:
    vectors = unit_vectors(6)
    hot = HotVectors(Unreachable(DIMENSION), DIMENSION)
    hot.load([(n, 1, vector) for n, vector in enumerate(vectors[:3], start=1)])
    hot.load([(n, 1, vector) for n, vector in enumerate(vectors[3:], start=4)], Part.HISTORY)
    assert hot.engine_for(BOTH) == hot.engine_for([Part.HISTORY]) == ENGINE and hot.is_loaded(BOTH)
    assert ids_of(hot, vectors[4], limit=1, parts=[Part.HISTORY]) == [5]
    assert ids_of(hot, vectors[4], limit=1, parts=[Part.HEAD]) != [5]
    found = hot.search(vectors[4], 6, BOTH)
    assert found[0].chunk_id == 5 and {hit.chunk_id for hit in found} == {1, 2, 3, 4, 5, 6}
    assert [hit.score for hit in found] == sorted(hit.score for hit in found)
    hot.upsert([row(1, vectors[0], Part.HISTORY), row(5, vectors[4], Part.HEAD)])
    assert set(ids_of(hot, vectors[4], limit=9, parts=[Part.HEAD])) == {2, 3, 5}
    assert set(ids_of(hot, vectors[4], limit=9, parts=[Part.HISTORY])) == {1, 4, 6}
    assert set(hot.in_memory([1, 5, 7])) == {1, 5}


def test_history_is_let_go_before_the_head() -> None:
    vectors = unit_vectors(12)
    inner = MemoryVectorIndex(DIMENSION)
    hot = HotVectors(inner, DIMENSION, limit=10)
    hot.load([])
    hot.load([], Part.HISTORY)
    hot.upsert(rows_of(vectors[:8]))
    hot.upsert([row(number, vectors[number - 1], Part.HISTORY) for number in (9, 10, 11)])
    assert hot.engine_for([Part.HEAD]) == ENGINE and hot.engine_for(BOTH) == inner.engine
    assert not hot.is_loaded(BOTH) and hot.is_loaded([Part.HEAD])
    assert len(ids_of(hot, vectors[0], limit=20, parts=BOTH)) == 11


def test_store_is_put_to_rest_once_memory_answers_alone_and_nothing_was_asked_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hot_vectors, "RESTS_AFTER_S", 0.05)
    rested = threading.Event()
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION, rest=lambda: not rested.set())
    hot.upsert(rows_of(unit_vectors(2)))
    hot.load([])
    assert not rested.wait(0.3), "nothing has the history part but the store"
    hot.load([], Part.HISTORY)
    assert rested.wait(10)
    rested.clear()
    assert not rested.wait(0.3), "it rests"
    hot.delete([1])
    assert rested.wait(10)
    hot.close()
    rested.clear()
    assert not rested.wait(0.3)


def held_up(
    vectors: np.ndarray, began: threading.Event, may_end: threading.Event
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield a row, and another once it may end."""
    yield 1, 1, vectors[0]
    began.set()
    may_end.wait(60)
    yield 2, 1, vectors[1]


def test_a_search_waits_a_moment_for_what_is_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, began, may_end = unit_vectors(2), threading.Event(), threading.Event()
    hot = HotVectors(Unreachable(DIMENSION), DIMENSION)

    with ThreadPoolExecutor() as threads:
        loading = threads.submit(hot.load, held_up(vectors, began, may_end))
        assert began.wait(60)
        monkeypatch.setattr(hot_vectors, "LOAD_PATIENCE_S", 0.05)
        with pytest.raises(StoreUnavailable, match="being taken into memory"):
            hot.search(vectors[0], 2, [Part.HEAD])
        monkeypatch.setattr(hot_vectors, "LOAD_PATIENCE_S", 60.0)
        searching = threads.submit(hot.search, vectors[0], 2, [Part.HEAD])
        may_end.set()
        assert {hit.chunk_id for hit in searching.result(60)} == {1, 2}
        loading.result(60)


@pytest.mark.parametrize("batch", [1, 4096])
def test_a_search_waits_half_as_long_where_nothing_has_come_yet(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    vectors, began, may_end = unit_vectors(2), threading.Event(), threading.Event()
    hot = HotVectors(Unreachable(DIMENSION), DIMENSION)

    monkeypatch.setattr(hot_vectors, "LOAD_BATCH", batch)
    monkeypatch.setattr(hot_vectors, "LOAD_PATIENCE_S", 2.0)
    with ThreadPoolExecutor() as threads:
        loading = threads.submit(hot.load, held_up(vectors, began, may_end))
        assert began.wait(60)
        started = time.monotonic()
        with pytest.raises(StoreUnavailable, match="being taken into memory"):
            hot.search(vectors[0], 2, [Part.HEAD])
        waited = time.monotonic() - started
        may_end.set()
        loading.result(60)
    assert (waited > 1.5) == (batch == 1)


def test_store_answers_until_loading_has_ended() -> None:
    vectors = unit_vectors(2)
    inner = MemoryVectorIndex(DIMENSION)
    inner.upsert(rows_of(vectors))
    hot = HotVectors(inner, DIMENSION)
    assert hot.engine_for([Part.HEAD]) == inner.engine == hot.engine
    assert ids_of(hot, vectors[0], parts=[Part.HEAD]) == [1, 2]


def test_writes_during_loading_win_over_what_is_loaded() -> None:
    old, new, moved, gone = unit_vectors(4)
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)
    hot.upsert([row(9, new)])

    def rows() -> Iterator[tuple[int, int, np.ndarray]]:
        yield 1, 1, old
        hot.upsert([row(1, new), row(2, moved, Part.HISTORY)])
        hot.delete([3])
        yield 2, 1, moved
        yield 3, 1, gone
        yield 9, 1, old

    hot.load(rows())
    hits = hot.search(new, 10, [Part.HEAD])
    assert [hit.chunk_id for hit in hits] == [1, 9]
    assert [hit.score for hit in hits] == pytest.approx([0.0, 0.0], abs=1e-3)


def test_clear_during_loading_leaves_nothing() -> None:
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)

    def rows() -> Iterator[tuple[int, int, np.ndarray]]:
        yield 1, 1, unit_vectors(1)[0]
        hot.clear()
        yield 2, 1, unit_vectors(1)[0]

    hot.load(rows())
    assert hot.search(unit_vectors(1)[0], 5, [Part.HEAD]) == []


@pytest.mark.parametrize("loaded_first", [True, False])
def test_store_answers_when_the_head_outgrows_the_limit(loaded_first: bool) -> None:
    vectors = unit_vectors(12)
    inner = MemoryVectorIndex(DIMENSION)
    hot = HotVectors(inner, DIMENSION, limit=10)
    if loaded_first:
        hot.load([])
        hot.upsert(rows_of(vectors[:10]))
        assert hot.engine == ENGINE
    hot.upsert(rows_of(vectors))
    hot.load([(n, 1, vector) for n, vector in enumerate(vectors, start=1)])
    assert hot.engine == hot.engine_for([Part.HEAD]) == inner.engine
    assert len(ids_of(hot, vectors[0], parts=[Part.HEAD])) == 12


def test_row_that_the_store_refused_is_not_in_memory() -> None:
    hot = HotVectors(ReadOnly(DIMENSION), DIMENSION)
    hot.load([])
    with pytest.raises(StoreUnavailable):
        hot.upsert(rows_of(unit_vectors(2)))
    assert hot.search(unit_vectors(1)[0], 5, [Part.HEAD]) == []


def test_half_precision_rows_load_as_they_are() -> None:
    vectors = unit_vectors(5000).astype(np.float16)
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)
    hot.load((n, n, vector) for n, vector in enumerate(vectors))
    query = unit_vectors(1, seed=2)[0]
    exact = np.linalg.norm(vectors.astype(np.float32) - query, axis=1)
    hits = hot.search(query, 50, [Part.HEAD])
    assert [hit.chunk_id for hit in hits] == np.argsort(exact, kind="stable")[:50].tolist()
    assert [hit.score for hit in hits] == pytest.approx(np.sort(exact)[:50].tolist(), abs=1e-3)


def test_searches_beside_writes_see_whole_rows() -> None:
    vectors = unit_vectors(400)
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)
    hot.load([(n, n, vector) for n, vector in enumerate(vectors)])
    stop = threading.Event()
    wrong: list[object] = []

    def search() -> None:
        while not stop.is_set():
            for hit in hot.search(vectors[0], 30, [Part.HEAD]):
                if abs(hit.score - float(np.linalg.norm(vectors[hit.chunk_id] - vectors[0]))) > 1e-3:
                    wrong.append(hit)

    searchers = [threading.Thread(target=search) for _ in range(3)]
    for searcher in searchers:
        searcher.start()
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        hot.delete(range(100, 300))
        hot.upsert([row(n, vectors[n]) for n in range(299, 99, -1)])
    stop.set()
    for searcher in searchers:
        searcher.join()
    assert wrong == []
    assert len(ids_of(hot, vectors[0], limit=1000, parts=[Part.HEAD])) == 400


def test_more_equal_rows_than_are_read_at_once_are_still_ordered_by_id() -> None:
    vector = unit_vectors(1)[0]
    hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION)
    hot.load([(n, 1, vector) for n in range(500, 0, -1)])
    assert ids_of(hot, vector, limit=5, parts=[Part.HEAD]) == [1, 2, 3, 4, 5]
