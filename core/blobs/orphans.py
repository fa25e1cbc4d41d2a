"""Blobs that nothing names: announced before they are written, removed where no claim follows, listed otherwise.

The catalogue notes a blob before its bytes are put down, and forgets the note in the transaction that claims them. What
is noted, and neither named nor held, is what a failed or killed upload left; it is removed. A blob that was never noted
may be somebody's original, whatever this catalogue knows of it: nothing here removes that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from core.blobs.pins import BlobPins
from core.catalog.documents.leftovers import FileKind
from core.errors import EvoRAGError, StoreUnavailable
from core.platform.failpoints import failpoint
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)


class UnclaimedBlobs:
    """The blobs that no row of the catalogue names, or none names yet."""

    def __init__(self, catalog: Catalog, blobs: BlobStore, pins: BlobPins) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._pins = pins

    def announce(self, sha256s: Collection[str]) -> None:
        """Note the blobs that are about to be written, which the caller holds; those that are there already are not."""
        new = [sha256 for sha256 in sha256s if self._blobs.size(sha256) is None]
        if new:
            self._catalog.leftovers.note(FileKind.BLOB, new)
            failpoint("blobs.announced")

    def remove(self, sha256s: Collection[str]) -> int:
        """Remove those that were noted and that nobody names or holds; return how many blobs that were.

        What a store that is away keeps is removed at the next start.
        """
        removed: list[str] = []
        try:
            for sha256 in sha256s:
                if self._catalog.leftovers.is_noted(FileKind.BLOB, sha256):
                    self._pins.unless_held(sha256, partial(self._delete, sha256, removed))
        except StoreUnavailable as error:
            log.warning("what an upload left is removed at the next start: %s", error.message)
        return len(removed)

    def sweep(self, stop: threading.Event) -> int:
        """Remove what processes that died were writing; return how many blobs that were."""
        removed = 0
        try:
            for sha256 in sorted(self._catalog.leftovers.noted(FileKind.BLOB)):
                if stop.is_set():
                    break
                removed += self.remove([sha256])
        except EvoRAGError as error:
            log.warning(
                "what killed processes left is looked for at the next start: %s %s", error.message, error.remedy
            )
        if removed:
            log.info("%d files that a killed process was writing were removed", removed)
        return removed

    def unnamed(self) -> Iterator[str]:
        """Yield the names of the blobs that no row names and nobody is writing."""
        # The files are listed first: what is named while they are is known by the second look.
        found = sorted(self._blobs.names())
        known = self._catalog.purges.named() | self._catalog.leftovers.noted(FileKind.BLOB)
        for sha256 in found:
            if sha256 not in known and not self._is_arriving(sha256) and not self._is_claimed(sha256):
                yield sha256

    def is_unnamed(self, sha256: str) -> bool:
        """Tell of a blob whether no row names it, nobody is writing it, and no killed process was."""
        is_noted = self._catalog.leftovers.is_noted(FileKind.BLOB, sha256)
        return not (is_noted or self._is_arriving(sha256) or self._is_claimed(sha256))

    def _delete(self, sha256: str, removed: list[str]) -> None:
        if self._is_arriving(sha256):
            # It may be refused yet: the note stays until it is claimed.
            return
        if not self._is_claimed(sha256):
            self._blobs.delete(sha256)
            removed.append(sha256)
            failpoint("blobs.leftover.removed")
        self._catalog.leftovers.drop(FileKind.BLOB, [sha256])

    def _is_claimed(self, sha256: str) -> bool:
        return self._catalog.purges.is_named(sha256) or self._catalog.archives.is_named(sha256)

    def _is_arriving(self, sha256: str) -> bool:
        """Tell whether an upload in parts that has arrived, and is not filed yet, has these bytes."""
        waiting = (row.findings for row in self._catalog.transfers.checking())
        return any(findings.sha256 == sha256 for findings in waiting if findings)
