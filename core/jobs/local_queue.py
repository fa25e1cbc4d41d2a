"""The local job queue: threads of this process work on what the ledger holds.

Small files are prepared by threads of their own, large ones and archives by another one, small ones that take their
parser long by a third one, and one lane embeds the texts of them all in turns: a page never waits for somebody's
gigabyte. Where several processes share the ledger, each leases what it works on and queues again what another one,
which is gone, had leased.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.access import PROCESS, acting
from core.catalog.jobs.job_scheduler import Rotation
from core.catalog.jobs.leases import Heartbeat
from core.catalog.jobs.ledger import Attempt, Choice, Lease
from core.catalog.jobs.stage_run import StageRun
from core.errors import CatalogUnavailable, Conflict, EvoRAGError
from core.ingest.pipeline import IngestPipeline
from core.jobs.handlers import JobHandlers
from core.jobs.waiting import LOOKED_AGAIN_S, wait_for
from core.model import Job, JobKind, JobState
from core.platform.failpoints import failpoint
from core.platform.precedence import share_interpreter
from core.platform.work_signal import WorkSignal

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_TOGETHER_BYTES = 256 * 1024
_RECOVERY_S = 2.0
_END_S = 60.0
_SHARED_LOOK_S = 1.0
"""How often is looked for what other processes have queued, or have left."""
_LARGE_LOOK_S = 0.2
"""Pause before large work is looked for, since each look goes through all small jobs that are queued."""
_NO_HANDLERS = JobHandlers()


class LocalJobs:
    """The port ``JobQueue`` over threads; what a process that ended left running is queued again at start."""

    def __init__(
        self,
        catalog: Catalog,
        pipeline: IngestPipeline,
        workers: int,
        batch: int,
        lease_s: float | None = None,
        *,
        is_alone: bool = True,
        handlers: JobHandlers = _NO_HANDLERS,
        signal: WorkSignal | None = None,
    ) -> None:
        """Work alone on the ledger, or with ``lease_s`` beside others, that may be at work unless it ``is_alone``.

        Jobs of the kinds of ``handlers``, which are of no single document, are carried out one at a time. The threads
        look for work whenever ``signal`` is notified.
        """
        self._is_alone = is_alone
        self._lease = None if lease_s is None else Lease(secrets.token_hex(16), lease_s)
        self._ended_all = threading.Event()
        self._leasing = threading.Thread(target=self._keep_leases, name="evorag-leases", daemon=True)
        self._catalog = catalog
        self._pipeline = pipeline
        self._lanes = (pipeline.queue, pipeline.pictures, pipeline.slow)
        self._batch = batch
        self._stop = threading.Event()
        self._handlers = handlers
        self._signal = signal or WorkSignal()
        self._lock = threading.Lock()
        self._rotations: dict[bool | None, Rotation] = {}
        self._taken: dict[str, int] = {}
        self._lost: set[str] = set()
        acts: list[tuple[str, Callable[[], bool], float]] = []
        if workers:
            acts = [(f"worker-{number}", lambda: self._prepare_some(large=False), 0.0) for number in range(workers)]
            acts += [("large", self._work_on_large, _LARGE_LOOK_S), ("embedding", self._embed_some, 0.0)]
            acts += [("recognition", self._recognise_some, 0.0), ("slow", self._parse_slow, 0.0)]
        self._threads = [
            threading.Thread(target=self._run, args=(act, pause_s), name=f"evorag-{name}", daemon=True)
            for name, act, pause_s in acts
        ]
        self.has_threads = bool(self._threads)

    def start(self) -> None:
        """Take up what is queued and what a process that ended left running."""
        failpoint("jobs.starting")
        if self.has_threads:
            share_interpreter()
        if self._lease is None:
            self._catalog.jobs.requeue_interrupted()
        else:
            if self._is_alone:
                self._catalog.jobs.requeue_lost(self._lease.seconds)
            self._leasing.start()
        # Before a worker begins a job: what the last process left must not be taken for that job's.
        self.tidy()
        failpoint("jobs.requeued")
        for thread in self._threads:
            thread.start()

    def tidy(self) -> None:
        """Remove what jobs that have ended, or the processes that worked on them, have left."""
        for version_id in self._catalog.jobs.left_behind():
            self._pipeline.discard(version_id)
        self._pipeline.pictures.tidy()
        self._handlers.tidy()

    def wake(self) -> None:
        """Tell the workers that there is something to do."""
        self._signal.notify()

    def work_off(self) -> None:
        """Work on queued jobs in the calling thread until none is left."""
        with acting(PROCESS):
            prepare = partial(self._prepare_some, large=None)
            acts = (prepare, self._embed_some, self._publish_long, self._recognise_some, self._parse_slow)
            while any(act() for act in acts):
                pass

    def work_until_idle(self, stop: threading.Event) -> None:
        """Have the threads look for work, and return when nothing is left to do, or ``stop`` is set."""
        self.wake()
        while not (stop.is_set() or self._stop.is_set()):
            try:
                if self.is_idle():
                    return
            except Exception as error:
                log.warning("the job ledger does not answer (%s)", type(error).__name__)
            stop.wait(LOOKED_AGAIN_S)

    def is_idle(self) -> bool:
        """Tell whether no job is queued, and none in the hands of this process."""
        with self._lock:
            taken = list(self._taken)
        running = self._catalog.jobs.recent(ids=taken, active=True, limit=len(taken)) if taken else ()
        return not any(self._is_ours(job) for job in running) and not self._catalog.jobs.is_waiting()

    def _is_ours(self, job: Job) -> bool:
        with self._lock:
            return job.state is JobState.RUNNING and self._taken.get(job.id) == job.attempts

    # ---- threads

    def _run(self, act: Callable[[], bool], pause_s: float) -> None:
        while not self._stop.is_set():
            heard = self._signal.count
            try:
                self._put_back_lost()
                while not self._stop.is_set() and act():
                    pass
            except Exception:
                # A full disk or a locked catalogue passes; a worker that died of it would be missed until a restart.
                log.exception("a worker could not read or write the job ledger and tries again")
                self._stop.wait(_RECOVERY_S)
                continue
            if not self._stop.is_set():
                self._signal.wait(heard)
                self._stop.wait(pause_s)

    def _keep_leases(self) -> None:
        """Say that this process lives while it works, take up what others left, and look for what others queued."""
        lease = self._lease
        assert lease is not None
        pause_s, begun = min(lease.seconds / 3, _SHARED_LOOK_S), time.monotonic()
        heart = Heartbeat(lease, fair_from=begun if self._is_alone else begun + lease.seconds)
        while not self._ended_all.wait(pause_s):
            try:
                if heart.is_due(time.monotonic()):
                    with self._lock:
                        held = [*self._taken, *self._lost]
                    self._catalog.jobs.renew(lease, held)
                    heart.renewed(time.monotonic())
                if self._stop.is_set():
                    continue
                if heart.is_fair(time.monotonic()):
                    self._catalog.jobs.requeue_lost(lease.seconds)
                if self._catalog.jobs.is_waiting():
                    self.wake()
            except Exception as error:
                heart.failed()
                log.warning("leases of jobs could not be renewed (%s)", type(error).__name__)

    def _put_back_lost(self) -> None:
        """Queue again what was in the hands of a worker that could not even end it."""
        with self._lock:
            lost = list(self._lost)
        if lost:
            self._catalog.jobs.put_back(lost, self._lease)
            with self._lock:
                self._lost.difference_update(lost)
                for job_id in lost:
                    self._taken.pop(job_id, None)
            self.wake()

    # ---- preparing

    def _prepare_some(self, large: bool | None) -> bool:
        """Take the jobs whose turn it is through the stages before embedding; tell whether there were any."""
        with self._lock:
            rotation = self._rotations.setdefault(large, Rotation())
            jobs = self._catalog.jobs.take(Choice(self._batch, _TOGETHER_BYTES, large, rotation), self._lease)
            for job in jobs:
                rotation.had_turn(job.actor)
                self._taken[job.id] = job.attempts
        if jobs:
            failpoint("jobs.taken")
            self._work(jobs)
            self.wake()
        return bool(jobs)

    def _work(self, jobs: Sequence[Job], act: Callable[[Sequence[Job]], Sequence[Job]] | None = None) -> None:
        """Work on several jobs together, and on each alone where one of them breaks the others."""
        act = act or self._carry_out
        try:
            self._attempt(jobs, act)
        except Exception:
            # The ledger has gone away as well: what is left is queued again as soon as it is back.
            with self._lock:
                self._lost.update(job.id for job in jobs if job.id in self._taken)
            raise

    def _attempt(self, jobs: Sequence[Job], act: Callable[[Sequence[Job]], Sequence[Job]]) -> None:
        try:
            ended = act(jobs)
        except CatalogUnavailable:
            # Nobody failed: all are queued again as soon as it is back.
            raise
        except Exception:
            log.exception("%d jobs met an unexpected error", len(jobs))
            if len(jobs) > 1:
                for job in jobs:
                    if self._catalog.jobs.is_running(Attempt(job.id, job.attempts)):
                        self._work([job], act)
                return
            self._give_up(jobs[0])
            ended = jobs
        self._ended(ended)

    def _carry_out(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Take documents to the stage of embedding, or do what a job of another kind is; return those that are over."""
        if (act := self._handlers.by_kind.get(JobKind(jobs[0].kind))) is None:
            return self._pipeline.prepare(jobs, self._stop)
        act(jobs[0], self._stop)
        return jobs

    def _give_up(self, job: Job) -> None:
        """End a job that met an error that nobody foresaw."""
        with self._lock:
            self._lost.add(job.id)
        error = EvoRAGError("Indexing stopped unexpectedly; the log of the server says why.")
        _, version_id = self._catalog.jobs.owner(job.id)
        self._catalog.jobs.end(
            job.id, JobState.FAILED, error=error.as_dict(), version_state="failed", attempt=job.attempts
        )
        with self._lock:
            self._lost.discard(job.id)
        if version_id:
            self._pipeline.discard(version_id)
        if job.kind == JobKind.REINDEX:
            self._handlers.tidy()

    def _ended(self, jobs: Sequence[Job]) -> None:
        if jobs and not self._stop.is_set():
            with self._lock:
                for job in jobs:
                    self._taken.pop(job.id, None)
            self._handlers.after_job(jobs)

    # ---- recognising, embedding and publishing

    def _recognise_some(self) -> bool:
        """Recognise one picture of the document whose turn it is; tell whether there was one."""
        waiting = self._pipeline.pictures.next()
        if waiting is None:
            return False
        self._work([waiting.run.job], lambda _: self._pipeline.recognise(waiting))
        if self._pipeline.has_texts:
            self.wake()
        return not self._stop.is_set()

    def _parse_slow(self) -> bool:
        """Parse on what has stepped aside; tell whether there was anything."""
        run = self._pipeline.slow.next()
        if run is None:
            return False
        self._work([run.job], lambda _: self._pipeline.parse_slow(run))
        self.wake()
        return not self._stop.is_set()

    def _work_on_large(self) -> bool:
        return self._publish_long() or self._prepare_some(large=True)

    def _embed_some(self) -> bool:
        """Embed one round, and publish what is complete; tell whether there was anything."""
        if not self._pipeline.has_texts:
            return False
        soon = self._pipeline.embed()
        if self._pipeline.has_long:
            self.wake()
        self._publish(soon)
        return not self._stop.is_set()

    def _publish_long(self) -> bool:
        """Publish one large version, step by step; tell whether there was one."""
        if not self._pipeline.has_long:
            return False
        self._publish([self._pipeline.next_long()])
        return not self._stop.is_set()

    def _publish(self, runs: Sequence[StageRun]) -> None:
        of = {run.job.id: run for run in runs}

        def act(jobs: Sequence[Job]) -> Sequence[Job]:
            self._pipeline.publish([of[job.id] for job in jobs])
            return jobs

        self._work([run.job for run in runs], act)

    # ---- waiting and steering

    def wait(self, job_ids: Sequence[str], timeout_s: float | None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over. Raises: ``NotFound``."""
        return wait_for(self._catalog.jobs, job_ids, timeout_s)

    def changed(self, seen: int, timeout_s: float) -> int:
        """Return the ledger's newest change once it is beyond ``seen``, or when the time is over."""
        return self._catalog.jobs.changes.wait(seen, timeout_s)

    def cancel(self, job_id: str) -> Job:
        """Cancel an active job: at once where it waits, at its next step where it runs; those of its documents as well.

        A document that shows nothing but what the job is still embedding is unpublished. Raises: ``NotFound``;
        ``Conflict`` where the version is shown in the place of an earlier one.
        """
        job = self._catalog.jobs.get(job_id)
        _, version_id = self._catalog.jobs.owner(job_id)
        before = self._catalog.cancelling.cancel(job_id)
        failpoint("jobs.cancelled")
        waited = any(lane.drop(job_id) for lane in self._lanes)
        if version_id and (waited or before is JobState.QUEUED):
            self._pipeline.discard(version_id)
        if job.kind == JobKind.REINDEX and before is JobState.QUEUED:
            self._handlers.tidy()
        if job.kind == JobKind.UNPACK:
            for child in self._catalog.jobs.children(job_id):
                with contextlib.suppress(Conflict):
                    self.cancel(child)
        return self._catalog.jobs.get(job_id)

    def retry(self, job_id: str, *, anew: bool = True) -> Job:
        """Queue a failed or cancelled job again; with ``anew`` a document that was hidden since is shown again.

        Raises: ``NotFound``, ``Conflict`` where it is of no use.
        """
        self._catalog.jobs.get(job_id)
        self._catalog.jobs.requeue(job_id, anew=anew)
        failpoint("jobs.retried")
        self.wake()
        return self._catalog.jobs.get(job_id)

    def prioritise(self, job_id: str, priority: int) -> Job:
        """Give an active job another priority. Raises: ``NotFound``, ``Conflict`` where it has ended."""
        self._catalog.jobs.get(job_id)
        self._catalog.jobs.prioritise(job_id, priority)
        for lane in self._lanes:
            lane.prioritise(job_id, priority)
        return self._catalog.jobs.get(job_id)

    def close(self) -> None:
        """End the threads at their next step; what they leave is queued for the next process."""
        self._stop.set()
        self._pipeline.close()
        self.wake()
        deadline = time.monotonic() + _END_S
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=max(deadline - time.monotonic(), 0))
        self._ended_all.set()
        if self._leasing.is_alive():
            self._leasing.join(timeout=30)
        try:
            self._catalog.jobs.put_back(list(self._taken), self._lease)
        except Exception:
            log.exception("running jobs could not be queued again; the next start does it")
