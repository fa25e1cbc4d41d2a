"""Vectors that are scanned by their bits: their neighbours, edits, filters, and what a failing disk does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.adapters.vector import coarse_vectors
from core.adapters.vector.coarse_vectors import CoarseVectors
from core.adapters.vector.flat_vectors import FlatVectors
from core.adapters.vector.growing_vectors import GrowingVectors
from core.adapters.vector.hot_vectors import ENGINE, HotVectors
from core.adapters.vector.memory import MemoryVectorIndex
from core.adapters.vector.vector_file import VectorFile
from core.model import Part
from tests.contracts.vector_index import DIMENSION, VectorIndexContract, ids_of, row, rows_of, unit_vectors

CENTRES = 60
WIDE = 384


def drawn(count: int, seed: int) -> np.ndarray:
    """Return unit vectors in neighbourhoods on one side of the origin, as those of passages are."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(1).standard_normal((CENTRES, WIDE)) + 1
    vectors = centres[random.integers(0, CENTRES, count)] + 0.8 * random.standard_normal((count, WIDE))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


class TestFromTheFirstRowOn(VectorIndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HotVectors]:
        monkeypatch.setattr("core.adapters.vector.hot_vectors.GrowingVectors", of_one_row)
        hot = HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION, folder=tmp_path)
        hot.load([])
        yield hot
        hot.close()


def of_one_row(dimension: int, folder: Path) -> GrowingVectors:
    return GrowingVectors(dimension, folder, coarse_from=0)


class Pair:
    """The same rows scanned exactly and by bits."""

    def __init__(self, folder: Path) -> None:
        self.exact = FlatVectors(WIDE)
        self.coarse = CoarseVectors(WIDE, folder, drawn(2_000, 5))

    def put(self, ids: list[int], vectors: np.ndarray) -> None:
        for each in (self.exact, self.coarse):
            each.put(ids, [chunk_id // 10 for chunk_id in ids], vectors)

    def remove(self, ids: list[int]) -> None:
        for each in (self.exact, self.coarse):
            each.remove(ids)

    def found(self, limit: int = 10, doc_ids: list[int] | None = None) -> float:
        """Return the share of the true neighbours of 40 questions that are found, whose distances are right."""
        shares = []
        for query in drawn(40, 9).astype(np.float32):
            true = {hit.chunk_id: hit.score for hit in self.exact.search(query, limit, doc_ids)}
            hits = self.coarse.search(query, limit, doc_ids)
            assert len(hits) == len(true)
            assert [hit.score for hit in hits] == sorted(hit.score for hit in hits)
            for hit in hits:
                assert hit.score == pytest.approx(true.get(hit.chunk_id, hit.score), abs=2e-3)
            shares.append(len(true.keys() & {hit.chunk_id for hit in hits}) / max(1, len(true)))
        return float(np.mean(shares))


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    made = Pair(tmp_path)
    for start in range(0, 12_001, 777):  # in batches that fill no block of the scan
        ids = list(range(start, min(start + 777, 12_001)))
        made.put(ids, drawn(len(ids), 100 + start))
    return made


def test_neighbours_are_those_of_an_exact_scan(pair: Pair) -> None:
    assert len(pair.coarse) == len(pair.exact) == 12_001
    assert pair.found() >= 0.99
    assert pair.found(limit=50) >= 0.99


def test_neighbours_after_rows_were_removed_replaced_and_the_scan_written_anew(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse_vectors, "LEAST_DEAD", 500)
    pair.remove(list(range(0, 12_000, 3)))
    assert pair.found() >= 0.99
    again = list(range(0, 12_000, 4))
    pair.put(again, drawn(len(again), 77))
    pair.put(again[:900], drawn(900, 78))
    assert len(pair.coarse) == len(pair.exact)
    assert pair.found() >= 0.99
    kept = pair.exact.held([0, 3, 4, 8, 11_000])
    held = pair.coarse.held([0, 3, 4, 8, 11_000])
    assert held.keys() == kept.keys() == {0, 4, 8, 11_000}
    assert all((held[chunk_id] == kept[chunk_id]).all() for chunk_id in kept)


@pytest.mark.parametrize("every", [2, 30, 1_200, 100_000])
def test_neighbours_of_some_documents_alone(pair: Pair, every: int) -> None:
    assert pair.found(doc_ids=list(range(0, 1_200, every))) >= 0.99
    assert pair.found(doc_ids=[5_000]) == 0.0


def test_a_filter_far_from_the_question_has_all_of_its_rows_measured(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse_vectors, "MOST_SCANNED", 300)
    assert pair.found(doc_ids=list(range(0, 1_200, 2))) == 1.0


def test_equal_vectors_are_told_apart_by_id(tmp_path: Path) -> None:
    coarse = CoarseVectors(WIDE, tmp_path, drawn(100, 5))
    coarse.put(range(2_000, 0, -1), [1] * 2_000, np.repeat(drawn(1, 3), 2_000, axis=0))
    assert [hit.chunk_id for hit in coarse.search(drawn(1, 4)[0].astype(np.float32), 5)] == [1, 2, 3, 4, 5]


def test_the_scan_by_bits_begins_where_rows_are_many(tmp_path: Path) -> None:
    growing = GrowingVectors(WIDE, tmp_path, coarse_from=1_000)
    vectors = drawn(1_500, 2)
    growing.put(range(1_000), [1] * 1_000, vectors[:1_000])
    assert growing.engine == FlatVectors.engine
    growing.put(range(1_000, 1_500), [1] * 500, vectors[1_000:])
    assert growing.engine == CoarseVectors.engine
    assert growing.search(vectors[3].astype(np.float32), 1)[0].chunk_id == 3
    assert not list(tmp_path.iterdir())
    growing.clear()
    assert (growing.engine, len(growing)) == (FlatVectors.engine, 0)


def test_a_removed_vector_is_overwritten(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, WIDE)
    vectors = drawn(20, 2)
    file.write(np.arange(20), vectors)
    file.wipe(np.array([7, 3]))
    read = file.read(np.array([19, 3, 7, 0]))
    assert (read[0] == vectors[19]).all() and (read[3] == vectors[0]).all()
    assert not read[1:3].any()


@pytest.mark.parametrize("called", ["pwrite", "pread"])
def test_the_store_answers_where_the_disk_of_the_file_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("core.adapters.vector.hot_vectors.GrowingVectors", of_one_row)
    vectors = unit_vectors(5)
    inner = MemoryVectorIndex(DIMENSION)
    hot = HotVectors(inner, DIMENSION, folder=tmp_path)
    hot.load([])
    hot.upsert(rows_of(vectors[:3]))
    assert hot.engine == hot.engine_for([Part.HEAD]) == CoarseVectors.engine != ENGINE

    def fails(*_given: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, called, fails)
    hot.upsert([row(9, vectors[4])])
    assert hot.in_memory([1]).keys() <= {1}
    assert set(ids_of(hot, vectors[0], parts=[Part.HEAD])) == {1, 2, 3, 9}
    assert hot.engine == hot.engine_for([Part.HEAD]) == inner.engine
    assert "OSError" in caplog.text
