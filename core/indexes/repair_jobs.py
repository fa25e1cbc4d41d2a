"""The jobs that check stores, repair them, or write them anew, and what they have found.

Repair asks the stores for what is wrong through the outbox, as publishing does, so that it can be repeated and crosses
nobody; then it checks again. Writing anew asks for every row, a slice at a time, while the present rows serve.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from core.access import actor
from core.catalog.jobs.ledger import NewJob, Step
from core.catalog.jobs.stage_run import StageResult, StageRun, run_stage
from core.catalog.outbox import STORES
from core.errors import Cancelled, EvoRAGError, InvalidInput, NotFound, StoreUnavailable
from core.indexes.consistency import ConsistencyChecker, Faults, Watched
from core.indexes.file_check import FileChecker
from core.model import FilesCheck, JobFilter, JobKind, JobState, Stage, StoreAct, StoreCheck, StoreReport
from core.model.codec import from_dict, to_dict
from core.platform.failpoints import failpoint
from core.platform.retrying import Stopped
from core.ports import Progress

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.projector import Projector
    from core.model import Job

T = TypeVar("T")

SLICE = 4_000
"""Rows that are asked for at once, between which others may write and the job can stop."""
_TOLD_EVERY_S = 0.5
_PLACES = "places"
"""What a job keeps of each store for after an interruption: the last chunk id that was written, and how many rows."""


class RepairJobs:
    """Runs jobs of kind ``repair``; one that was interrupted goes on behind the last slice that it wrote."""

    work = ""

    def __init__(
        self,
        catalog: Catalog,
        projector: Projector,
        stores: Callable[[], Mapping[str, Watched]],
        files: FileChecker,
    ) -> None:
        self._catalog = catalog
        self._files = files
        self._projector = projector
        self._stores = stores
        self._checker = ConsistencyChecker(catalog)

    def check(self, store: str | None, progress: Progress | None = None) -> tuple[StoreCheck, ...]:
        """Compare one store, or all, with the catalogue in the calling thread. Raises: ``InvalidInput``."""
        stores, names = self._stores(), self._names(store)
        return self._checker.named([self._checker.check(name, stores[name], progress)[0] for name in names])

    def check_files(self) -> FilesCheck:
        """Compare the files with the catalogue in the calling thread."""
        return self._files.check()

    def queue(self, act: StoreAct, store: str | None, *, deep: bool = False) -> str:
        """Queue a job; return its id, or that of one which waits to do the very same. Raises: ``InvalidInput``."""
        self._names(store)
        if deep and store:
            raise InvalidInput("The files are read where both stores are checked.", remedy="Name no store.")
        wanted: dict[str, Any] = {"act": act.value, "store": store or "", **({"deep": True} if deep else {})}
        for job in self._catalog.jobs.recent(JobFilter(states=(JobState.QUEUED,), kinds=(JobKind.REPAIR,))):
            payload = self._catalog.jobs.payload(job.id)
            if {name: payload.get(name) for name in (*wanted, "deep")} == {"deep": None} | wanted:
                return job.id
        name = f"{act.value} {store or 'all stores'}"
        return self._catalog.jobs.add(NewJob(JobKind.REPAIR, name, 0, actor=actor(), payload=wanted))

    def report(self, job_id: str | None) -> StoreReport:
        """Return what a job has found and done so far; the newest one's without an id. Raises: ``NotFound``."""
        jobs = self._catalog.jobs.recent(
            JobFilter(kinds=(JobKind.REPAIR,), ids=None if job_id is None else (job_id,)), limit=1
        )
        if not jobs:
            raise NotFound("There is no such check of the stores." if job_id else "The stores were never checked.")
        kept = {name: value for name, value in self._catalog.jobs.payload(jobs[0].id).items() if name != _PLACES}
        found = from_dict(StoreReport, {"job_id": jobs[0].id, "state": jobs[0].state, **kept})
        return replace(
            found,
            before=self._checker.named(found.before),
            after=self._checker.named(found.after),
            files=None if found.files is None else self._files.named(found.files),
        )

    def run(self, job: Job, stop: threading.Event) -> None:
        """Work on a job until it has ended, or until ``stop`` is set: then it stays for the next start."""
        run = StageRun(self._catalog.jobs, job, stop)
        if run_stage(self._work, run, self):
            self._catalog.jobs.end(job.id, JobState.DONE, version_state="stored", attempt=run.attempt.number)

    def cancelled(self, run: StageRun) -> None:
        number = run.attempt.number
        self._catalog.jobs.end(run.job.id, JobState.CANCELLED, version_state="cancelled", attempt=number)

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        told, number = error.as_dict(), run.attempt.number
        self._catalog.jobs.end(run.job.id, JobState.FAILED, error=told, version_state="failed", attempt=number)

    def _work(self, run: StageRun) -> StageResult:
        run.begin(Stage.INDEXING)
        attempt = run.attempt
        payload = self._catalog.jobs.payload(attempt.job_id)
        names, tell = self._names(payload["store"] or None), _Telling(self._catalog, run)
        if payload["act"] == StoreAct.REINDEX:
            for name in names:
                self._tell_store(name, tell, afresh=True)
                self._write_anew(name, payload, tell)
        found = self._checks(names, tell, waits=payload["act"] != StoreAct.CHECK)
        # What an interrupted attempt has found first is what is told.
        payload.setdefault("before", to_dict([check for check, _ in found.values()]))
        if not payload["store"]:
            payload["files"] = to_dict(self._files.check(tell if payload.get("deep") else None))
        self._catalog.jobs.set_payload(attempt, payload)
        failpoint("stores.checked")
        if payload["act"] == StoreAct.CHECK:
            return StageResult()
        for name, (_, faults) in found.items():
            payload["mended"] = payload.get("mended", 0) + self._mend(name, faults, tell)
        if not payload["store"] and self._files.mend():
            payload["files"] = to_dict(self._files.check())
        if payload.get("mended"):
            failpoint("stores.asked")
            for name in names:
                self._tell_store(name, tell)
            failpoint("stores.mended")
            payload["after"] = to_dict([check for check, _ in self._checks(names, tell, waits=True).values()])
        self._catalog.jobs.set_payload(attempt, payload)
        return StageResult()

    def _checks(self, names: Sequence[str], tell: _Telling, *, waits: bool) -> dict[str, tuple[StoreCheck, Faults]]:
        """Check stores; one that does not answer is waited for, or ``StoreUnavailable``: nothing is known then."""
        stores = self._stores()

        def checked(name: str) -> tuple[StoreCheck, Faults]:
            found = self._checker.check(name, stores[name], tell)
            if found[0].error:
                raise StoreUnavailable(found[0].error)
            return found

        def told_and_checked(name: str) -> tuple[StoreCheck, Faults]:
            self._projector.flush_store(name, afresh=True)
            return checked(name)

        found = {}
        for name in names:
            try:
                found[name] = checked(name)
            except StoreUnavailable:
                if not waits:
                    raise
                found[name] = tell.waiting(partial(told_and_checked, name))
        return found

    def _mend(self, store: str, faults: Faults, tell: _Telling) -> int:
        """Ask a store for every row that is wrong, and to delete those that should not be; return how many."""
        ids, making = faults.all(), self._stores()[store].making()
        for at in range(0, len(ids), SLICE):
            tell(at, len(ids))
            self._catalog.consistency.mend(store, ids[at : at + SLICE], making)
        return len(ids)

    def _write_anew(self, store: str, payload: dict[str, Any], tell: _Telling) -> None:
        """Have every row of a store written, from behind the last slice on."""
        places = payload.setdefault(_PLACES, {})
        while True:
            behind, done = places.get(store, (-1, 0))
            tell(done, max(done, self._catalog.consistency.count()))
            added = self._catalog.outbox.add_some(store, behind, SLICE)
            if added is None:
                return
            self._tell_store(store, tell)
            places[store] = (added[0], done + added[1])
            payload["mended"] = sum(rows for _, rows in places.values())
            self._catalog.jobs.set_payload(tell.attempt, payload)
            failpoint("stores.slice.written")

    def _tell_store(self, store: str, tell: _Telling, *, afresh: bool = False) -> None:
        """Have a store told what waits for it, and wait for one that is down. Raises: as ``_Telling`` does."""
        tell.again()
        tell.waiting(partial(self._projector.flush_store, store, afresh=afresh))

    def _names(self, store: str | None) -> tuple[str, ...]:
        if store is None:
            return STORES
        if store not in STORES:
            raise InvalidInput(f"There is no store “{store}”.", remedy=f"Choose one of: {', '.join(STORES)}.")
        return (store,)


class _Telling:
    """Notes now and then how far a job is. Raises: ``Cancelled`` once it was, ``Stopped`` where the process ends."""

    def __init__(self, catalog: Catalog, run: StageRun) -> None:
        self._catalog, self._run = catalog, run
        self.attempt = run.attempt
        self._told = 0.0
        self._far = (0, 0)

    def again(self) -> None:
        """Note what was noted last."""
        self(*self._far)

    def waiting(self, act: Callable[[], T]) -> T:
        """Do something, however long a store does not answer."""
        return self._run.wait_for_store(act)

    def __call__(self, done: int, total: int) -> None:
        if self._run.is_stopped:
            raise Stopped
        self._far = (done, total)
        if (now := time.monotonic()) < self._told + _TOLD_EVERY_S:
            return
        self._told = now
        if not self._catalog.jobs.advance([Step(self.attempt, Stage.INDEXING, done, total)]):
            raise Cancelled("The job was cancelled.")
