"""A vector index in a dictionary, searched exactly with NumPy: for tests and for the test mode."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from core.errors import StoreUnavailable
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorRow

STORED_BATCH = 4096


class MemoryVectorIndex:
    """Keeps rows for the life of the object."""

    engine = "exact scan in memory (NumPy)"

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows: dict[int, tuple[VectorRow, Vector]] = {}
        self._lock = threading.Lock()
        self._closed = False

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Do nothing: all rows are in memory."""

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return False

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what answers a search of these parts."""
        return self.engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return {}

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._lock:
            self._require_open()
            for row in rows:
                vector = np.array(row.vector, dtype=np.float32).reshape(self._dimension)
                self._rows[row.chunk_id] = (row, vector)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._lock:
            self._require_open()
            for chunk_id in chunk_ids:
                self._rows.pop(chunk_id, None)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        wanted = None if doc_ids is None else set(doc_ids)
        with self._lock:
            self._require_open()
            found = [
                (chunk_id, stored)
                for chunk_id, (row, stored) in self._rows.items()
                if row.part in parts and (wanted is None or row.doc_id in wanted)
            ]
        if not found:
            return []
        ids = np.array([chunk_id for chunk_id, _ in found], dtype=np.int64)
        distances = np.linalg.norm(np.stack([stored for _, stored in found]) - vector, axis=1)
        order = np.lexsort((ids, distances.round(6)))[: max(0, limit)]
        return [IndexHit(int(ids[place]), float(distances[place])) for place in order]

    def count(self) -> Mapping[Part, int]:
        with self._lock:
            self._require_open()
            return {wanted: sum(row.part is wanted for row, _ in self._rows.values()) for wanted in Part}

    def ids(self) -> Iterator[tuple[int, Part]]:
        with self._lock:
            self._require_open()
            listed = [(chunk_id, row.part) for chunk_id, (row, _) in self._rows.items()]
        return iter(listed)

    def stored(self) -> Iterator[StoredRows]:
        with self._lock:
            self._require_open()
            rows = [row for row, _ in self._rows.values()]
        for start in range(0, len(rows), STORED_BATCH):
            few = rows[start : start + STORED_BATCH]
            yield StoredRows(
                np.array([row.chunk_id for row in few], dtype=np.int64),
                np.array([row.fingerprint for row in few], dtype=np.int64),
                np.array([row.part is Part.HEAD for row in few], dtype=np.bool_),
            )

    def clear(self) -> None:
        with self._lock:
            self._require_open()
            self._rows.clear()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Tell that nothing is left: what is in memory alone leaves no trace on the disk."""
        return True

    def close(self) -> None:
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The vector index in memory is closed.")
