"""How a document leaves the way to its publication before its end: failed, cancelled, or kept for the next start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.blobs.orphans import UnclaimedBlobs
from core.catalog.jobs.stage_run import StageRun
from core.errors import EvoRAGError
from core.indexes.projector import Projector
from core.model import JobState
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import Catalog


class Failures:
    """Ends jobs whose documents cannot go on; one that fails drops out alone, with its error on its job."""

    work = "this document"

    def __init__(self, catalog: Catalog, unclaimed: UnclaimedBlobs, projector: Projector) -> None:
        self._catalog = catalog
        self._unclaimed = unclaimed
        self._projector = projector

    def cancelled(self, run: StageRun) -> None:
        """Take out what the attempt has left; another one of the same job keeps its own."""
        self.discard(run.version_id)

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        """End the job with an error, if this attempt is still the running one."""
        self._catalog.jobs.end(
            run.job.id,
            JobState.FAILED,
            error=error.as_dict(),
            version_state="failed",
            attempt=run.attempt.number,
        )
        failpoint("ingest.job.failed")
        self.discard(run.version_id)

    def discard(self, version_id: int) -> None:
        """Take a failed or cancelled version out of both indexes, except for what other versions share with it."""
        failpoint("ingest.version.discarding")
        parsed = self._catalog.chunks.forget(version_id)
        failpoint("ingest.version.discarded")
        if parsed is not None and self._unclaimed.remove([parsed]):
            failpoint("ingest.parsed.removed")
        self._projector.flush_soon()
