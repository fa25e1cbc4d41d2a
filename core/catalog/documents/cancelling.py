"""Cancelling: a job ends, and what it had shown early is hidden, in one transaction."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from core.catalog.documents.placing import place
from core.catalog.documents.publications import Decision, append, number_of, showing
from core.catalog.engine import Database
from core.catalog.jobs.ledger import end
from core.catalog.jobs.listing import ACTIVE
from core.catalog.schema import documents, jobs, publications
from core.model import JobState, Part


class Cancelling:
    def __init__(self, database: Database) -> None:
        self._database = database

    def cancel(self, job_id: str) -> JobState | None:
        """End an active job, and hide its document where that has shown nothing but what the job still embeds.

        Return what state the job had, None where it had ended before, with which nothing is hidden. Raises:
        ``Conflict`` where the version is shown in the place of an earlier one.
        """
        with self._database.write() as tx:
            _withdraw(tx, job_id)
            return end(tx, job_id, JobState.CANCELLED, version_state="cancelled")


def _withdraw(tx: Connection, job_id: str) -> None:
    job = select(jobs.c.doc_id, jobs.c.version_id, jobs.c.actor).where(jobs.c.id == job_id, jobs.c.state.in_(ACTIVE))
    row = tx.execute(job).one_or_none()
    if row is None or row.version_id is None:
        return
    of_document = publications.c.doc_id == row.doc_id, publications.c.version_id.is_not(None)
    ever = set(tx.scalars(select(publications.c.version_id).where(*of_document)))
    if ever != {row.version_id} or showing(tx, row.doc_id).version_id != row.version_id:
        return
    append(tx, Decision(row.doc_id, None, "unpublish", row.actor), number_of(tx, row.version_id))
    place(tx, row.version_id, None, Part.HISTORY)
    tx.execute(update(documents).where(documents.c.id == row.doc_id).values(updated_at=datetime.now(UTC)))
