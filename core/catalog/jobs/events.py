"""The log of a job: what happened to it, in words of ours and numbers, never text of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    record_all(tx, [LogLine(job_id, code, stage, values or {}, level) for job_id in job_ids])


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line for the log of a job."""

    job_id: str
    code: str
    stage: Stage
    values: Mapping[str, Any] = field(default_factory=dict)
    level: str = "info"


def record_all(tx: Connection, lines: Sequence[LogLine]) -> None:
    """Add lines to the logs of jobs, in their order."""
    now = datetime.now(UTC)
    rows = [
        {
            "job_id": line.job_id,
            "at": now,
            "level": line.level,
            "stage": line.stage,
            "code": line.code,
            "values": dict(line.values),
        }
        for line in lines
    ]
    if rows:
        tx.execute(insert(job_events), rows)


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
