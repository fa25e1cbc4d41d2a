"""Purges: a version becomes a tombstone in one transaction, and is named here until its last trace is gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, exists, or_, select, update

from core.catalog.documents.publications import Decision, append
from core.catalog.documents.removal import remove_all_chunks, remove_chunks, remove_loose_embeddings, remove_orphans
from core.catalog.engine import Database
from core.catalog.jobs.ledger import end_all
from core.catalog.schema import (
    NOT_A_DRAFT,
    chunks,
    document_tags,
    documents,
    jobs,
    publications,
    version_deltas,
    versions,
)
from core.errors import Conflict, Purged
from core.model import JobState, Publication

_EMPTY: dict[str, Any] = {
    "sha1": "",
    "title": "",
    "note": "",
    "label": "",
    "language": "",
    "metadata": {},
    "error": None,
}


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A purged version whose blobs and traces may still be there."""

    version_id: int
    doc_key: str
    number: int
    blobs: tuple[str, ...]


class Purges:
    def __init__(self, database: Database) -> None:
        self._database = database

    def bury(self, doc_id: int, version_id: int | None, actor: str, note: str) -> Publication:
        """Take the text of a version (of all, for None) out of the catalogue; it is invisible from now on.

        Its jobs are cancelled. Raises: ``Conflict`` where it is shown, or purged already.
        """
        with self._database.write() as tx:
            shown = select(publications.c.version_id).where(publications.c.doc_id == doc_id)
            shown_id = tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1))
            kept = versions.c.doc_id == doc_id, versions.c.state != "purged"
            targets = select(versions.c.id, versions.c.number).where(*kept)
            if version_id is not None:
                own = select(versions.c.number).where(versions.c.id == version_id).scalar_subquery()
                targets = targets.where(or_(versions.c.id == version_id, versions.c.reading_of == own))
            rows = tx.execute(targets.order_by(versions.c.number.desc())).all()
            if not rows:
                raise Conflict("It has been purged already.")
            if version_id is None:
                done = append(tx, Decision(doc_id, None, "purge", actor, note), None)
                remove_all_chunks(tx, doc_id, rows[-1].id)
                tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
            elif version_id == shown_id:
                raise Conflict(
                    f"Version {rows[0].number} is shown now.", remedy="Unpublish it or publish another one, then purge."
                )
            else:
                done = append(tx, Decision(doc_id, shown_id, "purge", actor, note), rows[0].number)
                for row in rows:
                    remove_chunks(tx, row.id)
                    remove_orphans(tx, doc_id, row.id)
            _empty(tx, [row.id for row in rows], actor)
            tx.execute(update(documents).where(documents.c.id == doc_id).values(updated_at=datetime.now(UTC)))
        return done

    def drop(self, version_id: int, actor: str) -> bool:
        """Take another reading of a version out of the catalogue; tell whether it is one that nobody has seen."""
        with self._database.write() as tx:
            seen = exists().where(publications.c.version_id == versions.c.id)
            own = versions.c.id == version_id, versions.c.reading_of.is_not(None), versions.c.state != "purged", ~seen
            row = tx.execute(select(versions.c.doc_id).where(*own)).one_or_none()
            if row is None:
                return False
            remove_chunks(tx, version_id)
            remove_orphans(tx, row.doc_id, version_id)
            _empty(tx, [version_id], actor)
        return True

    def pending(self) -> list[Tombstone]:
        """Return the purged versions whose removal has not been finished."""
        query = (
            select(versions, documents.c.doc_key)
            .join(documents, documents.c.id == versions.c.doc_id)
            .where(versions.c.state == "purged", versions.c.sha256 != "")
        )
        with self._database.read() as tx:
            return [
                Tombstone(row.id, row.doc_key, row.number, tuple(filter(None, (row.sha256, row.parsed_sha256))))
                for row in tx.execute(query)
            ]

    def lost_chunks(self, tombstones: Sequence[Tombstone]) -> list[int]:
        """Return the ids of the chunks that left with the versions, but for those that have come back."""
        ids = [tombstone.version_id for tombstone in tombstones]
        query = select(version_deltas.c.chunk_id).where(
            version_deltas.c.version_id.in_(ids), ~exists().where(chunks.c.id == version_deltas.c.chunk_id)
        )
        with self._database.read() as tx:
            return list(tx.scalars(query.distinct()))

    def remove_embeddings(self) -> None:
        """Remove the embeddings of texts that no chunk has any more."""
        remove_loose_embeddings(self._database)

    def is_named(self, sha256: str) -> bool:
        """Tell whether a version that is kept has its bytes or its parsed text in this blob."""
        named = exists().where(
            versions.c.state != "purged", or_(versions.c.sha256 == sha256, versions.c.parsed_sha256 == sha256)
        )
        with self._database.read() as tx:
            return bool(tx.scalar(select(named)))

    def is_purged(self, version_ids: Collection[int]) -> bool:
        """Tell whether one of these versions was purged."""
        gone = select(versions.c.id).where(versions.c.id.in_(version_ids), versions.c.state == "purged")
        with self._database.read() as tx:
            return tx.scalar(gone.limit(1)) is not None

    def named(self) -> set[str]:
        """Return the names of the blobs that versions which are kept have."""
        query = select(versions.c.sha256, versions.c.parsed_sha256).where(versions.c.state != "purged")
        with self._database.read() as tx:
            return {name for row in tx.execute(query) for name in row if name}

    def finished(self, version_id: int) -> None:
        """Forget the checksums and the ids of the chunks, the last that is known of the purged text."""
        with self._database.write() as tx:
            tx.execute(delete(version_deltas).where(version_deltas.c.version_id == version_id))
            tx.execute(update(versions).where(versions.c.id == version_id).values(sha256="", parsed_sha256=None))


def _empty(tx: Connection, version_ids: list[int], actor: str) -> None:
    tx.execute(
        update(versions)
        .where(versions.c.id.in_(version_ids))
        .values(state="purged", purged_at=datetime.now(UTC), purged_by=actor, **_EMPTY, **NOT_A_DRAFT)
    )
    own = jobs.c.version_id.in_(version_ids)
    end_all(tx, list(tx.scalars(select(jobs.c.id).where(own))), JobState.CANCELLED)
    told = Purged("The document was purged.").as_dict()
    tx.execute(update(jobs).where(own, jobs.c.state == JobState.FAILED).values(error=told))
