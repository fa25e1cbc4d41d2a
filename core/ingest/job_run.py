"""Progress of a job, written to the ledger often enough to be watched and no oftener than anyone would look."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.catalog.jobs.ledger import Attempt, Step
from core.errors import Cancelled
from core.model import Job, Stage

if TYPE_CHECKING:
    from core.catalog import Catalog, Showing

_INTERVAL_S = 0.25


class JobProgress:
    """The progress of one running job. Raises: ``Cancelled`` from what writes it, once the job was cancelled."""

    def __init__(self, catalog: Catalog, job: Job) -> None:
        self.job = job
        self.attempt = Attempt(job.id, job.attempts)
        self.doc_id, self.version_id = catalog.jobs.owner(job.id)
        self.stage = Stage.STORED
        self.showing: Showing | None = None
        """What the document showed when the version's rows were asked for in head; None where they were not."""
        self.is_draft = False
        self._catalog = catalog
        self._done = self._total = 0
        self._seconds = dict(job.stage_seconds)
        self._counts = dict(job.stage_counts)
        self._resources = dict(job.resources)
        self._finished: Stage | None = None
        self._started = time.monotonic()
        self._written = 0.0

    def enter(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage; the time since the last one began is booked on that one."""
        self.begin(stage, total)
        self.write()

    def begin(self, stage: Stage, total: int = 0) -> None:
        """Begin a stage without writing it yet."""
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

    def count(self, number: int) -> None:
        """Say what the stage has done in all, where that is not what its progress counts."""
        self._counts[self.stage] = number

    def spend(self, used: Mapping[str, float]) -> None:
        """Add to what the job used; of peaks the highest one counts."""
        for name, value in used.items():
            before = self._resources.get(name, 0.0)
            self._resources[name] = max(before, value) if name.startswith("peak_") else round(before + value, 3)

    def check(self) -> None:
        if not self._catalog.jobs.is_running(self.attempt):
            raise Cancelled("The job was cancelled.")

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
        if not self._catalog.jobs.advance([self.step()]):
            raise Cancelled("The job was cancelled.")

    def _book(self) -> None:
        now = time.monotonic()
        self._seconds[self.stage] = round(self._seconds.get(self.stage, 0.0) + now - self._started, 4)
        self._started = now


def write_all(
    catalog: Catalog, walkers: Sequence[JobProgress], lost: Callable[[JobProgress], None]
) -> list[JobProgress]:
    """Write the progress of several jobs in one transaction; return those that go on, and tell of the others."""
    running = catalog.jobs.advance([walker.step() for walker in walkers])
    for walker in walkers:
        if walker.job.id not in running:
            lost(walker)
    return [walker for walker in walkers if walker.job.id in running]
