"""What people do with background work: watch it, wait for it, stop it, start it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core import access
from core.access import needs
from core.errors import Conflict, EvoRAGError, InvalidInput, NotFound
from core.model import Job, JobEvent, JobFilter, JobState, Role

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.jobs.estimates import Estimates
    from core.ports import JobQueue

_ALL = JobFilter()
_FAILED = JobFilter(states=(JobState.FAILED,))
_MOST = 1_000
_PRIORITIES = range(-10, 11)


class JobFacade:
    """The part of the knowledge base that knows what is being worked on; everyone sees the jobs of what they see."""

    def __init__(self, catalog: Catalog, worker: JobQueue, estimates: Estimates) -> None:
        self._catalog = catalog
        self._worker = worker
        self._estimates = estimates

    @needs(Role.READER)
    def jobs(
        self,
        filters: JobFilter | None = None,
        *,
        active: bool = False,
        limit: int = 200,
        ids: Sequence[str] | None = None,
        before: str | None = None,
        changed_since: int | None = None,
    ) -> list[Job]:
        """Return jobs, newest first, from the one after the job ``before`` on; with ``ids`` those of them that exist.

        ``changed_since`` leaves out what has not changed after that number (``Job.change``).
        """
        found = self._catalog.jobs.recent(
            filters or _ALL, active=active, limit=limit, ids=ids, before=before, changed_since=changed_since
        )
        return self._estimates.told(found)

    @needs(Role.READER)
    def job(self, job_id: str) -> Job:
        """Raises: ``NotFound``."""
        return self._estimates.told([self._catalog.jobs.get(job_id)])[0]

    @needs(Role.READER)
    def job_counts(self, filters: JobFilter | None = None) -> dict[JobState, int]:
        """Return how many jobs are in each state."""
        return self._catalog.jobs.counts(filters or _ALL)

    @needs(Role.READER)
    def job_log(self, job_id: str, after: int = 0) -> list[JobEvent]:
        """Return what happened to the job after a line of its log, oldest first. Raises: ``NotFound``."""
        return self._catalog.jobs.log(job_id, after)

    @needs(Role.READER)
    def jobs_changed(self, seen: int, timeout_s: float) -> int:
        """Return the newest change of any job once it is beyond ``seen``, or when the time is over."""
        return self._worker.changed(seen, timeout_s)

    @needs(Role.READER)
    def wait(self, job_ids: Sequence[str] | str, timeout_s: float | None = None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over."""
        ids = [job_ids] if isinstance(job_ids, str) else job_ids
        return self._estimates.told(self._worker.wait(ids, timeout_s))

    @needs(Role.READER)
    def finish(self, job_id: str | None, timeout_s: float | None = None) -> Job:
        """Wait for the job of an upload and return it; its ``version`` is the one that now stands.

        Raises: ``NotFound``, and the error that it ended with, as an ``EvoRAGError``.
        """
        if job_id is None:
            raise NotFound("There is no job to wait for.")
        job = self.wait([job_id], timeout_s)[0]
        if job.error:
            raise EvoRAGError(str(job.error["message"]), remedy=str(job.error["remedy"]), code=str(job.error["code"]))
        return job

    @needs(Role.EDITOR)
    def retry(self, job_id: str) -> Job:
        """Queue a failed or cancelled job again. Raises: ``Conflict`` where it is of no use."""
        return self._estimates.told([self._worker.retry(job_id)])[0]

    @needs(Role.EDITOR)
    def retry_failed(self, filters: JobFilter | None = None) -> list[Job]:
        """Queue all failed jobs again that can be, of oneself, or of everybody for administrators; return them.

        None of them shows a document again that was hidden since.
        """
        who = access.current()
        failed = replace(filters or _ALL, states=_FAILED.states)
        if not access.sees_all(who):
            failed = replace(failed, actor=who.name)
        again, before = [], None
        while found := self._catalog.jobs.recent(failed, limit=_MOST, before=before):
            for job in found:
                try:
                    again.append(self._worker.retry(job.id, anew=False))
                except Conflict:
                    continue
            before = found[-1].id
        return self._estimates.told(again)

    @needs(Role.EDITOR)
    def cancel(self, job_id: str) -> Job:
        """Stop an active job; its version is never shown, and an archive's documents that wait are cancelled as well.

        Raises: ``Conflict`` once its version is shown.
        """
        return self._estimates.told([self._worker.cancel(job_id)])[0]

    @needs(Role.EDITOR)
    def prioritise(self, job_id: str, priority: int) -> Job:
        """Have an active job worked on earlier (up to 10) or later (down to -10) than its user's others.

        Raises: ``Conflict`` where it has ended, ``InvalidInput``.
        """
        if isinstance(priority, bool) or not isinstance(priority, int) or priority not in _PRIORITIES:
            raise InvalidInput("A priority is a whole number from -10 to 10.")
        return self._estimates.told([self._worker.prioritise(job_id, priority)])[0]
