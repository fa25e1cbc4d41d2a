"""What is kept of whoever signs in: they see it, take it with them, and have it deleted."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, delete, false, func, select

from core.access import current
from core.catalog.asking_schema import conversations, judged_questions, question_sets, saved_questions
from core.catalog.engine import Database
from core.catalog.questions.own_parts import make_whole
from core.catalog.retention import ENDED, remove_conversations, remove_jobs
from core.catalog.schema import (
    api_keys,
    documents,
    jobs,
    publications,
    questions,
    users,
    versions,
)
from core.model.retention import OwnCounts

_ROUNDS = 1_000


class OwnData:
    """The rows of one user; what they have uploaded and published is the knowledge base's, and stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self) -> OwnCounts:
        """Return how much is kept of whoever acts."""
        user_id, name = _who()
        with self._database.read() as tx:

            def count(query: Select[Any]) -> int:
                return int(tx.scalar(select(func.count()).select_from(query.subquery())) or 0)

            return OwnCounts(
                questions=count(select(questions.c.id).where(_own(questions, user_id))),
                conversations=count(select(conversations.c.id).where(_own(conversations, user_id))),
                jobs=count(select(jobs.c.id).where(jobs.c.actor == name, jobs.c.state.in_(ENDED))),
                documents=count(
                    select(versions.c.doc_id).where(versions.c.actor == name, versions.c.state != "purged").distinct()
                ),
                publications=count(select(publications.c.seq).where(publications.c.actor == name)),
                question_sets=count(select(question_sets.c.id).where(_owned(question_sets, user_id))),
                saved_questions=count(select(saved_questions.c.id).where(_owned(saved_questions, user_id))),
            )

    def export(self) -> str:
        """Return everything that is kept of whoever acts as JSON, without secrets."""
        user_id, name = _who()
        uploads = select(documents.c.doc_key, *(versions.c[each] for each in _OF_VERSIONS)).join(
            versions, versions.c.doc_id == documents.c.id
        )
        published = select(documents.c.doc_key, *(publications.c[each] for each in _OF_PUBLICATIONS)).join(
            publications, publications.c.doc_id == documents.c.id
        )
        queries = {
            "user": _of(users, _OF_USERS).where(users.c.id == user_id),
            "keys": _of(api_keys, _OF_KEYS).where(api_keys.c.user_id == user_id),
            "conversations": _of(conversations, _OF_CONVERSATIONS).where(_own(conversations, user_id)),
            "questions": _of(questions, _OF_QUESTIONS).where(_own(questions, user_id)),
            "question_sets": _of(question_sets, _OF_SETS).where(_owned(question_sets, user_id)),
            "judged_questions": _of(judged_questions, _OF_JUDGED).where(
                judged_questions.c.set_id.in_(select(question_sets.c.id).where(_owned(question_sets, user_id)))
            ),
            "saved_questions": _of(saved_questions, _OF_SAVED).where(_owned(saved_questions, user_id)),
            "jobs": _of(jobs, _OF_JOBS).where(jobs.c.actor == name),
            "uploads": uploads.where(versions.c.actor == name, versions.c.state != "purged"),
            "publications": published.where(publications.c.actor == name),
        }
        with self._database.read() as tx:
            found = {what: [dict(row) for row in tx.execute(query).mappings()] for what, query in queries.items()}
        return json.dumps(found, ensure_ascii=False, indent=2, default=str)

    def delete(self) -> OwnCounts:
        """Delete the questions, conversations and ended jobs of whoever acts; return how much is kept then.

        Private question sets and saved questions go, too. Jobs that can be started again stay, and so do uploads,
        publications and what was shared, which are the knowledge base's.
        """
        user_id, name = _who()
        with self._database.write() as tx:
            own = list(tx.scalars(select(conversations.c.id).where(_own(conversations, user_id))))
            for at in range(0, len(own), 500):
                remove_conversations(tx, own[at : at + 500])
            make_whole(tx, set(tx.scalars(select(questions.c.id).where(_own(questions, user_id)))))
            tx.execute(delete(questions).where(_own(questions, user_id)))
            for table in (question_sets, saved_questions):
                tx.execute(delete(table).where(_owned(table, user_id), table.c.is_shared.is_(False)))
        for _ in range(_ROUNDS):
            with self._database.write() as tx:
                if not remove_jobs(tx, jobs.c.actor == name):
                    break
        return self.counts()


_OF_USERS = ("name", "role", "created_at", "last_seen_at")
_OF_KEYS = ("name", "role", "prefix", "created_at", "expires_at", "last_used_at", "revoked_at")
_OF_CONVERSATIONS = ("id", "title", "created_at", "changed_at")
_OF_QUESTIONS = ("id", "asked_at", "question", "answer", "standalone", "conversation_id", "turn")
_OF_SETS = ("id", "name", "title", "created_at", "is_shared")
_OF_JUDGED = ("set_id", "position", "text", "doc_keys", "answers", "is_answerable")
_OF_SAVED = ("id", "text", "created_at", "is_shared")
_OF_JOBS = ("id", "kind", "name", "state", "size_bytes", "created_at", "finished_at")
_OF_VERSIONS = ("number", "file_name", "size_bytes", "note", "label", "created_at")
_OF_PUBLICATIONS = ("seq", "action", "at", "note")


def _who() -> tuple[int | None, str]:
    """Return whose rows are meant; on a server that is open to anybody, those that are nobody's."""
    return current().user_id, current().name


def _own(table: Table, user_id: int | None) -> ColumnElement[bool]:
    return table.c.owner_id.is_not_distinct_from(user_id)


def _owned(table: Table, user_id: int | None) -> ColumnElement[bool]:
    """Select what is somebody's; what is nobody's is the knowledge base's, also on a server that is open."""
    return table.c.owner_id == user_id if user_id is not None else false()


def _of(table: Table, columns: tuple[str, ...]) -> Select[Any]:
    return select(*(table.c[each] for each in columns))
