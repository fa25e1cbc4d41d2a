"""Retention: how long questions, conversations, ended jobs and the names in the audit are kept.

A few rows go in each transaction, so that nobody waits. What versions need stays: jobs that can be started again, and
publications, of which only the names and notes go, since they say what was shown when.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, or_, select, update

from core.catalog.asking_schema import conversations
from core.catalog.engine import Database
from core.catalog.questions.own_parts import make_whole
from core.catalog.schema import jobs, publications, questions, versions
from core.model import JobKind, JobState
from core.model.retention import RetentionDays

_AT_ONCE = 500
_ROUNDS = 20
ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Retention:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.days = RetentionDays()

    def apply(self, now: datetime | None = None) -> dict[str, int]:
        """Remove what is older than it is to be kept, at most 10,000 rows of each kind; return how many went."""
        now = now or datetime.now(UTC)
        acts = {
            "questions": (self.days.questions, _forget_questions),
            "conversations": (self.days.conversations, _forget_conversations),
            "jobs": (self.days.jobs, _forget_jobs),
            "audit": (self.days.audit, _forget_names),
        }
        removed = {}
        for name, (days, forget) in acts.items():
            removed[name] = 0
            for _ in range(_ROUNDS if days else 0):
                with self._database.write() as tx:
                    count = forget(tx, now - timedelta(days=days))
                removed[name] += count
                if count < _AT_ONCE:
                    break
        return removed


def _forget_questions(tx: Connection, before: datetime) -> int:
    """Remove questions with their accounts and kept answers; those of a conversation go with it."""
    old = select(questions.c.id).where(questions.c.asked_at < before, questions.c.conversation_id.is_(None))
    ids = list(tx.scalars(old.limit(_AT_ONCE)))
    _remove_questions(tx, ids)
    return len(ids)


def _remove_questions(tx: Connection, ids: list[str]) -> None:
    make_whole(tx, set(ids))
    tx.execute(delete(questions).where(questions.c.id.in_(ids)))


def _forget_conversations(tx: Connection, before: datetime) -> int:
    """Remove conversations in which nothing was asked since, with their questions."""
    old = select(conversations.c.id).where(conversations.c.changed_at < before)
    ids = list(tx.scalars(old.limit(_AT_ONCE)))
    remove_conversations(tx, ids)
    return len(ids)


def remove_conversations(tx: Connection, ids: list[str]) -> None:
    """Remove conversations with their questions."""
    _remove_questions(tx, list(tx.scalars(select(questions.c.id).where(questions.c.conversation_id.in_(ids)))))
    tx.execute(delete(conversations).where(conversations.c.id.in_(ids)))


def _forget_jobs(tx: Connection, before: datetime) -> int:
    return remove_jobs(tx, jobs.c.finished_at < before)


def remove_jobs(tx: Connection, *conditions: ColumnElement[bool]) -> int:
    """Remove at most 500 jobs with their logs that have ended, and that nobody can start again; return how many."""
    lacks = or_(
        versions.c.state.in_(("stored", "failed", "cancelled")), versions.c.embedded_chunks < versions.c.chunk_count
    )
    is_needed = exists().where(versions.c.id == jobs.c.version_id, lacks)
    old = select(jobs.c.id, jobs.c.kind, jobs.c.payload).where(jobs.c.state.in_(ENDED), ~is_needed, *conditions)
    rows = tx.execute(old.limit(_AT_ONCE)).all()
    # The row of an archive that may be unpacked again names its bytes.
    ids = [row.id for row in rows if not (row.kind == JobKind.UNPACK and (row.payload or {}).get("sha256"))]
    tx.execute(delete(jobs).where(jobs.c.id.in_(ids)))
    return len(ids)


def _forget_names(tx: Connection, before: datetime) -> int:
    """Remove from old publications who made them, and their notes."""
    told = or_(publications.c.actor != "", publications.c.note != "")
    old = select(publications.c.seq).where(and_(publications.c.at < before, told)).limit(_AT_ONCE)
    seqs = list(tx.scalars(old))
    tx.execute(update(publications).where(publications.c.seq.in_(seqs)).values(actor="", note=""))
    return len(seqs)
