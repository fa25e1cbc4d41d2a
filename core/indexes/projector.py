"""Projection: brings the indexes to what the catalogue's outbox asks, in order, and keeps trying while one is down.

One process at a time drains a store, and looks first whether it is empty: then it is asked for everything. What a
generation lacks to write a vector, it embeds then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from core.catalog.documents.embeddings import LOOK_AGAIN_S, PATIENCE_S
from core.catalog.outbox import KEYWORD, STORES, VECTOR, place_of, stores_beside
from core.errors import EvoRAGError, IndexLost, ModelUnavailable, StoreUnavailable, WrongIndex
from core.indexes.active import ActiveIndex, IndexHandle
from core.platform.failpoints import failpoint
from core.ports import VectorRow

if TYPE_CHECKING:
    from core.catalog import Batch, Catalog
    from core.model import Part

log = logging.getLogger(__name__)

_BATCH = {VECTOR: 1000, KEYWORD: 4000}
"""Rows that a store gets at once; each commit of the keyword index begins a segment that is merged later."""
_BATCH_EMBEDDED = 128
"""Rows that a generation beside the serving one gets at once, which have to be embedded first."""
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


class Projector:
    """Drains the outbox into the stores; every write may be repeated, so a crash between the two is harmless."""

    def __init__(
        self,
        catalog: Catalog,
        active: ActiveIndex,
        has_written: threading.Event | None = None,
        before_keywords: Callable[[], None] | None = None,
    ) -> None:
        """Drain the outbox into the stores of ``active``.

        ``has_written`` is set when stores that serve have got rows, which may have been handed on. ``before_keywords``
        is called before rows of words are written: another process may have begun to analyse otherwise.
        """
        self._catalog = catalog
        self._active = active
        self._has_written = has_written
        self._before_keywords = before_keywords
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lost: set[tuple[str, int]] = set()
        """Kinds and generations of the stores that are damaged, and are emptied and filled again."""
        self._known: set[tuple[str, int]] = set()
        """Kinds and generations of the stores that have what they have not been told of, as far as is known."""
        self.errors: dict[str, EvoRAGError] = {}

    def flush(self) -> None:
        """Apply everything that waits to be served. Raises: ``StoreUnavailable``; what was not applied waits on."""
        self._flush(STORES)

    def flush_keywords(self) -> None:
        """Apply what waits for the keyword index. Raises: ``StoreUnavailable``, as ``flush`` does."""
        self._flush((KEYWORD,))

    def flush_store(self, store: str, *, afresh: bool = False) -> None:
        """Apply what waits for one of the stores that serve; ``afresh`` looks again first whether it lost its rows.

        Raises: ``StoreUnavailable``, as ``flush`` does.
        """
        if afresh:
            self._known.clear()
        self._flush((store,))

    def flush_generation(self, number: int, stop: threading.Event | None = None) -> bool:
        """Apply what waits for a generation that does not serve; tell whether that was done before ``stop`` was set.

        Raises: ``StoreUnavailable``, as ``flush`` does.
        """
        return self._flush(stores_beside(number), stop)

    def flush_all(self) -> None:
        """Apply what waits to be served, and the deletes that wait for any other generation: these need no model.

        What is written there later is read from the catalogue then. Raises: ``StoreUnavailable``, as ``flush`` does.
        """
        self._flush(STORES)
        for number in self._catalog.generations.states().keys() - {self._active.follow().number}:
            for store in stores_beside(number):
                self._delete(store)

    def _delete(self, store: str) -> None:
        kind, _ = place_of(store)
        with self._catalog.database.exclusive(f"outbox:{store}"):
            while batch := self._catalog.outbox.next_batch(store, _BATCH[kind], gone=True):
                to = self._active.resolve_store(store)
                self._apply(to, kind, batch)
                self._catalog.outbox.done(batch, to.number)

    def _flush(self, stores: Iterable[str], stop: threading.Event | None = None, *, looks: bool = True) -> bool:
        """Drain every store that can be, then raise the first error; tell whether that was done before ``stop``."""
        first: Exception | None = None
        is_done = True
        for store in stores:
            try:
                is_done = self._drain(store, stop, looks) and is_done
                self.errors.pop(store, None)
            except Exception as error:
                told = EvoRAGError(f"The {store} store failed ({type(error).__name__}).")
                self.errors[store] = error if isinstance(error, EvoRAGError) else told
                first = first or error
        if first is not None:
            raise first
        return is_done

    def lost(self, kind: str) -> None:
        """Have a store that serves emptied and filled again in the background: a question found it damaged."""
        self._mark_lost(kind, self._active.now().number)
        self._wake.set()

    def flush_soon(self) -> None:
        """Apply what waits to be served in the background."""
        self._wake.set()

    def _drain(self, store: str, stop: threading.Event | None, looks: bool) -> bool:
        """Tell a store what waits for it. Without ``looks`` a store is left alone that nothing waits for."""
        kind, number = place_of(store)
        limit = _BATCH_EMBEDDED if kind == VECTOR and number is not None else _BATCH[kind]
        has_written, is_done = False, True
        with self._catalog.database.exclusive(f"outbox:{store}"):
            if not looks and self._catalog.outbox.next_batch(store, 1) is None:
                return True
            to = self._active.resolve_store(store)
            try:
                self._rebuild_if_empty(store, kind, to)
                while batch := self._catalog.outbox.next_batch(store, limit):
                    if stop is not None and stop.is_set():
                        is_done = False
                        break
                    failpoint("index.batch.read")
                    if kind == KEYWORD and self._before_keywords is not None:
                        self._before_keywords()
                    to = self._active.resolve_store(store)
                    self._apply(to, kind, batch)
                    failpoint("index.batch.applied")
                    self._catalog.outbox.done(batch, to.number)
                    failpoint("index.batch.done")
                    has_written = True
            except IndexLost:
                self._mark_lost(kind, to.number)
                raise
        if has_written and number is None and self._has_written is not None:
            self._has_written.set()
        return is_done

    def _rebuild_if_empty(self, store: str, kind: str, to: IndexHandle) -> None:
        """Ask a store that turns out to be empty for everything, before any row makes it look as if it had them."""
        if (kind, to.number) in self._known:
            return
        is_wrong = (kind, to.number) in self._lost
        try:
            # However long a store takes for its first rows: a count ends after the time that a question has.
            rows = None if is_wrong else next((to.vectors if kind == VECTOR else to.keywords).stored(), None)
        except IndexLost:
            rows, is_wrong = None, True
        except WrongIndex:
            if kind == VECTOR:
                raise
            rows, is_wrong = None, True
        if is_wrong or rows is None or not len(rows.ids):
            self._catalog.outbox.refill(store, to.number)
        if is_wrong:
            log.warning("the %s store is not what it was, and is built anew", store)
            (to.vectors if kind == VECTOR else to.keywords).clear()
        self._lost.discard((kind, to.number))
        self._known.add((kind, to.number))

    def _mark_lost(self, kind: str, number: int) -> None:
        self._lost.add((kind, number))
        self._known.discard((kind, number))

    def _apply(self, to: IndexHandle, kind: str, batch: Batch) -> None:
        parts = {chunk: part for chunk, part in batch.wanted.items() if part is not None}
        gone = [chunk for chunk, part in batch.wanted.items() if part is None]
        if kind == VECTOR:
            if gone:
                to.vectors.delete(gone)
            if parts:
                to.vectors.upsert(self._vector_rows(to, parts))
        else:
            if gone:
                to.keywords.delete(gone)
            if parts:
                to.keywords.upsert(self._catalog.chunks.keyword_rows(parts))

    def _vector_rows(self, to: IndexHandle, parts: dict[int, Part]) -> list[VectorRow]:
        model = to.model.id
        rows = self._catalog.chunks.vector_rows(parts, model)
        missing = parts.keys() - {row.chunk_id for row in rows}
        if not missing:
            return rows
        if not self._embed(to, missing):
            return rows
        return rows + self._catalog.chunks.vector_rows({chunk: parts[chunk] for chunk in missing}, model)

    def _embed(self, to: IndexHandle, chunk_ids: Collection[int]) -> bool:
        """Give chunks the vectors that the model of a generation lacks; tell whether there were any.

        What others embed at this moment is waited for, so that it is not embedded twice.
        """
        model = to.model.id
        texts = self._catalog.generations.lacking(chunk_ids, model)
        was_lacking, waits_until = bool(texts), time.monotonic() + PATIENCE_S
        while texts:
            with self._catalog.embeddings.claimed(model, list(texts)) as free:
                own = texts.keys() if time.monotonic() >= waits_until else free
                # Somebody may have kept some between their being read and claimed.
                known = self._catalog.embeddings.embedded(model, list(texts))
                own = own - known
                if own:
                    self._keep(to, {digest: texts[digest] for digest in own})
            if own | known >= texts.keys():
                break
            time.sleep(LOOK_AGAIN_S)
            texts = self._catalog.generations.lacking(chunk_ids, model)
        return was_lacking

    def _keep(self, to: IndexHandle, texts: dict[bytes, str]) -> None:
        try:
            vectors = to.embedder.embed_passages(list(texts.values()))
        except ModelUnavailable as error:
            raise StoreUnavailable(error.message, remedy=error.remedy) from error
        failpoint("generation.embedded")
        self._catalog.generations.keep(to.model.id, list(texts), vectors)

    def unknown(self) -> set[str]:
        """Return the stores that serve and have not been looked at yet: they may be empty, and not know it."""
        number = self._active.now().number
        return {store for store in STORES if (store, number) not in self._known}

    def start(self, after: Callable[[], None] = lambda: None) -> None:
        """Drain the outbox in a thread from now on, the first time once ``after`` has returned."""
        self._thread = threading.Thread(target=self._run, args=(after,), name="evorag-projector", daemon=True)
        self._thread.start()
        self._wake.set()

    def _run(self, after: Callable[[], None]) -> None:
        after()
        wait = _FIRST_WAIT_S
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self.flush()
                wait = _FIRST_WAIT_S
            except EvoRAGError as error:
                log.warning("a store cannot be used, trying again in %.0f s: %s", wait, error.code)
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
