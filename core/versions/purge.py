"""The second half of a purge: what the catalogue no longer shows is removed from everywhere else.

The tombstone is committed first and hides the text from every question. Everything here can be repeated: a version
counts as pending until its last trace is gone; what could not be removed is tried again by itself, and what a killed
process left is gone on with at the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from core.blobs.pinned import PinnedBlobs
from core.blobs.removal import remove_unless_named
from core.catalog.outbox import place_of
from core.errors import EvoRAGError, IndexLost, StoreUnavailable
from core.indexes.active import Store
from core.indexes.projector import Projector
from core.platform.disk_room import DiskRoom

if TYPE_CHECKING:
    from core.catalog import Catalog, Tombstone

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_LOG_ATTEMPTS = 50
_LOG_PAUSE_S = 0.1

Forget = Callable[[Collection[int]], None]
"""Removes what was derived from versions, given by their ids."""
Redact = Callable[[AbstractSet[tuple[str, int]]], None]
"""Removes what was derived from versions, given by key and number."""


class Purge:
    """Removes blobs, rows of the stores, what questions quoted, and the traces of all these on the disk."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: PinnedBlobs,
        projector: Projector,
        stores: Callable[[], Sequence[tuple[str, Store]]],
        forget: Sequence[Forget],
        redact: Sequence[Redact],
        room: DiskRoom,
        *,
        in_background: bool,
    ) -> None:
        """Clear with ``forget`` and ``redact``, in this order, what was derived from versions outside the catalogue.

        It has the ``room`` that is kept for it. With ``in_background`` threads work here, and a purge does as well.
        """
        self._catalog = catalog
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._projector = projector
        self._stores = stores
        self._forget = tuple(forget)
        self._redact = tuple(redact)
        self._room = room
        self._in_background = in_background
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._seen: frozenset[int] = frozenset()

    def go_on(self) -> None:
        """Remove what is pending: soon where there are threads, else now."""
        if self._in_background:
            self.finish_soon()
        else:
            self.finish()

    def follow(self) -> None:
        """Go on with purges that another process has begun; what is tried already is left its pauses."""
        if self.has_news():
            self.go_on()

    def finish(self) -> bool:
        """Remove what is pending; tell whether nothing is left that is still pending."""
        with self._catalog.database.exclusive("purge"):
            pending = self._catalog.purges.pending()
            if not pending:
                return True
            try:
                return self._room.spend(lambda: self._remove(pending))
            except (EvoRAGError, OSError) as error:
                told = error.code if isinstance(error, EvoRAGError) else type(error).__name__
                log.warning("a purge is not finished and is gone on with later: %s", told)
                return False

    def finish_soon(self) -> None:
        """Remove what is pending in the background, again and again until it is done.

        An index that has to be written anew takes its time, and a store that is down comes back.
        """
        with self._starting:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="evorag-purge", daemon=True)
                self._thread.start()
        self._wake.set()

    def has_news(self) -> bool:
        """Tell whether something is pending that was not when this was asked last."""
        pending = frozenset(tombstone.version_id for tombstone in self._catalog.purges.pending())
        seen, self._seen = self._seen, pending
        return not pending <= seen

    def close(self) -> None:
        with self._starting:
            self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _run(self) -> None:
        pause: float | None = None
        while not self._stop.is_set():
            is_awoken = self._wake.wait(pause)
            if self._stop.is_set():
                return
            self._wake.clear()
            try:
                is_done = self.finish()
            except Exception:
                log.exception("a purge is not finished and is gone on with later")
                is_done = False
            if is_done:
                pause = None
            elif pause is None or not is_awoken:
                pause = _FIRST_PAUSE_S if pause is None else min(pause * 2, _LONGEST_PAUSE_S)

    def _remove(self, pending: Sequence[Tombstone]) -> bool:
        self._projector.flush_all()
        for forget in self._forget:
            forget([tombstone.version_id for tombstone in pending])
        purged = {(tombstone.doc_key, tombstone.number) for tombstone in pending}
        # Recordings go with the questions that they are of, so that these come first.
        for quoting in (self._catalog.questions, self._catalog.question_sets, self._catalog.evaluations):
            quoting.redact(purged)
        for redact in self._redact:
            redact(purged)
        self._catalog.purges.remove_embeddings()
        held = {blob for tombstone in pending for blob in tombstone.blobs if not self._remove_blob(blob)}
        self._expunge(pending)
        if not self._empty_log():
            return False
        done = [tombstone for tombstone in pending if held.isdisjoint(tombstone.blobs)]
        for tombstone in done:
            self._catalog.purges.finished(tombstone.version_id)
        return len(done) == len(pending)

    def _empty_log(self) -> bool:
        """Empty the catalogue's log once no transaction reads from it; tell whether that was soon enough."""
        for _ in range(_LOG_ATTEMPTS):
            if self._catalog.database.truncate_log():
                return True
            if self._stop.wait(_LOG_PAUSE_S):
                return False
        log.warning("a purge is not finished: a long reading transaction keeps the catalogue's log")
        return False

    def _expunge(self, pending: Sequence[Tombstone]) -> None:
        """Have the stores drop the files in which deleted rows are left, writing their other rows anew if need be."""
        lost = self._catalog.purges.lost_chunks(pending)
        for name, store in self._stores():
            try:
                is_expunged = store.expunge(lost)
            except IndexLost:
                # Tried again, it would fail again: what else it has is in the catalogue.
                self._projector.lost(place_of(name)[0])
                raise
            if not is_expunged:
                self._catalog.outbox.add_everything(name)
                _, beside = place_of(name)
                if beside is None:
                    self._projector.flush()
                else:
                    self._projector.flush_generation(beside)
                if not store.expunge(self._catalog.purges.lost_chunks(pending)):
                    raise StoreUnavailable("A store keeps deleted rows.")

    def _remove_blob(self, sha256: str) -> bool:
        """Remove a blob that no kept version names; tell whether nobody holds it."""
        return remove_unless_named(self._blobs, self._pins, sha256, self._catalog.purges.is_named)
