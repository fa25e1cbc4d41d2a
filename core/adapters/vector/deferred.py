"""A vector index that is open while it is needed, so that the pages are there before the store is, and memory is free.

It is opened at the first call that needs it, and again after it was put to rest: its rows take some ten kilobytes of
memory each as long as it is open.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

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
        """Held while the index is opened, however long that takes, or goes to rest."""
        self._state = threading.Lock()
        self._closed = False
        self._users = 0
        self._counted: Mapping[Part, int] | None = None
        """How many rows it had when it went to rest: nobody else writes it."""

    def open(self) -> VectorIndex:
        """Return the index, opening it where that has not been done. Raises: ``StoreUnavailable``."""
        found = self._found()
        if found is None:
            with self._opens:
                found = self._found()
                if found is None:
                    found = self._keep(self._opening())
        return found

    @contextmanager
    def _using(self) -> Iterator[VectorIndex]:
        with self._state:
            self._users += 1
        try:
            yield self.open()
        finally:
            with self._state:
                self._users -= 1

    def _found(self) -> VectorIndex | None:
        with self._state:
            if self._closed:
                raise StoreUnavailable("The vector store is closed.")
            return self._opened

    def _keep(self, opened: VectorIndex) -> VectorIndex:
        with self._state:
            if not self._closed:
                self._opened, self._counted, self.engine = opened, None, opened.engine
                return opened
        opened.close()
        raise StoreUnavailable("The vector store is closed.")

    def rest(self) -> bool:
        """Close the index where nobody is using it, until it is needed again; tell whether it is closed."""
        if self._opened is not None:
            # What has been counted once is counted again in no time, and nobody waits for the first.
            with suppress(StoreUnavailable), self._using() as index:
                index.count()
        with self._opens:
            with self._state:
                resting = None if self._users else self._opened
            if resting is not None and (counted := _counted(resting)) is not None:
                with self._state:
                    # Who has come meanwhile waits for the index, or has it.
                    resting = None if self._users else resting
                    if resting is not None:
                        self._opened, self._counted = None, counted
                if resting is not None:
                    resting.close()
        return self._opened is None

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Do nothing: what is opened later searches its store."""

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return False

    def engine_for(self, parts: Sequence[Part]) -> str:
        return self.engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return {}

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._using() as index:
            index.upsert(rows)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._using() as index:
            index.delete(chunk_ids)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        with self._using() as index:
            return index.search(vector, limit, parts, doc_ids)

    def count(self) -> Mapping[Part, int]:
        with self._state:
            if self._counted is not None and not self._closed:
                return self._counted
        with self._using() as index:
            return index.count()

    def ids(self) -> Iterator[tuple[int, Part]]:
        with self._using() as index:
            yield from index.ids()

    def stored(self) -> Iterator[StoredRows]:
        with self._using() as index:
            yield from index.stored()

    def clear(self) -> None:
        with self._using() as index:
            index.clear()

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        with self._using() as index:
            return index.expunge(chunk_ids)

    def close(self) -> None:
        """Close the index; one that is just being opened is closed by whoever opens it, and not waited for."""
        with self._state:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()


def _counted(index: VectorIndex) -> Mapping[Part, int] | None:
    try:
        return index.count()
    except StoreUnavailable:
        return None
