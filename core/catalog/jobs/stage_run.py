"""One attempt at a job on its way through its stages: when it stops, what it waits for, how far it is, what it found.

``run_stage`` is the one place that knows how a stage may end. Progress is written to the ledger often enough to be
watched and no oftener than anyone would look.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from core.catalog.jobs.ledger import Attempt, Jobs, Step
from core.errors import Cancelled, CatalogUnavailable, DiskFull, EvoRAGError, ParserFailed
from core.model import Job, Stage
from core.platform.retrying import Stopped, retry_while_unavailable

log = logging.getLogger(__name__)

_INTERVAL_S = 0.25
_NO_SPACE = 28
_LANES = {
    Stage.PARSING: "preparing_s",
    Stage.CHUNKING: "preparing_s",
    Stage.KEYWORDS: "preparing_s",
    Stage.INDEXING: "publishing_s",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage has done; ``count`` is how much that was, None where it was done before or counted as it went on."""

    count: int | None = None
    used: Mapping[str, float] = field(default_factory=dict)
    """What the stage used; of peaks, which begin with ``peak_``, the highest one counts."""


R = TypeVar("R", bound=StageResult)


class StageRun:
    """What one attempt at a job carries from stage to stage. Whatever writes progress raises ``Cancelled``."""

    def __init__(self, jobs: Jobs, job: Job, stop: threading.Event, owner: tuple[int, int] | None = None) -> None:
        """Begin an attempt; ``owner`` are the ids of the job's document and version, where they are known already."""
        self.job = job
        self.attempt = Attempt(job.id, job.attempts)
        self.doc_id, self.version_id = owner or jobs.owner(job.id)
        self.stop = stop
        self.stage = Stage.STORED
        self.together = 1
        """How many documents share the time of the present stage."""
        self._jobs = jobs
        self._results: dict[type[StageResult], StageResult] = {}
        self._done = self._total = 0
        self._seconds = dict(job.stage_seconds)
        self._counts = dict(job.stage_counts)
        self._resources = dict(job.resources)
        self._finished: Stage | None = None
        self._started = time.monotonic()
        self._written = 0.0

    # ---- results

    def keep(self, result: StageResult) -> None:
        """Keep what a stage has done for the stages after it."""
        self._results[type(result)] = result
        if result.count is not None:
            self._counts[self.stage] = result.count
        self.spend(result.used)

    def result(self, kind: type[R]) -> R | None:
        """Return the result of an earlier stage, by its type."""
        found = self._results.get(kind)
        return found if isinstance(found, kind) else None

    # ---- going on

    @property
    def is_stopped(self) -> bool:
        """Tell whether the process ends."""
        return self.stop.is_set()

    @property
    def is_running(self) -> bool:
        """Tell whether this still is the running attempt at the job."""
        return self._jobs.is_running(self.attempt)

    def check(self) -> None:
        """Raises: ``Stopped`` once the process ends, ``Cancelled`` where this is not the running attempt any more."""
        if self.is_stopped:
            raise Stopped
        if not self.is_running:
            raise Cancelled("The job was cancelled.")

    def wait_for_store(self, act: Callable[[], T]) -> T:
        """Do something, however long a store does not answer, and note in the job's log if so.

        Raises: ``Stopped``, ``Cancelled``.
        """
        return retry_while_unavailable(act, go_on=self.check, note=partial(_note, self._jobs, [self]), stop=self.stop)

    def note(self, code: str, **values: Any) -> None:
        """Add a warning to the job's log."""
        self._jobs.note([self.job.id], code, self.stage, **values)

    # ---- progress

    @property
    def total(self) -> int:
        """How much there is to do in the present stage, 0 where nobody knows."""
        return self._total

    def rest(self) -> None:
        """Book the time since the stage began as time of waiting: it counts for the stage and not for its lane."""
        self._book(in_lane=False)

    def begin(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage without writing it yet; the time since the last one began is booked on that one."""
        self._book()
        if stage != self.stage and self.stage != Stage.STORED:
            self._finished = self.stage
        self.stage, self._done, self._total = stage, 0, total

    def advance(self, done: int, total: int) -> None:
        """Say how far the stage is; it is written now and then, and when the stage is done."""
        if self.tell(done, total):
            self.write()

    def tell(self, done: int, total: int) -> bool:
        """Say how far the stage is; tell whether it is time to write that."""
        self._done, self._total = done, total
        self._counts[self.stage] = done
        return time.monotonic() - self._written >= _INTERVAL_S or 0 < total <= done

    def spend(self, used: Mapping[str, float]) -> None:
        """Add to what the job used; of peaks the highest one counts."""
        for name, value in used.items():
            before = self._resources.get(name, 0.0)
            self._resources[name] = max(before, value) if name.startswith("peak_") else round(before + value, 3)

    def step(self) -> Step:
        """Return where the job stands, for the ledger; what it says of a finished stage is said once."""
        finished, self._finished = self._finished, None
        self._written = time.monotonic()
        plain = {str(stage): count for stage, count in self._counts.items()}
        return Step(
            self.attempt, self.stage, self._done, self._total, dict(self._seconds), plain, self._resources, finished
        )

    def last_step(self, stage: Stage) -> Step:
        """Return where the job stands when it ends with ``stage``."""
        self.begin(stage, 1)
        self._done = 1
        return self.step()

    def write(self) -> None:
        if not self._jobs.advance([self.step()]):
            raise Cancelled("The job was cancelled.")

    def _book(self, *, in_lane: bool = True) -> None:
        now = time.monotonic()
        passed, self._started = now - self._started, now
        self._seconds[self.stage] = round(self._seconds.get(self.stage, 0.0) + passed, 4)
        if in_lane and self.stage in _LANES:
            self.spend({_LANES[self.stage]: passed / self.together})


class JobEndings(Protocol):
    """How jobs of one kind end before their last stage."""

    work: str
    """What an error that nobody foresaw has stopped; where empty, such an error is the queue's to handle."""

    def cancelled(self, run: StageRun) -> None:
        """Tidy up after a job that was cancelled, or that is another attempt's by now."""

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        """End the job with an error, if this attempt is still the running one."""


def run_stage(stage: Callable[[StageRun], StageResult], run: StageRun, endings: JobEndings) -> bool:
    """Run one stage of a job and keep its result; tell whether the job goes on.

    It does not where it was cancelled or has failed, and where the process ends: then it stays for the next start.
    """
    try:
        run.keep(stage(run))
    except Stopped:
        return False
    except Cancelled:
        endings.cancelled(run)
        return False
    except CatalogUnavailable:
        # It has failed of nothing, and there is nowhere to write that: it is taken up again.
        raise
    except EvoRAGError as error:
        endings.failed(run, error)
        return False
    except Exception as error:
        if not endings.work:
            raise
        endings.failed(run, _unforeseen(error, run, endings.work))
        return False
    return True


def run_together(stage: Callable[[Sequence[StageRun]], list[StageRun]], runs: Sequence[StageRun]) -> list[StageRun]:
    """Run one stage of several jobs at once; return those that go on, none where the process ends."""
    try:
        return stage(runs)
    except Stopped:
        return []


def _unforeseen(error: Exception, run: StageRun, work: str) -> EvoRAGError:
    if isinstance(error, OSError) and error.errno == _NO_SPACE:
        return DiskFull("The disk of the data folder is full.")
    incident = secrets.token_hex(4)
    log.error("incident %s in job %s", incident, run.job.id, exc_info=error)
    return ParserFailed(
        f"An unexpected {type(error).__name__} stopped {work} (incident {incident}).",
        remedy="Start the job again; if it fails again, send the log of this incident to the developers.",
    )


def wait_together(jobs: Jobs, runs: Sequence[StageRun], act: Callable[[], T]) -> T:
    """Do something for several jobs at the same stage, however long a store does not answer; note in their logs if so.

    One that is cancelled meanwhile keeps none of the others from going on. Raises: ``Stopped``.
    """
    return retry_while_unavailable(act, go_on=lambda: None, note=partial(_note, jobs, runs), stop=runs[0].stop)


def _note(jobs: Jobs, runs: Sequence[StageRun], code: str) -> None:
    jobs.note([run.job.id for run in runs], "waiting_store", runs[0].stage, store=code)


def write_all(jobs: Jobs, runs: Sequence[StageRun], lost: Callable[[StageRun], object]) -> list[StageRun]:
    """Write the progress of several jobs in one transaction; return those that go on, and tell of the others."""
    running = jobs.advance([run.step() for run in runs])
    for run in runs:
        if run.job.id not in running:
            lost(run)
    return [run for run in runs if run.job.id in running]


def still_running(jobs: Jobs, runs: Sequence[StageRun], lost: Callable[[StageRun], object]) -> list[StageRun]:
    """Return the runs whose attempt is still the running one, and tell of the others. Raises: ``Stopped``."""
    if any(run.is_stopped for run in runs):
        raise Stopped
    running = jobs.running([run.attempt for run in runs])
    for run in runs:
        if run.attempt not in running:
            lost(run)
    return [run for run in runs if run.attempt in running]
