"""A vector index whose head part is also held in memory and searched there, exactly.

Writes go to the inner index first, so that what it acknowledged is durable, then to memory. Searches of the history
part, and all searches until ``load`` has ended or when the head part has outgrown the limit, go to the inner index.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from core.adapters.vector.flat_vectors import FlatVectors
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorIndex, VectorRow

ENGINE = "exact scan in memory (FAISS fp16)"
LOAD_BATCH = 4096


class HotVectors:
    """Decorates a ``VectorIndex``; ``load`` has to be called once before memory answers."""

    def __init__(self, inner: VectorIndex, dimension: int, limit: int = 300_000) -> None:
        self._inner = inner
        self._limit = limit
        self._memory: FlatVectors | None = FlatVectors(dimension)
        self._writes = threading.RLock()
        self._loaded = False
        self._is_whole = False
        """Whether memory was loaded and not cleared since."""
        self._written: set[int] = set()
        self.engine = inner.engine

    def load(self, rows: Iterable[HeadVector]) -> None:
        """Take the head part into memory; what was written meanwhile wins."""
        remaining = iter(rows)
        while batch := list(islice(remaining, LOAD_BATCH)):
            vectors = np.stack([np.asarray(vector, dtype=np.float16) for _, _, vector in batch])
            with self._writes:
                if self._loaded or self._memory is None:
                    return
                kept = [row for row, (chunk_id, _, _) in enumerate(batch) if chunk_id not in self._written]
                self._memory.put([batch[row][0] for row in kept], [batch[row][1] for row in kept], vectors[kept])
                self._stay_within_limit()
        with self._writes:
            self._finish_loading()
            self._is_whole = True

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return self._is_whole and self._answering(parts) is not None

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what would answer a search of these parts now."""
        return self._inner.engine_for(parts) if self._answering(parts) is None else ENGINE

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        memory = self._memory
        return {} if memory is None else memory.held(chunk_ids)

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._writes:
            self._inner.upsert(rows)
            last = {row.chunk_id: row for row in rows}
            self._note(last)
            if self._memory is not None:
                head = [row for row in last.values() if row.part is Part.HEAD]
                self._memory.remove([chunk_id for chunk_id, row in last.items() if row.part is not Part.HEAD])
                if head:
                    vectors = np.stack([row.vector for row in head]).astype(np.float16)
                    self._memory.put([row.chunk_id for row in head], [row.doc_id for row in head], vectors)
                    self._stay_within_limit()

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._writes:
            self._inner.delete(chunk_ids)
            self._note(chunk_ids)
            if self._memory is not None:
                self._memory.remove(chunk_ids)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        memory = self._answering(parts)
        if memory is None:
            return self._inner.search(vector, limit, parts, doc_ids)
        return memory.search(vector, limit, doc_ids)

    def count(self) -> Mapping[Part, int]:
        return self._inner.count()

    def ids(self) -> Iterator[tuple[int, Part]]:
        return self._inner.ids()

    def stored(self) -> Iterator[StoredRows]:
        return self._inner.stored()

    def clear(self) -> None:
        with self._writes:
            self._inner.clear()
            if self._memory is not None:
                self._memory.clear()
                self._is_whole = False
                self._finish_loading()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        with self._writes:
            return self._inner.expunge(chunk_ids)

    def close(self) -> None:
        with self._writes:
            self._memory = None
            self.engine = self._inner.engine
            self._inner.close()

    def _answering(self, parts: Sequence[Part]) -> FlatVectors | None:
        return self._memory if self._loaded and set(parts) == {Part.HEAD} else None

    def _note(self, chunk_ids: Iterable[int]) -> None:
        if not self._loaded:
            self._written.update(chunk_ids)

    def _finish_loading(self) -> None:
        if self._memory is not None:
            self._loaded = True
            self._written = set()
            self.engine = ENGINE

    def _stay_within_limit(self) -> None:
        if self._memory is not None and len(self._memory) > self._limit:
            self._memory = None
            self.engine = self._inner.engine
