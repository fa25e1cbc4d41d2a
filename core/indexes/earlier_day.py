"""What was put back from an earlier day than the catalogue: originals and indexes, which a start looks for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from core.blobs.scrub import BlobVerifier
from core.errors import EvoRAGError, StoreUnavailable
from core.indexes.consistency import Watched
from core.model import StoreAct

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.repair_jobs import RepairJobs
    from core.ports import BlobStore

log = logging.getLogger(__name__)


def look_for_earlier_days(
    catalog: Catalog, blobs: BlobStore, stores: Callable[[], Mapping[str, Watched]], repairs: RepairJobs
) -> None:
    """Note which of the newest originals are gone, and have indexes repaired that have too many rows or too few.

    Both are said in the log. An index of an earlier day that happens to hold as many is found by a check alone.
    """
    with suppress(StoreUnavailable):
        BlobVerifier(catalog, blobs).look_at_newest()
    for store, watched in stores().items():
        try:
            rows, allowed = _miscounted(catalog, store, watched)
            # What is just being written explains a difference as well, and is another one a moment later.
            if allowed is None or (rows, allowed) != _miscounted(catalog, store, watched):
                continue
        except EvoRAGError:
            continue
        least, most = allowed.start, allowed.stop - 1
        log.error(
            "The %s index has %d rows, and by the catalogue it has %d to %d: it may be of an earlier day. It is checked"
            " and repaired.",
            store,
            rows,
            least,
            most,
        )
        repairs.queue(StoreAct.REPAIR, store)


def _miscounted(catalog: Catalog, store: str, watched: Watched) -> tuple[int, range | None]:
    """Return how many rows a store holds, and how many it may hold where these are too many or too few."""
    rows = sum(watched.index.count().values())
    # An empty store is filled anyhow.
    return rows, catalog.consistency.miscounted(store, watched.making(), rows) if rows else None
