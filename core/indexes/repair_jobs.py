"""The jobs that check stores, repair them, or write them anew, and what they have found.

Repair asks the stores for what is wrong through the outbox, as publishing does, so that it can be repeated and crosses
nobody; then it checks again. Writing anew asks for every row, a slice at a time, while the present rows serve.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.access import actor
from core.catalog.jobs.ledger import Attempt, NewJob, Step
from core.catalog.outbox import STORES
from core.errors import Cancelled, EvoRAGError, InvalidInput, NotFound, StoreUnavailable
from core.indexes.consistency import Checker, Faults, Watched
from core.indexes.file_check import FileChecker
from core.model import FilesCheck, JobFilter, JobKind, JobState, Stage, StoreAct, StoreCheck, StoreReport
from core.model.codec import from_dict, to_dict
from core.platform.failpoints import point
from core.ports import Progress

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.projector import Projector
    from core.model import Job

log = logging.getLogger(__name__)

SLICE = 4_000
"""Rows that are asked for at once, between which others may write and the job can stop."""
_TOLD_EVERY_S = 0.5
_STORE_WAIT_S = 2.0
_PLACES = "places"
"""What a job keeps of each store for after an interruption: the last chunk id that was written, and how many rows."""


class Repairing:
    """Runs jobs of kind ``repair``; one that was interrupted goes on behind the last slice that it wrote."""

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
        self._checker = Checker(catalog)

    def check(self, store: str | None, progress: Progress | None = None) -> tuple[StoreCheck, ...]:
        """Compare one store, or all, with the catalogue in the calling thread. Raises: ``InvalidInput``."""
        stores, names = self._stores(), self._names(store)
        return self._checker.named([self._checker.check(name, stores[name], progress)[0] for name in names])

    def check_files(self) -> FilesCheck:
        """Compare the files with the catalogue in the calling thread."""
        return self._files.check()

    def queue(self, act: StoreAct, store: str | None) -> str:
        """Queue a job; return its id, or that of one which waits to do the very same. Raises: ``InvalidInput``."""
        self._names(store)
        wanted = {"act": act.value, "store": store or ""}
        for job in self._catalog.jobs.recent(JobFilter(states=(JobState.QUEUED,), kinds=(JobKind.REPAIR,))):
            payload = self._catalog.jobs.payload(job.id)
            if {name: payload.get(name) for name in wanted} == wanted:
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
        attempt = Attempt(job.id, job.attempts)
        try:
            self._work(attempt, stop)
        except _Stopped:
            return
        except Cancelled:
            self._catalog.jobs.end(job.id, JobState.CANCELLED, version_state="cancelled", attempt=attempt.number)
        except EvoRAGError as error:
            told = error.as_dict()
            self._catalog.jobs.end(job.id, JobState.FAILED, error=told, version_state="failed", attempt=attempt.number)
        else:
            self._catalog.jobs.end(job.id, JobState.DONE, version_state="stored", attempt=attempt.number)

    def _work(self, attempt: Attempt, stop: threading.Event) -> None:
        payload = self._catalog.jobs.payload(attempt.job_id)
        names, tell = self._names(payload["store"] or None), _Telling(self._catalog, attempt, stop)
        if payload["act"] == StoreAct.REINDEX:
            for name in names:
                self._tell_store(name, attempt, tell, afresh=True)
                self._write_anew(name, attempt, payload, tell)
        found = self._checks(names, attempt, tell, waits=payload["act"] != StoreAct.CHECK)
        # What an interrupted attempt has found first is what is told.
        payload.setdefault("before", to_dict([check for check, _ in found.values()]))
        if not payload["store"]:
            payload["files"] = to_dict(self._files.check())
        self._catalog.jobs.set_payload(attempt, payload)
        point("stores.checked")
        if payload["act"] == StoreAct.CHECK:
            return
        for name, (_, faults) in found.items():
            payload["mended"] = payload.get("mended", 0) + self._mend(name, faults, tell)
        if payload.get("mended"):
            point("stores.asked")
            for name in names:
                self._tell_store(name, attempt, tell)
            point("stores.mended")
            payload["after"] = to_dict([check for check, _ in self._checks(names, attempt, tell, waits=True).values()])
        self._catalog.jobs.set_payload(attempt, payload)

    def _checks(
        self, names: Sequence[str], attempt: Attempt, tell: _Telling, *, waits: bool
    ) -> dict[str, tuple[StoreCheck, Faults]]:
        """Check stores; one that does not answer is waited for, or ``StoreUnavailable``: nothing is known then."""
        stores = self._stores()
        found = {name: self._checker.check(name, stores[name], tell) for name in names}
        for name in names:
            while (error := found[name][0].error) and waits:
                tell.wait(_STORE_WAIT_S)
                self._tell_store(name, attempt, tell, afresh=True)
                found[name] = self._checker.check(name, stores[name], tell)
            if error:
                raise StoreUnavailable(error)
        return found

    def _mend(self, store: str, faults: Faults, tell: _Telling) -> int:
        """Ask a store for every row that is wrong, and to delete those that should not be; return how many."""
        ids, making = faults.all(), self._stores()[store].making()
        for at in range(0, len(ids), SLICE):
            tell(at, len(ids))
            self._catalog.consistency.mend(store, ids[at : at + SLICE], making)
        return len(ids)

    def _write_anew(self, store: str, attempt: Attempt, payload: dict[str, Any], tell: _Telling) -> None:
        """Have every row of a store written, from behind the last slice on."""
        places = payload.setdefault(_PLACES, {})
        while True:
            behind, done = places.get(store, (-1, 0))
            tell(done, max(done, self._catalog.consistency.count()))
            added = self._catalog.outbox.add_some(store, behind, SLICE)
            if added is None:
                return
            self._tell_store(store, attempt, tell)
            places[store] = (added[0], done + added[1])
            payload["mended"] = sum(rows for _, rows in places.values())
            self._catalog.jobs.set_payload(attempt, payload)
            point("stores.slice.written")

    def _tell_store(self, store: str, attempt: Attempt, tell: _Telling, *, afresh: bool = False) -> None:
        """Have a store told what waits for it, and wait for one that is down. Raises: as ``_Telling`` does."""
        is_noted = False
        while True:
            tell.again()
            try:
                return self._projector.flush_store(store, afresh=afresh)
            except StoreUnavailable as error:
                log.warning("a job waits for the %s store: %s", store, error.code)
                if not is_noted:
                    is_noted = True
                    self._catalog.jobs.note([attempt.job_id], "waiting_store", Stage.INDEXING, store=error.code)
                tell.wait(_STORE_WAIT_S)

    def _names(self, store: str | None) -> tuple[str, ...]:
        if store is None:
            return STORES
        if store not in STORES:
            raise InvalidInput(f"There is no store “{store}”.", remedy=f"Choose one of: {', '.join(STORES)}.")
        return (store,)


class _Stopped(Exception):
    """The process ends; the job goes on in the next one."""


class _Telling:
    """Notes now and then how far a job is. Raises: ``Cancelled`` once it was, ``_Stopped`` where the process ends."""

    def __init__(self, catalog: Catalog, attempt: Attempt, stop: threading.Event) -> None:
        self._catalog, self._attempt, self._stop = catalog, attempt, stop
        self._told = 0.0
        self._far = (0, 0)

    def again(self) -> None:
        """Note what was noted last."""
        self(*self._far)

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than the process goes on."""
        self._stop.wait(seconds)

    def __call__(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._far = (done, total)
        if (now := time.monotonic()) < self._told + _TOLD_EVERY_S:
            return
        self._told = now
        if not self._catalog.jobs.advance([Step(self._attempt, Stage.INDEXING, done, total)]):
            raise Cancelled("The job was cancelled.")
