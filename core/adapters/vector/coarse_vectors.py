"""Many vectors in memory as one bit a number, scanned by FAISS; the nearest are measured exactly.

The bits are RaBitQ's (Gao and Long, 2024), 56 bytes for 384 numbers. The vectors themselves are 16-bit floats in a file
that has no name; the few hundred rows that the scan puts first are read from it, so distances are those of an exact
scan, and a neighbour is missing only where the scan puts it behind all of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.adapters.vector.arrays import NO_ID, Halves, Ids, nearest
from core.adapters.vector.gate import Gate
from core.adapters.vector.slot_table import SlotTable
from core.adapters.vector.vector_file import VectorFile
from core.model import IndexHit
from core.ports import Vector

Mask = npt.NDArray[np.bool_]

MEASURED_PER_HIT, LEAST_MEASURED = 16, 512
"""Rows that are measured for a search. Of 13,700 vectors of questions 512 held .9997 of the true ten neighbours and
.993 of the true fifty, 1,024 all and .999; two bits a number need a fourth of the rows and three times as long."""
ROWS_A_MEASURED = 600
"""The more rows there are, the more stand before a true neighbour: of a million drawn ones 800 measured held .938 of
the true ten neighbours of 200 questions, 1,600 .9945."""
MOST_SCANNED = 16_384
"""Rows that a scan is asked for at most; a filter that leaves fewer among them has all of its rows measured."""
BLOCK = 8_192
LEAST_DEAD = 8_192
"""Rows without an id that are left in the scan at least, and a tenth of all, before it is written anew."""
_SEED = 20_240_521


class CoarseVectors:
    """Rows of (chunk id, document id, vector); searches run beside each other, writes alone.

    ``sample`` is ``(n, dimension)`` float16, what the first rows are like. Every method raises ``OSError`` where the
    disk of ``folder`` does.
    """

    engine = "1-bit scan in memory, the nearest measured in 16 bits (FAISS RaBitQ)"

    def __init__(self, dimension: int, folder: Path, sample: Halves) -> None:
        import faiss

        self._faiss: Any = faiss
        self._dimension = dimension
        self._turning: Any = faiss.RandomRotationMatrix(dimension, dimension)
        self._turning.init(_SEED)
        self._index: Any = faiss.IndexRaBitQFastScan(dimension, faiss.METRIC_L2)
        self._index.train(self._turned(sample))
        self._file = VectorFile(folder, dimension)
        self._rows_of_file = 0
        self._free: list[int] = []
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._doc_ids: Ids = np.empty(0, dtype=np.int64)
        self._rows: Ids = np.empty(0, dtype=np.int64)
        self._slots = SlotTable()
        self._used = self._live = 0
        self._gate = Gate()

    def __len__(self) -> int:
        return self._live

    def put(self, ids: Sequence[int], doc_ids: Sequence[int], vectors: Halves) -> None:
        """Add the rows, each in the place of the one with the same id; ``vectors`` is ``(n, dimension)`` float16."""
        last = list({chunk_id: row for row, chunk_id in enumerate(ids)}.values())
        if not last:
            return
        with self._gate.writing():
            self._forget([ids[row] for row in last])
            rows = self._taken(len(last))
            self._file.write(rows, vectors[last])
            start, end = self._used, self._used + len(last)
            self._make_room(end)
            self._ids[start:end] = [ids[row] for row in last]
            self._doc_ids[start:end] = [doc_ids[row] for row in last]
            self._rows[start:end] = rows
            self._index.add(self._turned(vectors[last]))
            self._slots.put(self._ids[start:end].tolist(), start)
            self._used, self._live = end, self._live + len(last)
            self._tidy()

    def remove(self, ids: Sequence[int]) -> None:
        """Forget the rows; unknown ids are ignored."""
        with self._gate.writing():
            self._forget(ids)
            self._tidy()

    def held(self, ids: Sequence[int]) -> Mapping[int, Vector]:
        """Return the vectors of those of the rows that are there."""
        with self._gate.reading():
            slots = self._found(ids)
            vectors = self._file.read(self._rows[slots])
            return dict(zip(self._ids[slots].tolist(), vectors, strict=True))

    def search(self, vector: Vector, limit: int, doc_ids: Sequence[int] | None = None) -> list[IndexHit]:
        """Return the nearest rows with their Euclidean distance, nearest first, ties by id."""
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(self._dimension)
        with self._gate.reading():
            allowed = self._allowed(doc_ids)
            count = self._live if doc_ids is None else int(np.count_nonzero(allowed))
            if not count or limit < 1:
                return []
            wanted = max(LEAST_MEASURED, MEASURED_PER_HIT * limit, self._live // ROWS_A_MEASURED)
            while True:
                slots = self._nearest(query, wanted, allowed, count)
                squares, ids = self._measured(query, slots), self._ids[slots]
                # Equal distances at the edge of what was measured: the one with the least id may be beyond it.
                if len(slots) == count or np.partition(squares, limit - 1)[limit - 1] < squares.max():
                    break
                wanted *= 4
        return nearest(ids, squares, limit)

    def _allowed(self, doc_ids: Sequence[int] | None) -> Mask:
        allowed: Mask = self._ids[: self._used] != NO_ID
        if doc_ids is not None:
            allowed &= np.isin(self._doc_ids[: self._used], np.asarray(doc_ids, dtype=np.int64))
        return allowed

    def _nearest(self, query: Vector, wanted: int, allowed: Mask, count: int) -> Ids:
        """Return the slots of at least ``wanted`` allowed rows that the scan puts first, or of all there are."""
        if wanted < count:
            # The number of threads is kept per calling thread; a team of them costs more than one question gains.
            self._faiss.omp_set_num_threads(1)
            turned = self._turned(query[None])
            scanned = wanted * self._used // count
            while scanned <= min(MOST_SCANNED, self._used):
                slots = self._index.search(turned, scanned)[1][0]
                slots = slots[slots >= 0]
                slots = slots[allowed[slots]]
                if len(slots) >= wanted:
                    return np.asarray(slots[:wanted], dtype=np.int64)
                scanned = 4 * scanned
        return np.flatnonzero(allowed)

    def _measured(self, query: Vector, slots: Ids) -> npt.NDArray[np.float32]:
        """Return the square of the distance of each slot's vector."""
        squares = np.empty(len(slots), dtype=np.float32)
        for start in range(0, len(slots), BLOCK):
            away = self._file.read(self._rows[slots[start : start + BLOCK]]) - query
            squares[start : start + BLOCK] = np.einsum("ij,ij->i", away, away)
        return squares

    def _turned(self, vectors: npt.NDArray[Any]) -> Vector:
        turned: Vector = self._turning.apply(np.ascontiguousarray(vectors, dtype=np.float32))
        return turned

    def _found(self, ids: Sequence[int]) -> Ids:
        slots = self._slots.find(ids).astype(np.int64)
        slots = slots[slots >= 0]
        # A row that was forgotten keeps its slot, without an id, until the scan is written anew.
        known: Ids = slots[self._ids[slots] != NO_ID]
        return known

    def _forget(self, ids: Sequence[int]) -> None:
        slots = np.unique(self._found(ids))
        if len(slots):
            rows = self._rows[slots]
            self._ids[slots] = NO_ID
            self._live -= len(slots)
            self._file.wipe(rows)
            self._free += rows.tolist()

    def _taken(self, count: int) -> Ids:
        """Return rows of the file that are free, sorted."""
        kept = max(0, len(self._free) - count)
        reused, self._free = self._free[kept:], self._free[:kept]
        first, self._rows_of_file = self._rows_of_file, self._rows_of_file + count - len(reused)
        return np.array([*sorted(reused), *range(first, self._rows_of_file)], dtype=np.int64)

    def _make_room(self, count: int) -> None:
        if count > len(self._ids):
            room = max(count, len(self._ids) * 5 // 4, 1024)
            self._ids, self._doc_ids, self._rows = (
                np.concatenate([values, np.full(room - len(values), NO_ID, dtype=np.int64)])
                for values in (self._ids, self._doc_ids, self._rows)
            )

    def _tidy(self) -> None:
        """Take rows without an id out of the scan, where they have become many."""
        dead = self._used - self._live
        if dead <= max(LEAST_DEAD, self._used // 10):
            return
        alive = self._ids[: self._used] != NO_ID
        bits = np.packbits(~alive, bitorder="little")
        self._index.remove_ids(self._faiss.IDSelectorBitmap(bits))
        for values in (self._ids, self._doc_ids, self._rows):
            values[: self._live] = values[: self._used][alive]
        self._used = self._live
        self._slots.renew(self._ids[: self._used].copy())
