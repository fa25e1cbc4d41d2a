"""Vectors in memory as 16-bit floats, scanned exactly by FAISS; rows can be replaced and removed in constant time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core.adapters.vector.arrays import Halves, Ids, nearest
from core.adapters.vector.gate import Gate
from core.model import IndexHit
from core.ports import Vector

TIE_MARGIN = 16
"""Hits read beyond the limit, so that equal distances at its edge are told apart by id."""


class FlatVectors:
    """Rows of (chunk id, document id, vector); searches run beside each other, writes alone."""

    engine = "exact scan in memory (FAISS fp16)"

    def __init__(self, dimension: int) -> None:
        import faiss

        self._faiss: Any = faiss
        self._dimension = dimension
        self._index: Any = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_L2)
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._doc_ids: Ids = np.empty(0, dtype=np.int64)
        self._slots: dict[int, int] = {}
        self._gate = Gate()

    def __len__(self) -> int:
        return len(self._slots)

    def rows(self, most: int) -> Iterator[tuple[list[int], list[int], Halves]]:
        """Give all rows, at most so many at a time, with their ids and documents'; nothing is written meanwhile."""
        for start in range(0, len(self._slots), most):
            some = slice(start, min(start + most, len(self._slots)))
            yield self._ids[some].tolist(), self._doc_ids[some].tolist(), self._codes()[some].copy()

    def put(self, ids: Sequence[int], doc_ids: Sequence[int], vectors: Halves) -> None:
        """Add the rows, each in the place of the one with the same id; ``vectors`` is ``(n, dimension)`` float16."""
        last = {chunk_id: row for row, chunk_id in enumerate(ids)}
        with self._gate.writing():
            old = [row for chunk_id, row in last.items() if chunk_id in self._slots]
            new = [row for chunk_id, row in last.items() if chunk_id not in self._slots]
            if old:
                places = [self._slots[ids[row]] for row in old]
                self._codes()[places] = vectors[old]
                self._doc_ids[places] = [doc_ids[row] for row in old]
            if new:
                self._append([ids[row] for row in new], [doc_ids[row] for row in new], vectors[new])

    def remove(self, ids: Sequence[int]) -> None:
        """Forget the rows; unknown ids are ignored."""
        with self._gate.writing():
            for chunk_id in ids:
                slot = self._slots.pop(chunk_id, None)
                if slot is not None:
                    self._fill(slot)

    def clear(self) -> None:
        with self._gate.writing():
            self._index.reset()
            self._ids, self._doc_ids = self._ids[:0].copy(), self._doc_ids[:0].copy()
            self._slots = {}

    def held(self, ids: Sequence[int]) -> Mapping[int, Vector]:
        """Return the vectors of those of the rows that are there."""
        with self._gate.reading():
            slots = {chunk_id: slot for chunk_id in ids if (slot := self._slots.get(chunk_id)) is not None}
            vectors = self._codes()[list(slots.values())].astype(np.float32) if slots else ()
        return dict(zip(slots, vectors, strict=True))

    def search(self, vector: Vector, limit: int, doc_ids: Sequence[int] | None = None) -> list[IndexHit]:
        """Return the nearest rows with their Euclidean distance, nearest first, ties by id."""
        with self._gate.reading():
            rows = len(self._slots)
            allowed, options = rows, None
            if doc_ids is not None:
                mask = np.isin(self._doc_ids[:rows], np.asarray(doc_ids, dtype=np.int64))
                allowed = int(mask.sum())
                bits = np.packbits(mask, bitorder="little")
                options = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bits))
            if not allowed or limit < 1:
                return []
            # The number of threads is kept per calling thread; a team of them costs more than one question gains.
            self._faiss.omp_set_num_threads(1)
            query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, self._dimension)
            wanted = min(limit + TIE_MARGIN, allowed)
            while True:
                squares, slots = (found[0] for found in self._index.search(query, wanted, params=options))
                if wanted == allowed or squares[limit - 1] < squares[-1]:
                    break
                wanted = min(4 * wanted, allowed)
            ids = self._ids[slots]
        return nearest(ids, squares, limit)

    def _append(self, ids: list[int], doc_ids: list[int], vectors: Halves) -> None:
        start, end = len(self._slots), len(self._slots) + len(ids)
        if end > len(self._ids):
            room = max(end, 2 * len(self._ids), 1024)
            self._ids, self._doc_ids = _grown(self._ids, room), _grown(self._doc_ids, room)
        self._ids[start:end] = ids
        self._doc_ids[start:end] = doc_ids
        self._index.add_sa_codes(np.ascontiguousarray(vectors).view(np.uint8))
        self._slots.update(zip(ids, range(start, end), strict=True))

    def _fill(self, slot: int) -> None:
        """Move the last row into the hole and shrink by one."""
        last = int(self._index.ntotal) - 1
        if slot != last:
            codes = self._codes()
            codes[slot] = codes[last]
            self._ids[slot], self._doc_ids[slot] = self._ids[last], self._doc_ids[last]
            self._slots[int(self._ids[slot])] = slot
        self._index.codes.resize(last * self._index.code_size)
        self._index.ntotal = last

    def _codes(self) -> Halves:
        codes = self._index.codes
        halves: Halves = self._faiss.rev_swig_ptr(codes.data(), codes.size()).view(np.float16)
        return halves.reshape(-1, self._dimension)


def _grown(values: Ids, room: int) -> Ids:
    grown = np.zeros(room, dtype=np.int64)
    grown[: len(values)] = values
    return grown
