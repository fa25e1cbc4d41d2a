"""Projection: brings both indexes to what the catalogue's outbox asks, in order, and keeps trying while one is down."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from core.errors import EvoRAGError, StoreUnavailable
from core.ports import KeywordIndex, VectorIndex

if TYPE_CHECKING:
    from core.catalog import Batch, Catalog

log = logging.getLogger(__name__)

_BATCH = 1000
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


class Projector:
    """Drains the outbox into the stores; every write may be repeated, so a crash between the two is harmless."""

    def __init__(self, catalog: Catalog, vectors: VectorIndex, keywords: KeywordIndex, model: str) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._keywords = keywords
        self._model = model
        self._locks = {"vector": threading.Lock(), "keyword": threading.Lock()}
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.errors: dict[str, EvoRAGError] = {}

    def flush(self) -> None:
        """Apply everything that waits. Raises: ``StoreUnavailable``; what was not applied goes on waiting."""
        first: StoreUnavailable | None = None
        for store in self._locks:
            try:
                self._drain(store)
                self.errors.pop(store, None)
            except StoreUnavailable as error:
                self.errors[store] = error
                first = first or error
        if first is not None:
            raise first

    def flush_soon(self) -> None:
        """Apply what waits in the background."""
        self._wake.set()

    def _drain(self, store: str) -> None:
        with self._locks[store]:
            while batch := self._catalog.outbox.next_batch(store, _BATCH):
                self._apply(store, batch)
                self._catalog.outbox.done(batch)

    def _apply(self, store: str, batch: Batch) -> None:
        parts = {chunk: part for chunk, part in batch.wanted.items() if part is not None}
        gone = [chunk for chunk, part in batch.wanted.items() if part is None]
        if store == "vector":
            if gone:
                self._vectors.delete(gone)
            if parts:
                self._vectors.upsert(self._catalog.chunks.vector_rows(parts, self._model))
        else:
            if gone:
                self._keywords.delete(gone)
            if parts:
                self._keywords.upsert(self._catalog.chunks.keyword_rows(parts))

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="evorag-projector", daemon=True)
        self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        wait = _FIRST_WAIT_S
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self.flush()
                wait = _FIRST_WAIT_S
            except StoreUnavailable as error:
                log.warning("a store does not answer, trying again in %.0f s: %s", wait, error.code)
                self._stop.wait(wait)
                wait = min(wait * 2, _LONGEST_WAIT_S)
                self._wake.set()
            except Exception:
                log.exception("the outbox could not be applied, trying again in %.0f s", _LONGEST_WAIT_S)
                self._stop.wait(_LONGEST_WAIT_S)
                self._wake.set()

    def close(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=30)
