"""The log of a job: what happened to it, in words of ours and numbers, never text of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from core.catalog.schema import job_events
from core.model import JobEvent, Stage

KEPT = 1_000
"""How many lines of one job are kept, the newest ones."""


def record(
    tx: Connection,
    job_ids: Sequence[str],
    code: str,
    *,
    stage: Stage = Stage.STORED,
    level: str = "info",
    values: Mapping[str, Any] | None = None,
) -> None:
    """Add one line to the log of each job."""
    now, told = datetime.now(UTC), dict(values or {})
    line = {"at": now, "level": level, "stage": stage, "code": code, "values": told}
    if job_ids:
        tx.execute(insert(job_events), [{"job_id": job_id, **line} for job_id in job_ids])


def shorten(tx: Connection, job_ids: Sequence[str]) -> None:
    """Forget the oldest lines of jobs whose logs have grown too long."""
    for job_id in job_ids:
        own = job_events.c.job_id == job_id
        newest = select(job_events.c.id).where(own).order_by(job_events.c.id.desc())
        last = tx.scalar(newest.offset(KEPT).limit(1))
        if last is not None:
            tx.execute(delete(job_events).where(own, job_events.c.id <= last))


def log(tx: Connection, job_id: str, after: int) -> list[JobEvent]:
    """Return the lines after a sequence number, oldest first."""
    query = select(job_events).where(job_events.c.job_id == job_id, job_events.c.id > after)
    return [_event(row) for row in tx.execute(query.order_by(job_events.c.id).limit(KEPT))]


def interruptions(tx: Connection, job_id: str, stage: Stage, done: int) -> int:
    """Count how often in a row a process died while the job stood at this very place."""
    own = job_events.c.job_id == job_id, job_events.c.code.in_(("interrupted", "retried"))
    rows = select(job_events).where(*own)
    count = 0
    for row in tx.execute(rows.order_by(job_events.c.id.desc()).limit(KEPT)):
        event = _event(row)
        if event.code != "interrupted" or event.stage != stage or event.values.get("done") != done:
            break
        count += 1
    return count


def _event(row: Row[Any]) -> JobEvent:
    # By key: ``values`` is a method of rows.
    told = row._mapping
    return JobEvent(row.id, row.at, row.level, Stage(row.stage), row.code, told["values"] or {})
