"""Which office documents have yet to be held against LibreOffice's layout, and what that has found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from core.catalog.engine import Database
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.events import record
from core.catalog.schema import index_settings, jobs, versions
from core.model import Stage

OFFICE_CHECKED = "office_checked"
_MOST_LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A version whose turn it is; ``waiting`` counts it and those behind it."""

    id: int
    doc_id: int
    waiting: int


class OfficeCheckTable:
    """Goes through versions by their ids, from the one on that was the newest when it was asked first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def next(self, extensions: Collection[str], most_bytes: int) -> Unchecked | None:
        """Return the first version that is to be checked; None while an earlier one is still being read."""
        with self._database.read() as tx:
            kept = _kept(tx)
            behind = _newest(tx) if kept is None else kept
            own = versions.c.id > behind
            columns = versions.c.id, versions.c.doc_id, versions.c.state, versions.c.extension, versions.c.size_bytes
            found = None
            for row in tx.execute(select(*columns).where(own).order_by(versions.c.id).limit(_MOST_LOOKED_AT)):
                if row.state == "stored":
                    break
                if row.state == "ready" and row.extension in extensions and row.size_bytes <= most_bytes:
                    waiting = versions.c.id >= row.id, versions.c.extension.in_(extensions)
                    count = tx.scalar(select(func.count()).select_from(versions).where(*waiting))
                    found = Unchecked(row.id, row.doc_id, int(count or 1))
                    break
                behind = row.id
        if behind != kept:
            self.pass_over(behind)
        return found

    def pass_over(self, version_id: int) -> None:
        """Go on behind a version."""
        with self._database.write() as tx:
            _keep(tx, max(_kept(tx) or 0, version_id))

    def note(self, version_id: int, found: Mapping[str, Any], in_part: str) -> None:
        """Keep what a comparison has found, which the job's log tells, and go on behind the version."""
        with self._database.write() as tx:
            details = tx.scalar(select(versions.c.metadata).where(versions.c.id == version_id)) or {}
            own = update(versions).where(versions.c.id == version_id, versions.c.state == "ready")
            is_there = tx.execute(own.values(metadata={**details, **found})).rowcount
            if in_part and is_there:
                ids = list(tx.scalars(select(jobs.c.id).where(jobs.c.version_id == version_id)))
                record(tx, ids, "in_part", stage=Stage.PARSING, level="warning", values={"pages": in_part})
                tx.execute(update(jobs).where(jobs.c.id.in_(ids)).values(change=next_change(tx)))
            _keep(tx, max(_kept(tx) or 0, version_id))


def _kept(tx: Connection) -> int | None:
    kept = tx.scalar(select(index_settings.c.value).where(index_settings.c.key == OFFICE_CHECKED))
    return None if kept is None else int(kept)


def _newest(tx: Connection) -> int:
    return int(tx.scalar(select(func.max(versions.c.id))) or 0)


def _keep(tx: Connection, behind: int) -> None:
    tx.execute(delete(index_settings).where(index_settings.c.key == OFFICE_CHECKED))
    tx.execute(insert(index_settings).values(key=OFFICE_CHECKED, value=str(behind)))
