"""How a document leaves the way to its publication before its end: failed, cancelled, or kept for the next start."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.blobs.orphans import UnclaimedBlobs
from core.errors import Cancelled, DiskFull, EvoRAGError, ParserFailed
from core.indexes.projector import Projector
from core.ingest.job_run import JobProgress
from core.model import JobState
from core.platform.failpoints import point

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_NO_SPACE = 28


class Stopped(Exception):
    """The process ends; what is being worked on stays as it is for the next one."""


class Endings:
    """Ends jobs whose documents cannot go on; one that fails drops out alone, with its error on its job."""

    def __init__(self, catalog: Catalog, unclaimed: UnclaimedBlobs, projector: Projector) -> None:
        self._catalog = catalog
        self._unclaimed = unclaimed
        self._projector = projector

    def guarded(self, act: Callable[[JobProgress], object], walker: JobProgress) -> bool:
        """Do something for one document; tell whether it goes on."""
        try:
            act(walker)
        except Stopped:
            return False
        except Cancelled:
            self.discard(walker.version_id)
            return False
        except EvoRAGError as error:
            self.fail(walker, error)
            return False
        except Exception as error:
            if isinstance(error, OSError) and error.errno == _NO_SPACE:
                self.fail(walker, DiskFull("The disk of the data folder is full."))
                return False
            incident = secrets.token_hex(4)
            log.exception("incident %s in job %s", incident, walker.job.id)
            self.fail(walker, _unexpected(error, incident))
            return False
        return True

    def fail(self, walker: JobProgress, error: EvoRAGError) -> None:
        """End the job with an error, if this attempt is still the running one."""
        self._catalog.jobs.end(
            walker.job.id,
            JobState.FAILED,
            error=error.as_dict(),
            version_state="failed",
            attempt=walker.job.attempts,
        )
        point("ingest.job.failed")
        self.discard(walker.version_id)

    def discard(self, version_id: int) -> None:
        """Take a failed or cancelled version out of both indexes, except for what other versions share with it."""
        point("ingest.version.discarding")
        parsed = self._catalog.chunks.forget(version_id)
        point("ingest.version.discarded")
        if parsed is not None and self._unclaimed.remove([parsed]):
            point("ingest.parsed.removed")
        self._projector.flush_soon()


def _unexpected(error: Exception, incident: str) -> ParserFailed:
    return ParserFailed(
        f"An unexpected {type(error).__name__} stopped this document (incident {incident}).",
        remedy="Start the job again; if it fails again, send the log of this incident to the developers.",
    )
