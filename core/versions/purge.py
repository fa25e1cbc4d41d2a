"""The second half of a purge: what the catalogue no longer shows is removed from everywhere else.

The tombstone is committed first and hides the text from every question. Everything here can be repeated: a version
counts as pending until its last trace is gone, and what a killed process left is gone on with at the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.errors import EvoRAGError, StoreUnavailable
from core.ingest.holds import Holds
from core.ports import BlobStore, KeywordIndex, VectorIndex
from core.projection import Projector

if TYPE_CHECKING:
    from core.catalog import Catalog, Tombstone

log = logging.getLogger(__name__)

Forget = Callable[[Collection[int]], None]
"""Removes what was derived from versions, given by their ids."""


class Purge:
    """Removes blobs, rows of the stores, what questions quoted, and the traces of all these on the disk."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        holds: Holds,
        projector: Projector,
        stores: Sequence[VectorIndex | KeywordIndex],
        forget: Forget,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._holds = holds
        self._projector = projector
        self._stores = stores
        self._forget = forget
        self._one = threading.Lock()
        self._thread: threading.Thread | None = None

    def finish(self) -> None:
        """Remove what is pending; what cannot be removed now stays pending."""
        with self._one:
            pending = self._catalog.purges.pending()
            if not pending:
                return
            try:
                self._remove(pending)
            except EvoRAGError as error:
                log.warning("a purge is not finished and is gone on with later: %s", error.code)

    def finish_soon(self) -> None:
        """Remove what is pending in the background: an index that has to be written anew takes its time."""
        if self._catalog.purges.pending():
            self._thread = threading.Thread(target=self._run, name="evorag-purge", daemon=True)
            self._thread.start()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _run(self) -> None:
        try:
            self.finish()
        except Exception:
            log.exception("a purge is not finished and is gone on with later")

    def _remove(self, pending: Sequence[Tombstone]) -> None:
        self._projector.flush()
        self._forget([tombstone.version_id for tombstone in pending])
        self._catalog.questions.redact({(tombstone.doc_key, tombstone.number) for tombstone in pending})
        held = {blob for tombstone in pending for blob in tombstone.blobs if not self._remove_blob(blob)}
        self._expunge(pending)
        if not self._catalog.database.truncate_log():
            log.warning("a purge is not finished: a long reading transaction keeps the catalogue's log")
            return
        for tombstone in pending:
            if held.isdisjoint(tombstone.blobs):
                self._catalog.purges.finished(tombstone.version_id)

    def _expunge(self, pending: Sequence[Tombstone]) -> None:
        """Have the stores drop the files in which deleted rows are left, writing their other rows anew if need be."""
        from core.catalog import STORES

        lost = self._catalog.purges.lost_chunks(pending)
        for name, store in zip(STORES, self._stores, strict=True):
            if not store.expunge(lost):
                self._catalog.outbox.add_everything(name)
                self._projector.flush()
                if not store.expunge(self._catalog.purges.lost_chunks(pending)):
                    raise StoreUnavailable("A store keeps deleted rows.")

    def _remove_blob(self, sha256: str) -> bool:
        """Remove a blob that no kept version names; tell whether nobody holds it."""
        return self._holds.unless_held(sha256, partial(self._remove_unnamed, sha256))

    def _remove_unnamed(self, sha256: str) -> None:
        if not self._catalog.purges.is_named(sha256):
            self._blobs.delete(sha256)
