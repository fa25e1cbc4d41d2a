"""A vector index that is opened when it is first needed, so that the pages are there before the store is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from core.errors import StoreUnavailable
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorIndex, VectorRow


class DeferredVectorIndex:
    """Opens the index with ``opening`` at the first call that needs it, and again at the next one where that failed."""

    def __init__(self, opening: Callable[[], VectorIndex], engine: str) -> None:
        self.engine = engine
        self._opening = opening
        self._opened: VectorIndex | None = None
        self._opens = threading.Lock()
        """Held while the index is opened, however long that takes."""
        self._state = threading.Lock()
        self._closed = False

    def open(self) -> VectorIndex:
        """Return the index, opening it where that has not been done. Raises: ``StoreUnavailable``."""
        found = self._found()
        if found is None:
            with self._opens:
                found = self._found()
                if found is None:
                    found = self._keep(self._opening())
        return found

    def _found(self) -> VectorIndex | None:
        with self._state:
            if self._closed:
                raise StoreUnavailable("The vector store is closed.")
            return self._opened

    def _keep(self, opened: VectorIndex) -> VectorIndex:
        with self._state:
            if not self._closed:
                self._opened, self.engine = opened, opened.engine
                return opened
        opened.close()
        raise StoreUnavailable("The vector store is closed.")

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Do nothing: what is opened later searches its store."""

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return False

    def engine_for(self, parts: Sequence[Part]) -> str:
        return self.engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return {}

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

    def stored(self) -> Iterator[StoredRows]:
        return self.open().stored()

    def clear(self) -> None:
        self.open().clear()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        return self.open().expunge(chunk_ids)

    def close(self) -> None:
        """Close the index; one that is just being opened is closed by whoever opens it, and not waited for."""
        with self._state:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()
