"""The local job queue: threads of this process work on what the ledger holds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.catalog.jobs import ACTIVE
from core.errors import EvoRAGError
from core.ingest.pipeline import IngestPipeline
from core.model import Job, JobState

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_TOGETHER_BYTES = 256 * 1024
_POLL_S = 0.05
_RECOVERY_S = 2.0
_POLLED = 100


class LocalJobs:
    """Worker threads over the job ledger; what a killed process left running is queued again at start."""

    def __init__(self, catalog: Catalog, pipeline: IngestPipeline, workers: int, batch: int) -> None:
        self._catalog = catalog
        self._pipeline = pipeline
        self._batch = batch
        self._wake = threading.Semaphore(0)
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._after: Callable[[Sequence[Job]], None] = lambda jobs: None
        self._threads = [
            threading.Thread(target=self._run, name=f"evorag-worker-{number}", daemon=True) for number in range(workers)
        ]

    @property
    def has_threads(self) -> bool:
        """Tell whether work is done in the background, and not only by ``work_off``."""
        return bool(self._threads)

    def after_batch(self, act: Callable[[Sequence[Job]], None]) -> None:
        """Have ``act`` called with jobs whenever they have been worked on."""
        self._after = act

    def start(self) -> None:
        self._catalog.jobs.requeue_interrupted()
        for thread in self._threads:
            thread.start()
            self._wake.release()

    def wake(self) -> None:
        """Tell the workers that a job was queued."""
        self._wake.release()

    def work_off(self) -> None:
        """Work on queued jobs in the calling thread until none is left."""
        while jobs := self._catalog.jobs.take(self._batch, _TOGETHER_BYTES):
            self._pipeline.run(jobs, self._stop)
            self._after(jobs)

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            if self._stop.is_set():
                return
            try:
                while not self._stop.is_set() and (jobs := self._catalog.jobs.take(self._batch, _TOGETHER_BYTES)):
                    self._work(jobs)
                    self._after(jobs)
                    with self._changed:
                        self._changed.notify_all()
            except Exception:
                # A full disk or a locked catalogue passes; a worker that died of it would be missed until a restart.
                log.exception("a worker could not read or write the job ledger and tries again")
                self._stop.wait(_RECOVERY_S)
                self._wake.release()

    def _work(self, jobs: Sequence[Job]) -> None:
        """Work on several jobs together, and on each alone where one of them breaks the others."""
        try:
            self._pipeline.run(jobs, self._stop)
        except Exception:
            log.exception("%d jobs met an unexpected error", len(jobs))
            if len(jobs) == 1:
                error = EvoRAGError("Indexing stopped unexpectedly; the log of the server says why.")
                _, version_id = self._catalog.jobs.owner(jobs[0].id)
                self._catalog.jobs.end(
                    jobs[0].id,
                    JobState.FAILED,
                    error=error.as_dict(),
                    version_state="failed",
                    attempt=jobs[0].attempts,
                )
                self._pipeline.discard(version_id)
                return
            for job in jobs:
                if self._catalog.jobs.get(job.id).state == JobState.RUNNING:
                    self._work([job])

    def wait(self, job_ids: Sequence[str], timeout_s: float | None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over. Raises: ``NotFound``."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        known = {job_id: self._catalog.jobs.get(job_id) for job_id in job_ids}
        while active := [job.id for job in known.values() if job.state in ACTIVE]:
            if deadline is not None and time.monotonic() >= deadline:
                break
            with self._changed:
                self._changed.wait(_POLL_S)
            few = active[:_POLLED]
            known |= {job.id: job for job in self._catalog.jobs.recent(ids=few, limit=len(few))}
        return [known[job_id] for job_id in job_ids]

    def cancel(self, job_id: str) -> Job:
        """Cancel an active job: at once where it waits, at its next step where it runs."""
        self._catalog.jobs.get(job_id)
        _, version_id = self._catalog.jobs.owner(job_id)
        before = self._catalog.jobs.end(job_id, JobState.CANCELLED, version_state="cancelled")
        if before is JobState.QUEUED:
            self._pipeline.discard(version_id)
        return self._catalog.jobs.get(job_id)

    def retry(self, job_id: str) -> Job:
        self._catalog.jobs.get(job_id)
        self._catalog.jobs.requeue(job_id)
        self.wake()
        return self._catalog.jobs.get(job_id)

    def close(self) -> None:
        self._stop.set()
        for _ in self._threads:
            self._wake.release()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=60)
