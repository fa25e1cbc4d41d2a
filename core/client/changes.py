"""What a client changes: documents, versions, jobs; and the questions that it asks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.client.http import Http, error_of, events, kinds_of_errors, path_of, pause_s, values
from core.client.reading import PAGE, moment_of
from core.errors import EvoRAGError, NotFound, ServerUnreachable
from core.model import (
    AnswerComparison,
    AskStep,
    Document,
    DoneStep,
    Impact,
    Job,
    JobEvent,
    JobFilter,
    JobState,
    Publication,
    Query,
    SavedQuestion,
    Trace,
    Version,
    VersionRef,
    format_as_of,
    step_of,
)
from core.model.codec import from_dict, to_dict

if TYPE_CHECKING:
    from collections.abc import Callable

ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
STREAM_READ_S = 60.0
"""The server says something every 15 seconds; after so long it has gone."""
STREAM_ATTEMPTS = 3
POLL_S = 0.5
FIRST_POLL_S = 0.05


class DocumentWriter:
    """The part of the client that changes documents and versions; the server knows who acts, whatever ``actor`` is."""

    _http: Http

    def publish(self, key: str, version: int, actor: str = "", note: str = "") -> Publication:
        """Show a version from now on. Raises: ``Conflict``."""
        return self._done("documents", key, "versions", version, "publish", body={"note": note})

    def rollback(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Show an older version again: by default the one shown before the present one. Raises: ``Conflict``."""
        body = {"note": note} if version is None else {"version": version, "note": note}
        return self._done("documents", key, "rollback", body=body)

    def unpublish(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document, which stays listed, from now on. Raises: ``Conflict``."""
        return self._done("documents", key, "unpublish", body={"note": note})

    def delete(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document from now on, and list it no longer; ``restore`` undoes it."""
        return self._done("documents", key, "delete", body={"note": note})

    def restore(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show again what a deleted or unpublished document showed last. Raises: ``Conflict``."""
        return self._done("documents", key, "restore", body={"note": note})

    def purge(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Remove text, vectors and bytes of a version (of all versions, for None) for good; a tombstone stays."""
        body: dict[str, Any] = {"confirm": key, "note": note}
        return self._done("documents", key, "purge", body=body if version is None else body | {"version": version})

    def annotate(self, key: str, version: int, *, note: str | None = None, label: str | None = None) -> Version:
        """Give a version another note or label; None leaves it."""
        said = {name: text for name, text in (("note", note), ("label", label)) if text is not None}
        if not said:
            return from_dict(Version, self._http.get(path_of("documents", key, "versions", version)))
        path = path_of("documents", key, "versions", version)
        return from_dict(Version, self._http.call("PATCH", path, json=said, again=True).json())

    def schedule(self, key: str, version: int, at: datetime | None, actor: str = "") -> Version:
        """Publish a version by itself at a moment, or no longer (None). Raises: ``InvalidInput``, ``Conflict``."""
        path = path_of("documents", key, "versions", version, "schedule")
        if at is None:
            return from_dict(Version, self._http.call("DELETE", path).json())
        return from_dict(Version, self._http.call("PUT", path, json={"at": moment_of(at)}).json())

    def set_tags(self, key: str, tags: Sequence[str]) -> Document:
        path = path_of("documents", key, "tags")
        return from_dict(Document, self._http.call("PUT", path, json={"tags": list(tags)}).json())

    def _done(self, *parts: object, body: Mapping[str, Any]) -> Publication:
        return from_dict(Publication, self._http.post(path_of(*parts), body))


class JobClient:
    """The part of the client that knows what the server is working on."""

    _http: Http

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
        """Return jobs, newest first, from the one after ``before`` on; with ``ids`` those of them that exist."""
        given = _job_params(filters or JobFilter()) | {
            "active": "1" if active else None,
            "changed_since": changed_since,
        }
        if ids is not None:
            wanted_ids = list(ids)
            parts = [wanted_ids[at : at + 100] for at in range(0, len(wanted_ids), 100)]
            return [job for part in parts for job in self._jobs(**given, ids=",".join(part))]
        found: list[Job] = []
        while len(found) < limit:
            page = self._jobs(**given, limit=min(limit - len(found), PAGE), before=before)
            found += page
            if len(page) < PAGE:
                break
            before = page[-1].id
        return found

    def job(self, job_id: str) -> Job:
        """Raises: ``NotFound``."""
        return job_of(self._http.get(path_of("jobs", job_id)))

    def job_log(self, job_id: str, after: int = 0) -> list[JobEvent]:
        """Return what happened to the job after a line of its log, oldest first. Raises: ``NotFound``."""
        return values(JobEvent, self._http.get(path_of("jobs", job_id, "log"), after=after)["events"])

    def cancel(self, job_id: str) -> Job:
        """Stop an active job; its version is never shown. Raises: ``Conflict``."""
        return job_of(self._http.post(path_of("jobs", job_id, "cancel")))

    def retry(self, job_id: str) -> Job:
        """Queue a failed or cancelled job again. Raises: ``Conflict``."""
        return job_of(self._http.post(path_of("jobs", job_id, "retry")))

    def retry_failed(self, filters: JobFilter | None = None) -> list[Job]:
        """Queue all failed jobs again that can be; return them."""
        given = {name: value for name, value in _job_params(filters or JobFilter()).items() if value}
        return [job_of(row) for row in self._http.post(path_of("jobs", "retry-failed"), given)["jobs"]]

    def prioritise(self, job_id: str, priority: int) -> Job:
        """Have an active job worked on earlier (up to 10) or later (down to -10)."""
        return job_of(self._http.post(path_of("jobs", job_id, "priority"), {"priority": priority}, again=True))

    def wait(self, job_ids: Sequence[str] | str, timeout_s: float | None = None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over. Raises: ``NotFound``."""
        wanted = [job_ids] if isinstance(job_ids, str) else list(job_ids)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        found: dict[str, Job] = {}
        waiting, pause = wanted, FIRST_POLL_S
        while True:
            now = {job.id: job for job in self.jobs(ids=waiting)}
            found |= now | {key: self.job(key) for key in waiting if key not in now}
            waiting = [key for key in waiting if found[key].state not in ENDED]
            left = None if deadline is None else deadline - time.monotonic()
            if not waiting or (left is not None and left <= 0):
                return [found[key] for key in wanted]
            time.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 1.5, POLL_S)

    def finish(self, job_id: str | None, timeout_s: float | None = None) -> Job:
        """Wait for the job of an upload and return it; its ``version`` is the one that now stands.

        Raises: ``NotFound``, and the error that it ended with.
        """
        if job_id is None:
            raise NotFound("There is no job to wait for.")
        jobs = self.wait([job_id], timeout_s)
        return raised(jobs[0] if jobs else self.job(job_id))

    def progress(self, job_id: str) -> Iterator[Job]:
        """Yield the job at once, at every change, and as it ended; where events do not come through, ask again.

        Raises: ``NotFound``.
        """
        seen, is_over = -1, False
        for attempt in range(STREAM_ATTEMPTS):
            with contextlib.suppress(ServerUnreachable):
                for job in self._streamed_progress(job_id, seen):
                    seen, is_over = job.change, job.state in ENDED
                    yield job
                if is_over:
                    return
            time.sleep(pause_s(attempt))
        while not is_over:
            job = self.job(job_id)
            is_over = job.state in ENDED
            if job.change > seen or is_over:
                seen = job.change
                yield job
            time.sleep(0 if is_over else POLL_S)

    def _streamed_progress(self, job_id: str, seen: int) -> Iterator[Job]:
        """Yield what the stream says. Raises: ``ServerUnreachable`` where it breaks off or there is no room for it."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": str(seen)} if seen >= 0 else {})
        path = path_of("jobs", job_id, "events")
        try:
            with self._http.streamed("GET", path, headers=headers, read_s=STREAM_READ_S) as response:
                if response.status_code == 204:
                    yield self.job(job_id)
                    return
                for _, name, data in events(response):
                    if name == "job":
                        yield job_of(data)
                    elif name == "end":
                        return
                    elif name == "error":
                        raise ServerUnreachable(str(data.get("detail")))
        except EvoRAGError as error:
            if error.status in (429, 503):
                raise ServerUnreachable(error.message) from error
            raise

    def _jobs(self, **params: Any) -> list[Job]:
        return [job_of(row) for row in self._http.get(path_of("jobs"), **params)["jobs"]]


class QuestionClient:
    """The part of the client that asks questions."""

    _http: Http

    def ask(self, query: Query | str, *, keep: bool = True) -> Trace:
        """Search and answer; the trace is kept in the history unless ``keep`` is false.

        Read as events, because a generator may be silent for longer than ``timeout_s`` while it loads or writes.
        """
        for step in self.ask_events(query, keep=keep):
            if isinstance(step, DoneStep):
                return step.trace
        raise ServerUnreachable("The server ended its answer too early.")

    def ask_events(self, query: Query | str, *, keep: bool = True) -> Iterator[AskStep]:
        """Answer as ``ask`` does, and yield each step at once."""
        headers = {"Accept": "text/event-stream"}
        body = _recorded(query) | {"keep": keep}
        with self._http.streamed("POST", path_of("ask"), json=body, headers=headers) as response:
            for _, name, data in events(response):
                if name == "error":
                    raise error_of(data, int(data.get("status", 500)))
                step = step_of(name, data)
                if step is not None:
                    yield step

    def search(self, query: Query | str) -> Trace:
        """Search without answering; the history does not keep it."""
        return from_dict(Trace, self._http.post(path_of("search"), asked(query), again=True))

    def compare_answers(
        self, question: str, old: VersionRef, new: VersionRef, *, alone: bool = True, top_k: int | None = None
    ) -> AnswerComparison:
        """Ask one question of two versions; ``alone`` of nothing else, else beside all other documents as shown."""
        body = {"question": question, "old": to_dict(old), "new": to_dict(new), "alone": alone}
        body |= {} if top_k is None else {"top_k": top_k}
        return from_dict(AnswerComparison, self._http.post(path_of("compare-answers"), body, again=True))

    def impact(
        self,
        key: str,
        version: int,
        questions: Sequence[SavedQuestion],
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Impact]:
        """Yield what publishing the version would change in the answers to saved questions."""
        wanted = {question.id for question in questions}
        after, done = None, 0
        while True:
            page = self._http.get(path_of("documents", key, "versions", version, "impact"), after=after, limit=10)
            for row in page["impacts"]:
                if row["question"]["id"] in wanted:
                    done += 1
                    if progress is not None:
                        progress(done, len(wanted))
                    yield from_dict(Impact, row)
            after = page["next"]
            if after is None:
                return


_OPTIONS = ("generator", "rerank", "recency", "read_filters", "dismissed", "syntax", "fresh", "conversation_id", "zone")


def asked(query: Query | str) -> dict[str, Any]:
    """Return a query as the body of a request; what a plain question leaves out is the server's choice."""
    if isinstance(query, str):
        return {"question": query}
    filters = {name: value for name, value in to_dict(query.filters).items() if value}
    # What a query leaves to the settings is left to those of the server.
    plain = Query(query.text)
    more = {name: to_dict(getattr(query, name)) for name in _OPTIONS if getattr(query, name) != getattr(plain, name)}
    return {
        "question": query.text,
        "top_k": query.top_k,
        "depth": query.depth,
        "fusion": query.fusion,
        "alpha": query.alpha,
        "per_document": query.per_document,
        "versions": query.versions,
        "filters": filters,
        **more,
    } | ({} if query.as_of is None else {"as_of": format_as_of(query.as_of)})


def _recorded(query: Query | str) -> dict[str, Any]:
    """Return a question as the body of a request; only one that is answered can be recorded."""
    return asked(query) | ({"record": True} if isinstance(query, Query) and query.record else {})


def job_of(data: Mapping[str, Any]) -> Job:
    """Return a job from its JSON; its error has the keys that it has in the ledger."""
    job = from_dict(Job, data)
    if job.error and "message" not in job.error:
        told = {name: value for name, value in job.error.items() if name not in ("detail", "title")}
        status = kinds_of_errors().get(str(job.error.get("code")), EvoRAGError).status
        job = replace(job, error={"status": status, **told, "message": job.error.get("detail", "")})
    return job


def raised(job: Job) -> Job:
    """Return a job that ended well. Raises: the error that it ended with."""
    if job.error:
        error = job.error
        raise EvoRAGError(str(error["message"]), remedy=str(error.get("remedy", "")), code=str(error["code"]))
    return job


def _job_params(filters: JobFilter) -> dict[str, Any]:
    return {
        "state": ",".join(filters.states),
        "kind": ",".join(filters.kinds),
        "actor": filters.actor,
        "search": filters.search,
        "doc": filters.doc_key,
        "parent": filters.parent_id,
    } | ({} if filters.ids is None else {"ids": ",".join(filters.ids)})
