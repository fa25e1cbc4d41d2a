"""Reads every blob to its end, in the background and slowly, or at once where somebody asks.

A round goes through the blobs by name and is noted as it goes, so that it continues after a restart. One process of a
knowledge base reads at a time. A parsed text that is damaged or gone is made anew from its original.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from core.blobs.watched import Mender
from core.errors import EvoRAGError, StoreUnavailable
from core.model import FileFault
from core.platform.retrying import Stopped
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_NOTED_EVERY_S = 60.0
_LONGEST_REST_S = 60.0
_NEWEST = 50


class BlobVerifier:
    """Reads blobs to their end and notes what is wrong with them."""

    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    def verify(self, sha256: str, pace: Callable[[float], None]) -> FileFault | None:
        """Read one blob, note what was found, and return it. Raises: ``StoreUnavailable``; what ``pace`` raises."""
        fault = self._blobs.fault(sha256, pace)
        self._catalog.damages.note(sha256, fault if fault is None or self._is_needed(sha256) else None)
        return fault

    def look_at_newest(self) -> int:
        """Note which of the newest originals are gone, as they are from a folder or bucket of an earlier day.

        Return how many. Raises: ``StoreUnavailable``.
        """
        originals = self._catalog.consistency.originals()
        newest = sorted(originals, key=lambda sha256: originals[sha256], reverse=True)[:_NEWEST]
        gone = [sha256 for sha256 in newest if self._blobs.size(sha256) is None]
        for sha256 in gone:
            self._catalog.damages.note(sha256, FileFault.MISSING)
        if gone:
            log.error(
                "%d of the newest originals are gone: the data folder, or what is at EVORAG_BLOB_URL, may be of an"
                " earlier day than the catalogue. `evorag check` names them.",
                len(gone),
            )
        return len(gone)

    def settle(self) -> None:
        """Forget the notes of what no version has any more."""
        for sha256 in self._catalog.damages.noted():
            if not self._is_needed(sha256):
                self._catalog.damages.note(sha256, None)

    def needed(self) -> set[str]:
        """Return the originals and parsed texts that should be there."""
        return self._catalog.consistency.originals().keys() | self._catalog.consistency.texts().keys()

    def _is_needed(self, sha256: str) -> bool:
        return self._catalog.purges.is_named(sha256)


class Scrub:
    """Goes through all blobs again and again; ``share`` is the part of the time in which it reads."""

    def __init__(
        self, catalog: Catalog, blobs: Mender, share: float, every: timedelta, closing: threading.Event
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._verifier = BlobVerifier(catalog, blobs)
        self._share = share
        self._every = every
        self._closing = closing

    def go_on(self) -> None:
        """Go on with a round, or begin one where the last is old enough; return when it ends or the process does."""
        if not self._share or not self._is_due():
            return
        with self._catalog.database.if_free("scrub") as is_free:
            if is_free:
                try:
                    self.round()
                except Stopped:
                    return
                except StoreUnavailable as error:
                    log.warning("the reading of all files goes on later: %s", error.message)

    def round(self) -> None:
        """Read all blobs that come after the last one that was read. Raises: ``Stopped``, ``StoreUnavailable``."""
        state = self._catalog.damages.scrubbed()
        begun_at = state.begun_at or datetime.now(UTC).isoformat(timespec="seconds")
        names = sorted(set(self._blobs.names()) | self._verifier.needed())
        self._read((name for name in names if name > state.behind), begun_at)
        self._verifier.settle()
        self._catalog.damages.scrub_ended()
        if found := self._catalog.damages.noted():
            log.warning("%d files of documents are damaged or missing; `evorag check` names them", len(found))

    def _read(self, names: Iterable[str], begun_at: str) -> None:
        noted = time.monotonic()
        for name in names:
            fault = self._verifier.verify(name, self._rest)
            if fault is not None:
                self._mend(name)
            if time.monotonic() - noted > _NOTED_EVERY_S:
                self._catalog.damages.scrubbed_to(name, begun_at)
                noted = time.monotonic()

    def _mend(self, sha256: str) -> None:
        try:
            self._blobs.mend(sha256)
        except EvoRAGError as error:
            log.warning("a damaged text could not be made anew: %s", error.message)

    def _rest(self, seconds: float) -> None:
        """Wait so long that reading takes its share of the time. Raises: ``Stopped``."""
        if self._closing.wait(min(seconds / self._share - seconds, _LONGEST_REST_S)):
            raise Stopped

    def _is_due(self) -> bool:
        ended_at = self._catalog.damages.scrubbed().ended_at
        return not ended_at or datetime.now(UTC) - datetime.fromisoformat(ended_at) >= self._every
