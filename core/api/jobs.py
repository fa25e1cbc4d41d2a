"""Jobs: the background work of a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.model import Job, JobEvent, JobFilter


class JobsApi(Protocol):
    """Jobs that the caller may see."""

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
        """Return jobs, newest first, after the job ``before``; with ``ids`` those of them that exist.

        ``changed_since`` selects those with a greater ``Job.change``. Raises: ``NotFound`` for ``before``.
        """

    def job(self, job_id: str) -> Job:
        """Return one job. Raises: ``NotFound``."""

    def job_log(self, job_id: str, after: int = 0) -> list[JobEvent]:
        """Return the log of a job after a line, oldest first. Raises: ``NotFound``."""

    def wait(self, job_ids: Sequence[str] | str, timeout_s: float | None = None) -> list[Job]:
        """Return the jobs once all have ended, or as they are after ``timeout_s``."""

    def finish(self, job_id: str | None, timeout_s: float | None = None) -> Job:
        """Wait for a job and return it; its ``version`` is the one that is now there.

        Raises: ``NotFound``, and the error that the job ended with, as an ``EvoRAGError`` with its code.
        """

    def retry(self, job_id: str) -> Job:
        """Queue a failed or cancelled job again. Raises: ``NotFound``, ``Conflict``."""

    def retry_failed(self, filters: JobFilter | None = None) -> list[Job]:
        """Queue all failed jobs of the caller, or of everybody for administrators, again; return them."""

    def cancel(self, job_id: str) -> Job:
        """Stop an active job, and the waiting documents of an archive. Raises: ``NotFound``, ``Conflict``."""

    def prioritise(self, job_id: str, priority: int) -> Job:
        """Move an active job up (to 10) or down (to -10) among its user's. Raises: ``Conflict``, ``InvalidInput``."""
