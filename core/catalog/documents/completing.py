"""Going on with a version that a cancellation, a deletion or a failure has left without some of its vectors."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from core.catalog.jobs.ledger import NewJob, queue, requeue
from core.catalog.jobs.listing import ACTIVE
from core.catalog.schema import documents, jobs, publications, versions
from core.errors import Conflict
from core.model import JobKind, JobState


def complete(tx: Connection, version: Row[Any]) -> None:
    """Have a version that is shown again embedded to its end, where it lacks vectors and nobody is at it."""
    if version.embedded_chunks < version.chunk_count and not _has_job(tx, version.id):
        index_again(tx, version)


def index_again(tx: Connection, version: Row[Any]) -> None:
    """Queue the job of a version again that ended before its time, or a new one where the ledger has kept none."""
    ended = (JobState.CANCELLED, JobState.FAILED)
    own = jobs.c.version_id == version.id, jobs.c.state.in_(ended), jobs.c.kind == JobKind.INGEST
    job_id = tx.scalar(select(jobs.c.id).where(*own).order_by(jobs.c.created_at.desc()).limit(1))
    if job_id is not None:
        # Of no use where another version has come since, or all of it is embedded.
        with suppress(Conflict):
            requeue(tx, job_id, anew=True)
            return
    if version.state != "ready":
        # What happened to the document meanwhile does not stand against it.
        newest = tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0)))
        stored = {"state": "stored", "error": None, "claimed_seq": newest}
        tx.execute(update(versions).where(versions.c.id == version.id).values(**stored))
    owner = select(documents.c.owner_id).where(documents.c.id == version.doc_id)
    new = NewJob(
        kind=JobKind.INGEST,
        name=version.file_name,
        size_bytes=version.size_bytes,
        actor=version.actor,
        owner_id=tx.scalar(owner),
        doc_id=version.doc_id,
        version_id=version.id,
    )
    queue(tx, new, datetime.now(UTC))


def _has_job(tx: Connection, version_id: int) -> bool:
    active = jobs.c.version_id == version_id, jobs.c.state.in_(ACTIVE)
    return tx.scalar(select(jobs.c.id).where(*active).limit(1)) is not None
