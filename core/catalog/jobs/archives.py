"""Archives in the job ledger: which bytes their jobs still need."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select, update

from core.catalog.documents.leftovers import FileKind, drop
from core.catalog.engine import Database
from core.catalog.jobs.ledger import NewJob, queue
from core.catalog.schema import jobs
from core.model import JobKind, JobState

_ACTIVE = (JobState.QUEUED, JobState.RUNNING)
_UNREADABLE = 422


@dataclass(frozen=True, slots=True)
class KeptArchive:
    """An archive's job that names its bytes; ``is_needed`` while it works or may be started again."""

    job_id: str
    sha256: str
    is_needed: bool


class Archives:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, new: NewJob, mark_filed: Callable[[Connection, str, bool], None]) -> tuple[str, bool]:
        """Queue the job of an archive, or find the active one of the same bytes under this name by the same user.

        One of which something else is said, as that its documents are drafts, has a job of its own. Return its id,
        and whether it is new; ``mark_filed`` is called with them within the transaction.
        """
        payload = new.payload or {}
        wanted = (new.name, new.actor, new.owner_id, payload.get("sha256"), _said(payload))
        with self._database.write() as tx:
            active = tx.execute(_named().where(jobs.c.state.in_(_ACTIVE))).all()
            same = [row.id for row in active if _known(row) == wanted]
            job_id = same[0] if same else queue(tx, new, datetime.now(UTC))
            drop(tx, FileKind.BLOB, [str(payload.get("sha256", ""))])
            mark_filed(tx, job_id, not same)
        return job_id, not same

    def kept(self, failed_since: datetime) -> list[KeptArchive]:
        """Return the archives that the ledger names; those that failed before a moment are not needed any more."""
        with self._database.read() as tx:
            return list(_kept(tx.execute(_named()).all(), failed_since))

    def is_named(self, sha256: str) -> bool:
        """Tell whether a job has these bytes."""
        with self._database.read() as tx:
            return any(_sha256(row) == sha256 for row in tx.execute(_named()))

    def forget(self, job_id: str) -> None:
        """Take the bytes' name from a job."""
        with self._database.write() as tx:
            tx.execute(update(jobs).where(jobs.c.id == job_id).values(payload={}))


def _named() -> Select[Any]:
    return select(jobs).where(jobs.c.kind == JobKind.UNPACK, jobs.c.payload.is_not(None))


def _known(row: Row[Any]) -> tuple[Any, ...]:
    return row.name, row.actor, row.owner_id, _sha256(row), _said(row.payload or {})


def _said(payload: Mapping[str, Any]) -> str:
    return json.dumps(payload.get("filing"), sort_keys=True)


def _sha256(row: Row[Any]) -> str:
    return str((row.payload or {}).get("sha256", ""))


def _kept(rows: Sequence[Row[Any]], failed_since: datetime) -> Iterator[KeptArchive]:
    for row in rows:
        if _sha256(row):
            # What a document's own bytes made fail would fail again.
            again = row.state == JobState.FAILED and (row.error or {}).get("status") != _UNREADABLE
            needed = row.state in _ACTIVE or (again and row.updated_at > failed_since)
            yield KeptArchive(row.id, _sha256(row), needed)
