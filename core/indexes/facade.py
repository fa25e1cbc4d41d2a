"""What people do about the stores: compare them with the catalogue, mend them, have them written anew."""

from __future__ import annotations

from core.access import needs
from core.catalog.outbox import KEYWORD
from core.indexes.quarantine import Quarantine
from core.indexes.repair_jobs import RepairJobs
from core.model import FilesCheck, Role, StoreAct, StoreCheck, StoreReport
from core.ports import JobQueue, Progress


class StoreFacade:
    """The part of the knowledge base that knows whether its stores hold what the catalogue says."""

    def __init__(self, repair_jobs: RepairJobs, worker: JobQueue, quarantine: Quarantine) -> None:
        self._repair_jobs = repair_jobs
        self.quarantine = quarantine
        self._worker = worker

    @needs(Role.ADMIN)
    def check(self, store: str | None = None, *, progress: Progress | None = None) -> tuple[StoreCheck, ...]:
        """Compare one store (``vector`` or ``keyword``), or both, with the catalogue; change nothing.

        Raises: ``InvalidInput``. A store that does not answer is told by ``StoreCheck.error``.
        """
        return self._repair_jobs.check(store, progress)

    @needs(Role.ADMIN)
    def check_files(self) -> FilesCheck:
        """Compare originals, uploads and recordings with the catalogue; change nothing.

        Originals that do not answer are told by ``FilesCheck.error``.
        """
        return self._repair_jobs.check_files()

    @needs(Role.ADMIN)
    def repair(self, store: str | None = None, *, dry_run: bool = True, deep: bool = False) -> str:
        """Queue the job that checks, mends what is wrong unless it is a ``dry_run``, and checks again; return its id.

        With ``deep`` it reads every original and parsed text to its end, however long that takes.
        Raises: ``InvalidInput``, also for ``deep`` together with a store.
        """
        return self._begin(StoreAct.CHECK if dry_run else StoreAct.REPAIR, store, deep=deep)

    @needs(Role.ADMIN)
    def reindex(self, store: str | None = None) -> str:
        """Queue the job that writes all rows of a store, or of both, anew while the present ones serve; return its id.

        Raises: ``InvalidInput``.
        """
        return self._begin(StoreAct.REINDEX, store)

    @needs(Role.ADMIN)
    def reindex_elasticsearch(self) -> str:
        """Do what ``reindex`` does for the keyword index, whatever engine it is, as the seed system calls it."""
        return self._begin(StoreAct.REINDEX, KEYWORD)

    @needs(Role.ADMIN)
    def store_report(self, job_id: str | None = None) -> StoreReport:
        """Return what such a job has found and done so far; the newest one's without an id. Raises: ``NotFound``."""
        return self._repair_jobs.report(job_id)

    def _begin(self, act: StoreAct, store: str | None, *, deep: bool = False) -> str:
        job_id = self._repair_jobs.queue(act, store, deep=deep)
        self._worker.wake()
        return job_id
