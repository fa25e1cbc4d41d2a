"""A vector index that is opened when it is first needed, so that the pages are there before the store is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from core.errors import StoreUnavailable
from core.model import IndexHit, Part
from core.ports import Vector, VectorIndex, VectorRow


class DeferredVectorIndex:
    """Opens the index with ``opening`` at the first call that needs it, and again at the next one where that failed."""

    def __init__(self, opening: Callable[[], VectorIndex], engine: str) -> None:
        self.engine = engine
        self._opening = opening
        self._opened: VectorIndex | None = None
        self._lock = threading.Lock()
        self._closed = False

    def open(self) -> VectorIndex:
        """Return the index, opening it where that has not been done. Raises: ``StoreUnavailable``."""
        with self._lock:
            if self._closed:
                raise StoreUnavailable("The vector store is closed.")
            if self._opened is None:
                self._opened = self._opening()
                self.engine = self._opened.engine
            return self._opened

    def engine_for(self, parts: Sequence[Part]) -> str:
        return self.engine

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        self.open().upsert(rows)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        self.open().delete(chunk_ids)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        return self.open().search(vector, limit, parts, doc_ids)

    def count(self) -> Mapping[Part, int]:
        return self.open().count()

    def ids(self) -> Iterator[tuple[int, Part]]:
        return self.open().ids()

    def clear(self) -> None:
        self.open().clear()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        return self.open().expunge(chunk_ids)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._opened is not None:
                self._opened.close()
