"""How far a job is: kept in the ledger, but not more often than anyone would look."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from core.errors import Cancelled
from core.model import Job, JobState, Stage

if TYPE_CHECKING:
    from core.catalog import Catalog

_INTERVAL_S = 0.25


class JobProgress:
    """The progress of one running job. Raises: ``Cancelled`` from every call once the job was cancelled."""

    def __init__(self, catalog: Catalog, job: Job) -> None:
        self.job = job
        self.doc_id, self.version_id = catalog.jobs.owner(job.id)
        self._catalog = catalog
        self._seconds = dict(job.stage_seconds)
        self._stage = job.stage
        self._started = time.monotonic()
        self._written = 0.0

    def enter(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage; the time since the last one began is booked on that one."""
        self.check()
        self.stage_seconds()
        self._stage = stage
        self._write(0, total)

    def stage_seconds(self) -> dict[str, float]:
        """Book the time since the stage began, and return that of all stages so far."""
        now = time.monotonic()
        self._seconds[self._stage] = round(self._seconds.get(self._stage, 0.0) + now - self._started, 4)
        self._started = now
        return dict(self._seconds)

    def advance(self, done: int, total: int) -> None:
        if time.monotonic() - self._written >= _INTERVAL_S or done >= total:
            self.check()
            self._write(done, total)

    def check(self) -> None:
        now = self._catalog.jobs.get(self.job.id)
        if now.state != JobState.RUNNING or now.attempts != self.job.attempts:
            raise Cancelled("The job was cancelled.")

    def _write(self, done: int, total: int) -> None:
        self._catalog.jobs.progress(self.job.id, self._stage, done, total, self._seconds)
        self._written = time.monotonic()
