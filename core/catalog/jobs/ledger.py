"""The job ledger: background work, its stages and counts, kept so that a restart can go on."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, exists, func, insert, literal, or_, select, update

from core import access
from core.catalog.beside import CHANGES
from core.catalog.columns import Instant
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.events import LogLine, interruptions, record, record_all, shorten
from core.catalog.jobs.job_scheduler import Choice, choose, is_any
from core.catalog.jobs.leases import Lease, clock, lost, too_long
from core.catalog.jobs.listing import ACTIVE, JobLists, rows_of
from core.catalog.schema import IS_CURRENT, jobs, publications, version_chunks, versions
from core.errors import Cancelled, Conflict, EvoRAGError, NotFound, Purged
from core.model import Job, JobKind, JobState, Stage

__all__ = ["ACTIVE", "Attempt", "Choice", "Jobs", "Lease", "NewJob", "Step", "end_all", "queue"]

_MOST_INTERRUPTIONS = 5


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a job; a job that is started again has another one, which the former must not disturb."""

    job_id: str
    number: int

    def check(self, tx: Connection) -> None:
        """Raises: ``Cancelled`` where this is not the running attempt."""
        row = tx.execute(select(jobs.c.state, jobs.c.attempts).where(jobs.c.id == self.job_id)).one()
        if row.state != JobState.RUNNING or row.attempts != self.number:
            raise Cancelled("The job was cancelled.")


def running_among(tx: Connection, attempts: Sequence[Attempt]) -> set[Attempt]:
    """Return those of the attempts that are the running ones."""
    query = select(jobs.c.id, jobs.c.attempts).where(jobs.c.state == JobState.RUNNING)
    rows = tx.execute(query.where(jobs.c.id.in_([attempt.job_id for attempt in attempts])))
    return {Attempt(row.id, row.attempts) for row in rows}.intersection(attempts)


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work that is to be done; of a version, or of what ``payload`` says."""

    kind: JobKind
    name: str
    size_bytes: int
    actor: str = ""
    owner_id: int | None = None
    priority: int = 0
    parent_id: str | None = None
    doc_id: int | None = None
    version_id: int | None = None
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Where an attempt stands; ``finished`` is the stage that ended with this step, if any."""

    attempt: Attempt
    stage: Stage
    done: int = 0
    total: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, float] = field(default_factory=dict)
    finished: Stage | None = None

    def values(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "stage_seconds": dict(self.seconds),
            "stage_counts": dict(self.counts),
            "resources": dict(self.resources),
            "updated_at": datetime.now(UTC),
        }

    def lines(self) -> list[LogLine]:
        """Return what the log is to say of the stage that ended."""
        if self.finished is None:
            return []
        told = {"seconds": self.seconds.get(self.finished, 0.0), "count": self.counts.get(self.finished, 0)}
        return [LogLine(self.attempt.job_id, "stage", self.finished, told)]


class Jobs(JobLists):
    """The ledger as the queue and the pipeline write it."""

    def add(self, new: NewJob) -> str:
        """Queue a job; return its id."""
        with self._database.write() as tx:
            return queue(tx, new, datetime.now(UTC))

    def take(self, choice: Choice, lease: Lease | None = None) -> list[Job]:
        """Mark the jobs whose turn it is as running, by the one who has the lease, and return them, in turn."""
        with self._database.read() as tx:
            if not is_any(tx, choice):
                return []
        with self._database.write() as tx:
            ids = choose(tx, choice)
            if not ids:
                return []
            now = datetime.now(UTC)
            taken = {"state": JobState.RUNNING, "attempts": jobs.c.attempts + 1, "updated_at": now}
            first = {
                "started_at": func.coalesce(jobs.c.started_at, literal(now, Instant())),
                "change": next_change(tx),
            }
            by = lease.values(tx) if lease else {}
            tx.execute(update(jobs).where(jobs.c.id.in_(ids)).values(**taken, **first, **by))
            record(tx, ids, "started")
            return rows_of(tx, ids)

    def advance(self, steps: Sequence[Step]) -> set[str]:
        """Note where attempts stand; return the ids of the jobs whose attempt still is the running one."""

        def act(tx: Connection) -> set[str]:
            running = running_among(tx, [step.attempt for step in steps])
            write_steps(tx, [step for step in steps if step.attempt in running])
            return {attempt.job_id for attempt in running}

        return self._database.beside(lambda _: {CHANGES}, act)

    def note(self, job_ids: Sequence[str], code: str, stage: Stage, **values: Any) -> None:
        """Add a warning to the logs of jobs."""

        def act(tx: Connection) -> None:
            record(tx, job_ids, code, stage=stage, level="warning", values=values)
            tx.execute(update(jobs).where(jobs.c.id.in_(job_ids)).values(change=next_change(tx)))

        self._database.beside(lambda _: {CHANGES}, act)

    def is_running(self, attempt: Attempt) -> bool:
        """Tell whether this attempt is the running one."""
        own = jobs.c.id == attempt.job_id, jobs.c.attempts == attempt.number, jobs.c.state == JobState.RUNNING
        with self._database.read() as tx:
            return tx.scalar(select(jobs.c.id).where(*own)) is not None

    def running(self, attempts: Sequence[Attempt]) -> set[Attempt]:
        """Return those of the attempts that are the running ones."""
        with self._database.read() as tx:
            return running_among(tx, attempts)

    def set_payload(self, attempt: Attempt, payload: Mapping[str, Any]) -> None:
        """Keep what a job without a document works on. Raises: ``Cancelled`` where the attempt is over."""
        with self._database.write() as tx:
            attempt.check(tx)
            tx.execute(update(jobs).where(jobs.c.id == attempt.job_id).values(payload=dict(payload)))

    def end(
        self,
        job_id: str,
        state: JobState,
        *,
        error: Mapping[str, Any] | None = None,
        version_state: str,
        attempt: int | None = None,
    ) -> JobState | None:
        """End an active job, as the function ``end`` does, in a transaction of its own."""
        with self._database.write() as tx:
            return end(tx, job_id, state, error=error, version_state=version_state, attempt=attempt)

    def requeue(self, job_id: str, *, anew: bool = True) -> None:
        """Queue a failed or cancelled job again.

        With ``anew`` its version is shown whatever happened to the document since. Raises: ``NotFound``; ``Conflict``
        where its version has a newer one, unless it is shown and lacks embeddings.
        """
        with self._database.write() as tx:
            requeue(tx, job_id, anew=anew)

    def prioritise(self, job_id: str, priority: int) -> None:
        """Give an active job another priority. Raises: ``Conflict`` where it has ended."""
        active = update(jobs).where(jobs.c.id == job_id, jobs.c.state.in_(ACTIVE))
        with self._database.write() as tx:
            if not tx.execute(active.values(priority=priority, change=next_change(tx))).rowcount:
                raise Conflict("The job has ended.")

    def put_back(self, job_ids: Sequence[str], lease: Lease | None = None) -> None:
        """Queue again what this process was working on and leaves to the next one; only its own, with a lease."""
        running = update(jobs).where(jobs.c.id.in_(job_ids), jobs.c.state == JobState.RUNNING)
        if lease is not None:
            running = running.where(jobs.c.worker == lease.worker)
        with self._database.write() as tx:
            tx.execute(running.values(state=JobState.QUEUED, change=next_change(tx)))

    def renew(self, lease: Lease, held: Collection[str]) -> None:
        """Say that this process lives and works on these jobs.

        What it has taken without having learnt that, since the catalogue went away meanwhile, is renewed by nobody.
        """
        own = jobs.c.worker == lease.worker, jobs.c.state == JobState.RUNNING, jobs.c.id.in_(held)
        with self._database.write() as tx:
            tx.execute(update(jobs).where(*own).values(**lease.values(tx)))

    def requeue_lost(self, lease_s: float) -> int:
        """Queue again what workers had that have said nothing for too long; return how many jobs that were.

        Leases that end later than any can, since the clock was set back, end in ``lease_s`` seconds from now on.
        """
        with self._database.read() as tx:
            is_late = tx.scalar(select(jobs.c.id).where(too_long(tx, lease_s)).limit(1)) is not None
            is_lost = tx.scalar(select(jobs.c.id).where(lost(tx)).limit(1)) is not None
        if is_late:
            with self._database.write() as tx:
                until = clock(tx) + timedelta(seconds=lease_s)
                tx.execute(update(jobs).where(too_long(tx, lease_s)).values(leased_until=until))
        return self._requeue_running(only_lost=True) if is_lost else 0

    def is_waiting(self, large: bool | None = None) -> bool:
        """Tell whether any job is queued, of large files or others where it is chosen."""
        with self._database.read() as tx:
            return is_any(tx, Choice(1, 0, large))

    def requeue_interrupted(self) -> None:
        """Queue again what was running when the last process ended; a job at which process after process died fails."""
        self._requeue_running(only_lost=False)

    def _requeue_running(self, *, only_lost: bool) -> int:
        failed = []
        with self._database.write() as tx:
            running = lost(tx) if only_lost else jobs.c.state == JobState.RUNNING
            rows = tx.execute(select(jobs).where(running)).all()
            for row in rows:
                stage = Stage(row.stage)
                record(tx, [row.id], "interrupted", stage=stage, level="warning", values={"done": row.done})
                if interruptions(tx, row.id, stage, row.done) >= _MOST_INTERRUPTIONS:
                    failed.append(row)
            ids = [row.id for row in rows if row not in failed]
            queued = {"state": JobState.QUEUED, "change": next_change(tx)} if rows else {}
            for at in range(0, len(ids), 500):
                tx.execute(update(jobs).where(jobs.c.id.in_(ids[at : at + 500])).values(**queued))
            shorten(tx, [row.id for row in rows if row.attempts > 100])
        for row in failed:
            told = _interrupted().as_dict()
            self.end(row.id, JobState.FAILED, error=told, version_state="failed", attempt=row.attempts)
        return len(rows)

    def left_behind(self) -> list[int]:
        """Return the ids of failed and cancelled versions that still have what was to be removed with their ends."""
        has_chunks = exists().where(version_chunks.c.version_id == versions.c.id)
        was_shown = exists().where(publications.c.version_id == versions.c.id)
        failed = and_(versions.c.state == "failed", has_chunks)
        cancelled = and_(versions.c.state == "cancelled", or_(has_chunks, versions.c.parsed_sha256.is_not(None)))
        with self._database.read() as tx:
            return list(tx.scalars(select(versions.c.id).where(or_(failed, cancelled), ~was_shown)))


def write_steps(tx: Connection, steps: Sequence[Step], **also: Any) -> None:
    """Note where running attempts stand, with other columns of their jobs."""
    if steps:
        change = next_change(tx)
        own = update(jobs).where(jobs.c.id == bindparam("of"))
        tx.execute(own, [{"of": step.attempt.job_id, **step.values(), "change": change, **also} for step in steps])
        record_all(tx, [line for step in steps for line in step.lines()])


def queue(tx: Connection, new: NewJob, now: datetime) -> str:
    """Write a new job into the ledger; return its id."""
    return queue_all(tx, [new], [now])[0]


def queue_all(tx: Connection, news: Sequence[NewJob], moments: Sequence[datetime]) -> list[str]:
    """Write new jobs of these moments into the ledger; return their ids."""
    change = next_change(tx)
    ids = [secrets.token_hex(16) for _ in news]
    rows = [
        {
            "id": job_id,
            "state": JobState.QUEUED,
            "stage": Stage.STORED,
            "created_at": at,
            "updated_at": at,
            "change": change,
            **{name: getattr(new, name) for name in new.__slots__},
        }
        for job_id, new, at in zip(ids, news, moments, strict=True)
    ]
    tx.execute(insert(jobs), rows)
    record(tx, ids, "queued")
    return ids


def requeue(tx: Connection, job_id: str, *, anew: bool) -> None:
    """Queue a failed or cancelled job again. Raises: as ``Jobs.requeue`` does."""
    row = tx.execute(select(jobs).where(jobs.c.id == job_id)).one()
    if row.state not in (JobState.FAILED, JobState.CANCELLED):
        raise Conflict(f"The job is {row.state}; only failed or cancelled jobs can be started again.")
    if row.version_id is not None:
        _requeue_version(tx, row, anew)
    again = {"state": JobState.QUEUED, "error": None, "stage": Stage.STORED, "done": 0, "total": 0}
    moments = {"started_at": None, "finished_at": None, "updated_at": datetime.now(UTC)}
    tx.execute(update(jobs).where(jobs.c.id == job_id).values(**again, **moments, change=next_change(tx)))
    record(tx, [job_id], "retried", values={"by": access.current().name})


def end(
    tx: Connection,
    job_id: str,
    state: JobState,
    *,
    error: Mapping[str, Any] | None = None,
    version_state: str,
    attempt: int | None = None,
) -> JobState | None:
    """End an active job, and with it its version where that is still being indexed.

    Return what state the job had, None where it had ended before. With ``attempt`` only that one is ended, while it
    runs. Raises: ``Conflict`` for cancelling what is shown already.
    """
    row = tx.execute(select(jobs).where(jobs.c.id == job_id)).one()
    if row.state not in ACTIVE:
        return None
    if attempt is not None and (row.state != JobState.RUNNING or row.attempts != attempt):
        return None
    if state == JobState.CANCELLED and _is_shown(tx, row.doc_id, row.version_id):
        raise Conflict(
            "The version is shown already; only its embedding goes on.",
            remedy="Publish another version or unpublish the document, then cancel; purge it to leave nothing.",
        )
    end_all(tx, [job_id], JobState(state), error)
    own = versions.c.id == row.version_id, versions.c.state == "stored"
    told = None if error is None else dict(error)
    tx.execute(update(versions).where(*own).values(state=version_state, error=told))
    return JobState(row.state)


def end_all(tx: Connection, job_ids: Sequence[str], state: JobState, error: Mapping[str, Any] | None = None) -> None:
    """End jobs that have not ended, and note it in their logs."""
    now = datetime.now(UTC)
    ended = {"state": state, "error": None if error is None else dict(error), "updated_at": now, "finished_at": now}
    active = jobs.c.id.in_(job_ids), jobs.c.state.in_(ACTIVE)
    rows = tx.execute(select(jobs.c.id, jobs.c.stage).where(*active)).all()
    tx.execute(update(jobs).where(*active).values(**ended, change=next_change(tx)))
    told = {"code": error["code"]} if error is not None else {}
    for row in rows:
        level = "error" if state == JobState.FAILED else "info"
        record(tx, [row.id], state.value, stage=Stage(row.stage), level=level, values=told)


def _is_shown(tx: Connection, doc_id: int | None, version_id: int | None) -> bool:
    last = select(publications.c.version_id).where(publications.c.doc_id == doc_id).order_by(publications.c.seq.desc())
    return version_id is not None and tx.scalar(last.limit(1)) == version_id


def _requeue_version(tx: Connection, job: Row[Any], anew: bool) -> None:
    version = tx.execute(select(versions).where(versions.c.id == job.version_id)).one_or_none()
    if version is None:
        raise NotFound("The version is gone.")
    if version.state == "purged":
        raise Purged("What the job worked on was purged.")
    stored: dict[str, Any] = {"state": "stored", "error": None}
    if anew:
        # What happened to the document meanwhile does not stand against it.
        stored["claimed_seq"] = tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0)))
    own = update(versions).where(versions.c.id == version.id).values(**stored)
    if version.state == "ready" and version.publish_early and version.embedded_chunks < version.chunk_count:
        if anew and not _is_shown(tx, version.doc_id, version.id):
            tx.execute(own)
        return
    if version.state not in ("failed", "cancelled"):
        raise Conflict("The same file was uploaded again since, and has another job.")
    newest = tx.scalar(select(func.max(versions.c.id)).where(versions.c.doc_id == version.doc_id, IS_CURRENT))
    if version.number > 0 and newest != version.id:
        raise Conflict("A newer version of this document has been uploaded since.")
    tx.execute(own)


def _interrupted() -> EvoRAGError:
    return EvoRAGError(
        f"The server ended {_MOST_INTERRUPTIONS} times in a row while it worked on this.",
        remedy="Look at the server's log for what ended it, then start the job again.",
        code="interrupted",
    )
