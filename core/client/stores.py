"""What a client asks about a server's stores: ``KnowledgeBase.check``, ``repair`` and ``reindex`` over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from core.client.changes import job_of
from core.client.http import Http, error_of, path_of
from core.errors import Cancelled
from core.model import FilesCheck, Job, JobState, StoreCheck, StoreReport
from core.model.codec import from_dict

if TYPE_CHECKING:
    from core.ports import Progress

_POLL_S = 0.2


class StoreClient:
    """The part of the client that compares and mends stores; the methods are those of the knowledge base."""

    _http: Http

    def check(self, store: str | None = None, *, progress: Progress | None = None) -> tuple[StoreCheck, ...]:
        """Compare one store, or both, with the catalogue. Raises: what kept the server's job from doing it."""
        job_id = self.repair(store)
        while (job := self._job(job_id)).state in (JobState.QUEUED, JobState.RUNNING):
            if progress is not None and job.total:
                progress(job.done, job.total)
            time.sleep(_POLL_S)
        if job.error is not None:
            raise error_of({**job.error, "detail": job.error["message"]}, job.error["status"])
        if job.state is JobState.CANCELLED:
            raise Cancelled("The check was cancelled.")
        return self.store_report(job_id).before

    def check_files(self) -> FilesCheck:
        """Compare the server's files with its catalogue. Raises: ``NotFound`` from earlier releases."""
        return from_dict(FilesCheck, self._http.get(path_of("stores", "files")))

    def repair(self, store: str | None = None, *, dry_run: bool = True, deep: bool = False) -> str:
        """Have a check made and, unless it is a ``dry_run``, what is wrong mended; return the job's id."""
        # Servers of earlier releases know nothing of ``deep``.
        return self._queue("repair", store, dry_run=dry_run, **({"deep": True} if deep else {}))

    def reindex(self, store: str | None = None) -> str:
        """Have every row of a store, or of both, written anew; return the job's id."""
        return self._queue("reindex", store)

    def reindex_elasticsearch(self) -> str:
        """Have every row of the keyword index written anew; return the job's id."""
        return self.reindex("keyword")

    def store_report(self, job_id: str | None = None) -> StoreReport:
        """Return what such a job has found and done so far; the newest one's without an id. Raises: ``NotFound``."""
        return from_dict(StoreReport, self._http.get(path_of("stores", "report"), job_id=job_id))

    def _job(self, job_id: str) -> Job:
        return job_of(self._http.get(path_of("jobs", job_id)))

    def _queue(self, act: str, store: str | None, **more: Any) -> str:
        given = {**more, **({} if store is None else {"store": store})}
        return str(self._http.post(path_of("stores", act), given)["job_id"])
