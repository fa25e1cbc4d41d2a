"""The job ledger: background work, its stage and counts, kept so that a restart can go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, update

from core.catalog.engine import Database
from core.catalog.schema import documents, jobs, publications, versions
from core.errors import Cancelled, Conflict, NotFound, Purged
from core.model import Job, JobState, Stage

ACTIVE = (JobState.QUEUED, JobState.RUNNING)


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


class Jobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def recent(self, *, active: bool = False, limit: int = 200, ids: Sequence[str] | None = None) -> list[Job]:
        """Return jobs, newest first."""
        query = _rows().order_by(jobs.c.created_at.desc(), jobs.c.id).limit(limit)
        if active:
            query = query.where(jobs.c.state.in_(ACTIVE))
        if ids is not None:
            query = query.where(jobs.c.id.in_(ids))
        with self._database.read() as tx:
            return [_job(row) for row in tx.execute(query)]

    def get(self, job_id: str) -> Job:
        with self._database.read() as tx:
            row = tx.execute(_rows().where(jobs.c.id == job_id)).one_or_none()
        if row is None:
            raise NotFound(f"There is no job {job_id[:64]!r}.")
        return _job(row)

    def owner(self, job_id: str) -> tuple[int, int]:
        """Return the ids of the document and the version that the job works on."""
        with self._database.read() as tx:
            row = tx.execute(select(jobs.c.doc_id, jobs.c.version_id).where(jobs.c.id == job_id)).one()
        return row.doc_id, row.version_id

    def take(self, limit: int, max_bytes: int) -> list[Job]:
        """Mark the oldest queued jobs as running and return them: one of any size, or several up to ``max_bytes``."""
        oldest = (
            select(jobs.c.id, versions.c.size_bytes)
            .join(versions, versions.c.id == jobs.c.version_id)
            .where(jobs.c.state == JobState.QUEUED)
            .order_by(jobs.c.created_at, jobs.c.id)
            .limit(limit)
        )
        ids: list[str] = []
        size_bytes = 0
        with self._database.write() as tx:
            for row in tx.execute(oldest.with_for_update(skip_locked=True, of=jobs)).all():
                size_bytes += row.size_bytes
                if ids and size_bytes > max_bytes:
                    break
                ids.append(row.id)
            if not ids:
                return []
            tx.execute(
                update(jobs)
                .where(jobs.c.id.in_(ids))
                .values(state=JobState.RUNNING, attempts=jobs.c.attempts + 1, updated_at=datetime.now(UTC))
            )
            rows = tx.execute(_rows().where(jobs.c.id.in_(ids)).order_by(jobs.c.created_at, jobs.c.id)).all()
        return [_job(row) for row in rows]

    def progress(
        self, job_id: str, stage: Stage, done: int, total: int, stage_seconds: Mapping[str, float] | None = None
    ) -> None:
        values: dict[str, Any] = {"stage": stage, "done": done, "total": total, "updated_at": datetime.now(UTC)}
        if stage_seconds is not None:
            values["stage_seconds"] = dict(stage_seconds)
        with self._database.write() as tx:
            tx.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.state == JobState.RUNNING).values(**values))

    def end(
        self,
        job_id: str,
        state: JobState,
        *,
        error: Mapping[str, Any] | None = None,
        version_state: str,
        attempt: int | None = None,
    ) -> JobState | None:
        """End an active job together with its version; return what state it had, None where it had ended before.

        With ``attempt`` only that one is ended, while it runs.
        """
        with self._database.write() as tx:
            row = tx.execute(select(jobs.c.version_id, jobs.c.state, jobs.c.attempts).where(jobs.c.id == job_id)).one()
            if row.state not in ACTIVE:
                return None
            if attempt is not None and (row.state != JobState.RUNNING or row.attempts != attempt):
                return None
            plain = dict(error) if error is not None else None
            tx.execute(
                update(jobs).where(jobs.c.id == job_id).values(state=state, error=plain, updated_at=datetime.now(UTC))
            )
            tx.execute(update(versions).where(versions.c.id == row.version_id).values(state=version_state, error=plain))
        return JobState(row.state)

    def requeue(self, job_id: str) -> None:
        """Queue a failed or cancelled job again. Raises: ``Conflict`` unless its version is the document's newest."""
        with self._database.write() as tx:
            row = tx.execute(select(jobs).where(jobs.c.id == job_id)).one()
            if row.state not in (JobState.FAILED, JobState.CANCELLED):
                raise Conflict(f"The job is {row.state}; only failed or cancelled jobs can be started again.")
            state = tx.scalar(select(versions.c.state).where(versions.c.id == row.version_id))
            if state == "purged":
                raise Purged("What the job worked on was purged.")
            if state not in ("failed", "cancelled"):
                raise Conflict("The same file was uploaded again since, and has another job.")
            newest = tx.scalar(select(func.max(versions.c.id)).where(versions.c.doc_id == row.doc_id))
            if newest != row.version_id:
                raise Conflict("A newer version of this document has been uploaded since.")
            tx.execute(
                update(jobs)
                .where(jobs.c.id == job_id)
                .values(state=JobState.QUEUED, error=None, stage=Stage.STORED, updated_at=datetime.now(UTC))
            )
            # Asked for anew: what happened to the document meanwhile does not stand against it.
            present = tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0)))
            tx.execute(
                update(versions)
                .where(versions.c.id == row.version_id)
                .values(state="stored", error=None, claimed_seq=present)
            )

    def requeue_interrupted(self) -> int:
        """Queue again what was running when the last process ended; return how many jobs that were."""
        with self._database.write() as tx:
            result = tx.execute(update(jobs).where(jobs.c.state == JobState.RUNNING).values(state=JobState.QUEUED))
        return int(result.rowcount)

    def active_of(self, doc_id: int) -> list[str]:
        with self._database.read() as tx:
            return list(tx.scalars(select(jobs.c.id).where(jobs.c.doc_id == doc_id, jobs.c.state.in_(ACTIVE))))


def _rows() -> Select[Any]:
    return (
        select(jobs, documents.c.doc_key, documents.c.name, versions.c.number)
        .join(documents, documents.c.id == jobs.c.doc_id)
        .join(versions, versions.c.id == jobs.c.version_id)
    )


def _job(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        state=JobState(row.state),
        stage=Stage(row.stage),
        done=row.done,
        total=row.total,
        doc_key=row.doc_key,
        version=row.number,
        name=row.name,
        attempts=row.attempts,
        created_at=row.created_at,
        updated_at=row.updated_at,
        error=row.error,
        stage_seconds=row.stage_seconds or {},
    )
