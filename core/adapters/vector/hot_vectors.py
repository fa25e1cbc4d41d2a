"""A vector index whose head part is also held in memory and searched there: exactly, and by bits where it is large.

Writes go to the inner index first, so that what it acknowledged is durable, then to memory. Searches of the history
part, and all searches until ``load`` has ended or when the head part has outgrown the limit, go to the inner index.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from core.adapters.vector.arrays import Halves
from core.adapters.vector.flat_vectors import FlatVectors
from core.adapters.vector.growing_vectors import GrowingVectors
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorIndex, VectorRow

ENGINE = FlatVectors.engine
LOAD_BATCH = 4096

_BESIDE = 256
"""Bytes for the bits and ids of a chunk, beside its vector."""

log = logging.getLogger(__name__)


class HotVectors:
    """Decorates a ``VectorIndex``; ``load`` has to be called once before memory answers.

    In ``folder`` is the file of vectors of a large head part; without one all stay in memory. Where its disk fails,
    the inner index answers from then on.
    """

    def __init__(self, inner: VectorIndex, dimension: int, limit: int = 300_000, folder: Path | None = None) -> None:
        self._inner = inner
        self._limit = limit
        self._memory: GrowingVectors | None = GrowingVectors(dimension, folder)
        self._writes = threading.RLock()
        self._loaded = False
        self._is_whole = False
        """Whether memory was loaded and not cleared since."""
        self._written: set[int] = set()
        self.engine = inner.engine

    @staticmethod
    def room(dimension: int) -> int:
        """Return the bytes of memory that a machine has to have for each head chunk, of which it takes a quarter."""
        return 4 * (2 * dimension + _BESIDE)

    def load(self, rows: Iterable[HeadVector]) -> None:
        """Take the head part into memory; what was written meanwhile wins."""
        remaining = iter(rows)
        while batch := list(islice(remaining, LOAD_BATCH)):
            vectors = np.stack([np.asarray(vector, dtype=np.float16) for _, _, vector in batch])
            with self._writes:
                if self._loaded or self._memory is None:
                    return
                kept = [row for row, (chunk_id, _, _) in enumerate(batch) if chunk_id not in self._written]
                self._put([batch[row][0] for row in kept], [batch[row][1] for row in kept], vectors[kept])
        with self._writes:
            self._finish_loading()
            self._is_whole = True

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return self._is_whole and self._answering(parts) is not None

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what would answer a search of these parts now."""
        memory = self._answering(parts)
        return self._inner.engine_for(parts) if memory is None else memory.engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        memory = self._memory
        try:
            return {} if memory is None else memory.held(chunk_ids)
        except OSError as error:
            self._give_up(error)
            return {}

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._writes:
            self._inner.upsert(rows)
            last = {row.chunk_id: row for row in rows}
            self._note(last)
            head = [row for row in last.values() if row.part is Part.HEAD]
            self._remove([chunk_id for chunk_id, row in last.items() if row.part is not Part.HEAD])
            if head:
                vectors = np.stack([row.vector for row in head]).astype(np.float16)
                self._put([row.chunk_id for row in head], [row.doc_id for row in head], vectors)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._writes:
            self._inner.delete(chunk_ids)
            self._note(chunk_ids)
            self._remove(chunk_ids)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        memory = self._answering(parts)
        if memory is not None:
            try:
                return memory.search(vector, limit, doc_ids)
            except OSError as error:
                self._give_up(error)
        return self._inner.search(vector, limit, parts, doc_ids)

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
            self._let_go()
            self._inner.close()

    def _put(self, ids: Sequence[int], doc_ids: Sequence[int], vectors: Halves) -> None:
        if self._memory is None:
            return
        try:
            self._memory.put(ids, doc_ids, vectors)
        except OSError as error:
            self._give_up(error)
        if self._memory is not None and len(self._memory) > self._limit:
            self._let_go()
        elif self._memory is not None and self._loaded:
            self.engine = self._memory.engine

    def _remove(self, ids: Sequence[int]) -> None:
        if self._memory is not None:
            try:
                self._memory.remove(ids)
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        with self._writes:
            if self._memory is not None:
                log.warning("vectors in memory: %s, so the vector store answers alone", type(error).__name__)
                self._let_go()

    def _let_go(self) -> None:
        # Searches that have begun go on with what they hold.
        self._memory = None
        self.engine = self._inner.engine

    def _answering(self, parts: Sequence[Part]) -> GrowingVectors | None:
        return self._memory if self._loaded and set(parts) == {Part.HEAD} else None

    def _note(self, chunk_ids: Iterable[int]) -> None:
        if not self._loaded:
            self._written.update(chunk_ids)

    def _finish_loading(self) -> None:
        if self._memory is not None:
            self._loaded = True
            self._written = set()
            self.engine = self._memory.engine
