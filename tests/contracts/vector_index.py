"""What every vector index does, whatever the technology; subclass it and give an ``index`` fixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.model import Part
from core.ports import Vector, VectorIndex, VectorRow

DIMENSION = 24
BOTH = (Part.HEAD, Part.HISTORY)
TOLERANCE = 1e-3
ODD_TEXTS = (
    "quote \" and ' and \\ backslash",
    "{braces} {0} %s ${x}",
    '" or 1 == 1 or part == "',
    "日本語の「かぎ括弧」と𠮷野家👩‍👩‍👧",
    "line\nbreak\ttab\r\nand nul \0 inside",
    "lone surrogate \ud800 here",
    "あ" * 70_000,
    "",
)


def unit_vectors(count: int, seed: int = 7, dimension: int = DIMENSION) -> Vector:
    """Random unit vectors, ``(count, dimension)``."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def row(chunk_id: int, vector: Vector, part: Part = Part.HEAD, doc_id: int = 1, text: str = "text") -> VectorRow:
    return VectorRow(chunk_id, doc_id, part, vector, text, f"doc-{doc_id}.txt#v1")


def rows_of(vectors: Vector, part: Part = Part.HEAD, first_id: int = 1, per_document: int = 10) -> list[VectorRow]:
    """One row a vector, ids from ``first_id``, ``per_document`` rows to a document."""
    return [row(first_id + n, vector, part, doc_id=n // per_document) for n, vector in enumerate(vectors)]


def nearest(vectors: Vector, query: Vector, ids: Sequence[int], limit: int) -> list[tuple[int, float]]:
    distances = np.linalg.norm(vectors - query, axis=1)
    order = sorted(range(len(ids)), key=lambda n: (distances[n], ids[n]))[:limit]
    return [(ids[n], float(distances[n])) for n in order]


def ids_of(index: VectorIndex, query: Vector, limit: int = 100, parts: Sequence[Part] = BOTH, **more) -> list[int]:
    return [hit.chunk_id for hit in index.search(query, limit, parts, **more)]


def stored_in(index: VectorIndex) -> dict[int, tuple[int, bool]]:
    """What the store keeps: fingerprint and whether it is in the head part, by id."""
    return {
        int(chunk_id): (int(mark), bool(in_head))
        for rows in index.stored()
        for chunk_id, mark, in_head in zip(rows.ids, rows.fingerprints, rows.in_head, strict=True)
    }


class VectorIndexContract:
    """Tests of the port; ``index`` is empty and of ``DIMENSION`` dimensions."""

    largest_id = 2**63 - 1

    def test_what_is_in_memory_is_what_was_written_last(self, index: VectorIndex) -> None:
        vectors = unit_vectors(6)
        index.upsert([*rows_of(vectors[:4]), row(9, vectors[4], Part.HISTORY)])
        index.upsert([row(2, vectors[5])])
        index.delete([3])
        last = {1: vectors[0], 2: vectors[5], 4: vectors[3], 9: vectors[4]}
        found = index.in_memory([1, 2, 3, 4, 9, 77])
        # The history part may be left to the store.
        assert not found or {1, 2, 4} <= found.keys() <= last.keys()
        for chunk_id, vector in found.items():
            assert np.array_equal(vector, last[chunk_id].astype(np.float16).astype(np.float32))

    def test_loading_what_the_catalogue_has_changes_no_answer(self, index: VectorIndex) -> None:
        vectors = unit_vectors(6)
        index.upsert([*rows_of(vectors[:4]), row(9, vectors[4], Part.HISTORY)])
        index.delete([2])
        index.load((each.chunk_id, each.doc_id, each.vector) for each in rows_of(vectors[:4]))
        assert sorted(ids_of(index, vectors[0], parts=[Part.HEAD])) == [1, 3, 4]
        assert sorted(ids_of(index, vectors[0])) == [1, 3, 4, 9]
        index.upsert([row(5, vectors[5])])
        assert ids_of(index, vectors[5], 1, [Part.HEAD]) == [5]

    def test_empty_index_gives_no_hits(self, index: VectorIndex) -> None:
        assert index.search(unit_vectors(1)[0], 5, [Part.HEAD]) == []
        assert dict(index.count()) == {Part.HEAD: 0, Part.HISTORY: 0}
        assert list(index.ids()) == []

    @pytest.mark.parametrize("parts", [[Part.HEAD], [Part.HISTORY], list(BOTH)])
    def test_order_and_distance_are_those_of_an_exact_scan(self, index: VectorIndex, parts: list[Part]) -> None:
        vectors = unit_vectors(300)
        index.upsert(rows_of(vectors[:200]))
        index.upsert(rows_of(vectors[200:], Part.HISTORY, first_id=201))
        kept = [n for n in range(300) if (Part.HEAD if n < 200 else Part.HISTORY) in parts]
        for query in unit_vectors(5, seed=8):
            hits = index.search(query, 20, parts)
            expected = nearest(vectors[kept], query, [n + 1 for n in kept], 20)
            assert [hit.score for hit in hits] == pytest.approx([distance for _, distance in expected], abs=TOLERANCE)
            assert set(dict(expected[:15])) <= {hit.chunk_id for hit in hits}

    def test_upsert_twice_leaves_one_row(self, index: VectorIndex) -> None:
        old, new = unit_vectors(2)
        index.upsert([row(5, old)])
        index.upsert([row(5, old)])
        index.upsert([row(5, new)])
        assert dict(index.count()) == {Part.HEAD: 1, Part.HISTORY: 0}
        [hit] = index.search(new, 5, [Part.HEAD])
        assert hit.chunk_id == 5
        assert hit.score == pytest.approx(0.0, abs=TOLERANCE)

    def test_last_row_of_one_upsert_wins(self, index: VectorIndex) -> None:
        old, new = unit_vectors(2)
        index.upsert([row(5, old), row(5, new, Part.HISTORY)])
        assert list(index.ids()) == [(5, Part.HISTORY)]
        assert index.search(new, 5, BOTH)[0].score == pytest.approx(0.0, abs=TOLERANCE)

    def test_upsert_with_the_other_part_moves_the_row(self, index: VectorIndex) -> None:
        vectors = unit_vectors(3)
        index.upsert(rows_of(vectors))
        index.upsert([row(2, vectors[1], Part.HISTORY)])
        assert sorted(ids_of(index, vectors[1], parts=[Part.HEAD])) == [1, 3]
        assert ids_of(index, vectors[1], parts=[Part.HISTORY]) == [2]
        assert ids_of(index, vectors[1], limit=1) == [2]
        index.upsert([row(2, vectors[1], Part.HEAD)])
        assert ids_of(index, vectors[1], limit=1, parts=[Part.HEAD]) == [2]
        assert dict(index.count()) == {Part.HEAD: 3, Part.HISTORY: 0}

    def test_deleted_row_is_not_found(self, index: VectorIndex) -> None:
        vectors = unit_vectors(6)
        index.upsert(rows_of(vectors))
        index.delete([1, 4])
        assert sorted(ids_of(index, vectors[0], parts=[Part.HEAD])) == [2, 3, 5, 6]
        assert sorted(ids_of(index, vectors[0])) == [2, 3, 5, 6]
        index.upsert([row(4, vectors[3])])
        assert ids_of(index, vectors[3], limit=1, parts=[Part.HEAD]) == [4]

    def test_deleting_unknown_rows_changes_nothing(self, index: VectorIndex) -> None:
        index.upsert([row(1, unit_vectors(1)[0])])
        index.delete([999, -1])
        index.delete([])
        assert list(index.ids()) == [(1, Part.HEAD)]

    def test_upsert_of_nothing_changes_nothing(self, index: VectorIndex) -> None:
        index.upsert([])
        assert dict(index.count()) == {Part.HEAD: 0, Part.HISTORY: 0}

    @pytest.mark.parametrize("parts", [[Part.HEAD], list(BOTH)])
    def test_search_keeps_to_the_documents_asked_for(self, index: VectorIndex, parts: list[Part]) -> None:
        vectors = unit_vectors(120)
        index.upsert(rows_of(vectors))
        query = unit_vectors(1, seed=9)[0]
        hits = index.search(query, 100, parts, doc_ids=[2, 7, 7])
        own = [n for n in range(120) if n // 10 in (2, 7)]
        assert [hit.chunk_id for hit in hits] == [i for i, _ in nearest(vectors[own], query, [n + 1 for n in own], 20)]
        assert index.search(query, 5, parts, doc_ids=[999]) == []
        assert index.search(query, 5, parts, doc_ids=[]) == []

    def test_search_takes_thousands_of_documents(self, index: VectorIndex) -> None:
        vectors = unit_vectors(40)
        index.upsert(rows_of(vectors, per_document=1))
        wanted = [*range(5, 10_000), 10**15]
        assert sorted(ids_of(index, vectors[0], doc_ids=wanted)) == list(range(6, 41))

    def test_equal_distances_are_ordered_by_id(self, index: VectorIndex) -> None:
        same, other = unit_vectors(2)
        index.upsert([row(n, same) for n in (9, 3, 7, 1, 5)] + [row(2, other)])
        assert ids_of(index, same, limit=3, parts=[Part.HEAD]) == [1, 3, 5]
        assert ids_of(index, same, parts=[Part.HEAD]) == [1, 3, 5, 7, 9, 2]

    def test_limit_bounds_the_hits(self, index: VectorIndex) -> None:
        vectors = unit_vectors(30)
        index.upsert(rows_of(vectors))
        assert len(index.search(vectors[0], 7, [Part.HEAD])) == 7
        assert len(index.search(vectors[0], 1000, [Part.HEAD])) == 30
        assert index.search(vectors[0], 0, [Part.HEAD]) == []

    def test_ids_are_64_bits_wide(self, index: VectorIndex) -> None:
        largest = self.largest_id
        vector = unit_vectors(1)[0]
        index.upsert([VectorRow(largest, largest - 1, Part.HEAD, vector, "x", "y")])
        assert ids_of(index, vector, parts=[Part.HEAD], doc_ids=[largest - 1]) == [largest]
        assert list(index.ids()) == [(largest, Part.HEAD)]

    def test_count_and_ids_tell_the_parts_apart(self, index: VectorIndex) -> None:
        vectors = unit_vectors(7)
        index.upsert(rows_of(vectors[:4]))
        index.upsert(rows_of(vectors[4:], Part.HISTORY, first_id=10))
        assert dict(index.count()) == {Part.HEAD: 4, Part.HISTORY: 3}
        expected = [(n, Part.HEAD) for n in (1, 2, 3, 4)] + [(n, Part.HISTORY) for n in (10, 11, 12)]
        assert sorted(index.ids()) == expected

    def test_stored_rows_tell_fingerprints_and_parts(self, index: VectorIndex) -> None:
        vectors = unit_vectors(6)
        rows = rows_of(vectors[:4]) + rows_of(vectors[4:], Part.HISTORY, first_id=10)
        marks = [7, -(2**63), 2**63 - 1, 0, 5, -1]
        index.upsert([replace(one, fingerprint=mark) for one, mark in zip(rows, marks, strict=True)])
        assert stored_in(index) == {
            one.chunk_id: (mark, one.part is Part.HEAD) for one, mark in zip(rows, marks, strict=True)
        }
        index.upsert([replace(rows[0], part=Part.HISTORY, fingerprint=8)])
        index.delete([2, 10])
        assert stored_in(index) == {1: (8, False), 3: (2**63 - 1, True), 4: (0, True), 11: (-1, False)}
        index.clear()
        assert stored_in(index) == {}

    def test_every_stored_row_is_told_once(self, index: VectorIndex) -> None:
        rows = [replace(one, fingerprint=one.chunk_id * 3) for one in rows_of(unit_vectors(9000), first_id=2**40)]
        for start in range(0, 9000, 3000):
            index.upsert(rows[start : start + 3000])
        index.upsert([replace(one, part=Part.HISTORY) for one in rows[:50]])
        told = list(index.stored())
        ids = np.concatenate([batch.ids for batch in told])
        assert sorted(ids.tolist()) == [one.chunk_id for one in rows]
        assert (np.concatenate([batch.fingerprints for batch in told]) == ids * 3).all()
        assert sum(int((~batch.in_head).sum()) for batch in told) == 50
        assert all(batch.ids.dtype == batch.fingerprints.dtype == np.int64 for batch in told)

    def test_clear_empties_both_parts_and_takes_rows_again(self, index: VectorIndex) -> None:
        vectors = unit_vectors(4)
        index.upsert(rows_of(vectors[:2]))
        index.upsert(rows_of(vectors[2:], Part.HISTORY, first_id=3))
        index.clear()
        assert dict(index.count()) == {Part.HEAD: 0, Part.HISTORY: 0}
        assert index.search(vectors[0], 5, BOTH) == []
        index.upsert([row(1, vectors[0])])
        assert ids_of(index, vectors[0], parts=[Part.HEAD]) == [1]

    def test_odd_strings_are_only_text(self, index: VectorIndex) -> None:
        vectors = unit_vectors(len(ODD_TEXTS))
        rows = [
            VectorRow(n, n, Part.HEAD, vector, text, text)
            for n, (vector, text) in enumerate(zip(vectors, ODD_TEXTS, strict=True), start=1)
        ]
        index.upsert(rows)
        assert sorted(index.ids()) == [(n, Part.HEAD) for n in range(1, len(rows) + 1)]
        assert ids_of(index, vectors[2], limit=1, parts=[Part.HEAD]) == [3]

    def test_many_writes_in_any_order_end_in_the_last_state(self, index: VectorIndex) -> None:
        random = np.random.default_rng(3)
        state: dict[int, tuple[Part, Vector]] = {}
        for vectors in np.split(unit_vectors(300, seed=4), 20):
            batch = [row(int(random.integers(1, 60)), vector, BOTH[int(random.integers(0, 2))]) for vector in vectors]
            index.upsert(batch)
            state.update({r.chunk_id: (r.part, r.vector) for r in batch})
            gone = [int(n) for n in random.integers(1, 60, 4)]
            index.delete(gone)
            for chunk_id in gone:
                state.pop(chunk_id, None)
        assert sorted(index.ids()) == sorted((chunk_id, part) for chunk_id, (part, _) in state.items())
        head = {chunk_id: vector for chunk_id, (part, vector) in state.items() if part is Part.HEAD}
        hits = index.search(unit_vectors(1)[0], 100, [Part.HEAD])
        assert {hit.chunk_id for hit in hits} == set(head)
        expected = [float(np.linalg.norm(head[hit.chunk_id] - unit_vectors(1)[0])) for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(expected, abs=TOLERANCE)
        assert [hit.score for hit in hits] == sorted(hit.score for hit in hits)

    def test_nothing_is_left_of_deleted_rows_once_the_others_were_written_again(self, index: VectorIndex) -> None:
        vectors = unit_vectors(60)
        index.upsert(rows_of(vectors))
        index.upsert(rows_of(vectors[:30], Part.HISTORY))
        index.delete([3, 40])
        kept = {chunk_id: part for chunk_id, part in index.ids() if chunk_id not in (3, 40)}
        if not index.expunge([3, 40]):
            index.upsert([row(chunk_id, vectors[chunk_id - 1], part) for chunk_id, part in kept.items()])
        assert index.expunge([3, 40])
        assert dict(index.ids()) == kept
        assert set(ids_of(index, vectors[2], limit=60)) == kept.keys()
