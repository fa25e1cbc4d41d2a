"""Removes blobs that a killed process had put down and that nothing came to name."""

from __future__ import annotations

import logging
import threading

from core.catalog import Catalog
from core.errors import EvoRAGError
from core.ingest.holds import Holds
from core.ports import BlobStore

log = logging.getLogger(__name__)


def remove_orphans(catalog: Catalog, blobs: BlobStore, holds: Holds, stop: threading.Event) -> int:
    """Remove the blobs that no version, archive or upload has; return how many there were.

    Whoever puts a blob holds it until the catalogue names it, so what is neither held nor named is nobody's.
    """
    removed = 0
    try:
        # The files are listed first: what is named while they are is looked up once more before it is removed.
        found = set(blobs.names())
        for sha256 in sorted(found - catalog.purges.named()):
            if stop.is_set():
                break
            removed += _remove(catalog, blobs, holds, sha256)
    except EvoRAGError as error:
        log.warning("files that nothing names are looked for at the next start: %s %s", error.message, error.remedy)
    if removed:
        log.info("%d files that nothing names were removed", removed)
    return removed


def _remove(catalog: Catalog, blobs: BlobStore, holds: Holds, sha256: str) -> bool:
    gone = False

    def remove() -> None:
        nonlocal gone
        # It may have been named, and let go, since the list was made.
        if not _is_named(catalog, sha256):
            blobs.delete(sha256)
            gone = True

    holds.unless_held(sha256, remove)
    return gone


def _is_named(catalog: Catalog, sha256: str) -> bool:
    if catalog.purges.is_named(sha256) or catalog.archives.is_named(sha256):
        return True
    waiting = (row.findings for row in catalog.transfers.checking())
    return any(findings.sha256 == sha256 for findings in waiting if findings)
