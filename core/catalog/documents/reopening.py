"""Restoring what a deletion had stopped: documents of which nothing was shown yet."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from core.catalog.documents.completing import index_again
from core.catalog.documents.publications import Decision, append, showing
from core.catalog.engine import Database
from core.catalog.schema import IS_CURRENT, documents, publications, versions
from core.errors import Conflict
from core.model import Publication


class Reopening:
    def __init__(self, database: Database) -> None:
        self._database = database

    def reopen(self, doc_id: int, actor: str, note: str) -> Publication:
        """List a deleted document again that has shown nothing, and index the version that its deletion had cancelled.

        Raises: ``Conflict`` where it was not deleted, no version is kept, or one is shown by now.
        """
        newest = select(versions).where(versions.c.doc_id == doc_id, versions.c.state != "purged", IS_CURRENT)
        with self._database.write() as tx:
            if showing(tx, doc_id).version_id is not None:
                raise Conflict("The document is shown; there is nothing to restore.")
            version = tx.execute(newest.order_by(versions.c.number.desc()).limit(1)).one_or_none()
            if version is None:
                raise Conflict(
                    "There is nothing to bring back: no version of the document is kept.",
                    remedy="Upload the file again.",
                )
            if not _is_deleted(tx, doc_id):
                raise Conflict("The document was not deleted; there is nothing to restore.")
            done = append(tx, Decision(doc_id, None, "restore", actor, note), version.number)
            if version.state == "cancelled":
                index_again(tx, version)
            tx.execute(update(documents).where(documents.c.id == doc_id).values(updated_at=datetime.now(UTC)))
        return done


def _is_deleted(tx: Connection, doc_id: int) -> bool:
    own = select(publications.c.action).where(publications.c.doc_id == doc_id)
    return tx.scalar(own.order_by(publications.c.seq.desc()).limit(1)) == "delete"
