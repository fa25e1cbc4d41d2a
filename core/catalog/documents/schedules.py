"""Schedules: which version is to be published by itself, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from core.catalog.engine import Database
from core.catalog.schema import publications, versions
from core.errors import Conflict


@dataclass(frozen=True, slots=True)
class Due:
    """A version whose moment has come, and who scheduled it."""

    doc_id: int
    version_id: int
    at: datetime
    actor: str


class Schedules:
    def __init__(self, database: Database) -> None:
        self._database = database

    def set(self, version_id: int, at: datetime | None, actor: str) -> None:
        """Schedule a version, or no longer; one that is still being indexed becomes a draft.

        Raises: ``Conflict`` where it is shown, or can never be, or its document is deleted.
        """
        with self._database.write() as tx:
            row = tx.execute(select(versions).where(versions.c.id == version_id)).one()
            shown = select(publications.c.version_id).where(publications.c.doc_id == row.doc_id)
            if at is not None and tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1)) == version_id:
                raise Conflict(f"Version {row.number} is shown already.")
            if row.state not in ("ready", "stored"):
                raise Conflict(f"Version {row.number} is {row.state} and cannot be shown.")
            if at is not None and _is_deleted(tx, row.doc_id):
                raise Conflict("The document is deleted.", remedy="Restore it first.")
            is_draft = row.is_draft or (at is not None and row.state == "stored")
            values = {"publish_at": at, "publish_actor": actor if at is not None else "", "is_draft": is_draft}
            tx.execute(update(versions).where(versions.c.id == version_id).values(**values))

    def due(self, now: datetime) -> list[Due]:
        """Return what is indexed and was to be published by ``now``, in order."""
        query = (
            select(versions)
            .where(versions.c.publish_at <= now, versions.c.state == "ready")
            .order_by(versions.c.publish_at, versions.c.id)
        )
        with self._database.read() as tx:
            return [Due(row.doc_id, row.id, row.publish_at, row.publish_actor) for row in tx.execute(query)]

    def next(self) -> datetime | None:
        """Return the earliest moment at which something that is indexed is to be published."""
        waiting = versions.c.publish_at.is_not(None), versions.c.state == "ready"
        with self._database.read() as tx:
            moment: datetime | None = tx.scalar(select(func.min(versions.c.publish_at)).where(*waiting))
        return moment


def _is_deleted(tx: Connection, doc_id: int) -> bool:
    """Tell whether a document was deleted, and nothing uploaded to it since."""
    decided = (publications.c.action != "purge") | publications.c.subject.is_(None)
    last = select(publications.c.seq, publications.c.action).where(publications.c.doc_id == doc_id, decided)
    decision = tx.execute(last.order_by(publications.c.seq.desc()).limit(1)).one_or_none()
    if decision is None or decision.action != "delete":
        return False
    newest = select(versions.c.claimed_seq).where(
        versions.c.doc_id == doc_id, versions.c.state.not_in(("cancelled", "purged"))
    )
    return (tx.scalar(newest.order_by(versions.c.number.desc()).limit(1)) or 0) < int(decision.seq)
