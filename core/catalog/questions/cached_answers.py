"""Kept answers: which question of the history answers another one that asks the same of the same documents.

An entry holds for one view of the documents, which its ``sequence`` and its scope name: what is published later has
another sequence number, so that no entry outlives what it was made from. Those that rest on a document that changes
leave in the same transaction, and with every purge all of them do.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select

from core.catalog.asking_schema import cached_answers, cached_documents
from core.catalog.documents.views import LACKS_VECTORS
from core.catalog.engine import Database, inserted_id
from core.catalog.outbox import REFILL, waits_to_serve
from core.catalog.people.second_factors import FACTOR_DEMANDED
from core.catalog.questions.packing import CHECKSUM
from core.catalog.schema import index_settings, jobs, outbox, publications, questions, versions


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What a kept answer is found by.

    ``question`` and ``names`` are SHA-256 of the question and of its figures and names, ``scope`` of everything else
    that changes an answer; ``vector`` is the question's in half precision, where there is one.
    """

    question: bytes
    scope: bytes
    language: str
    names: bytes
    sequence: int
    vector: bytes | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept answer: the question of the history that has it."""

    trace_id: str
    vector: bytes | None
    checksum: bytes | None = None
    """Of the account that is kept of it, where that was looked at."""


# Statements are written out once: to make one costs as much as to run it.
_NOW = select(
    select(func.coalesce(func.max(publications.c.seq), 0)).scalar_subquery().label("sequence"),
    waits_to_serve.label("waiting"),
    exists(versions.c.id).where(LACKS_VECTORS).label("late"),
)
_MADE_BY = (
    select(index_settings.c.key, index_settings.c.value)
    .where(index_settings.c.key.not_like(f"{REFILL}%"), index_settings.c.key != FACTOR_DEMANDED)
    .order_by(index_settings.c.key)
)
_same = (
    cached_answers.c.question_hash == bindparam("question"),
    cached_answers.c.scope_hash == bindparam("scope"),
    cached_answers.c.sequence == bindparam("sequence"),
)
_SAME = select(cached_answers.c.trace_id, cached_answers.c.vector, CHECKSUM)
_SAME = _SAME.join(questions, questions.c.id == cached_answers.c.trace_id).where(*_same)
_SAME = _SAME.order_by(cached_answers.c.id.desc()).limit(1)
_ALIKE = (
    select(cached_answers.c.trace_id, cached_answers.c.vector)
    .where(
        cached_answers.c.scope_hash == bindparam("scope"),
        cached_answers.c.language == bindparam("language"),
        cached_answers.c.names_hash == bindparam("names"),
        cached_answers.c.sequence == bindparam("sequence"),
        cached_answers.c.vector.is_not(None),
    )
    .order_by(cached_answers.c.id.desc())
    .limit(bindparam("most"))
)
_FORGET_SAME = delete(cached_answers).where(*_same)
_KEEP = insert(cached_answers)
_COUNT = select(func.count()).select_from(cached_answers)
_STATE = tuple(table.name for table in (publications, outbox, versions, jobs, index_settings))


class CachedAnswers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> tuple[int, bool, list[tuple[str, str]]]:
        """Return the newest sequence number, whether the indexes hold all that is shown, and what they are made by."""

        def read() -> tuple[int, bool, list[tuple[str, str]]]:
            with self._database.read() as tx:
                row = tx.execute(_NOW).one()
                return (
                    int(row.sequence),
                    row.waiting is None and not row.late,
                    [tuple(each) for each in tx.execute(_MADE_BY)],
                )

        return self._database.remembered.value("answers", _STATE, None, read)

    def same(self, key: CacheKey) -> Entry | None:
        """Return the answer to the same words."""
        with self._database.read() as tx:
            row = tx.execute(_SAME, _found_by(key)).one_or_none()
        return None if row is None else Entry(*row)

    def alike(self, key: CacheKey, most: int) -> list[Entry]:
        """Return answers to questions with the same figures and names in the same language, newest first."""
        given = {"scope": key.scope, "language": key.language, "names": key.names, "sequence": key.sequence}
        with self._database.read() as tx:
            return [Entry(row.trace_id, row.vector) for row in tx.execute(_ALIKE, {**given, "most": most})]

    def forget(self, trace_id: str) -> None:
        """Forget the answer of one question."""
        with self._database.write() as tx:
            tx.execute(delete(cached_answers).where(cached_answers.c.trace_id == trace_id))

    def forget_all(self) -> int:
        """Forget all kept answers; return how many there were."""
        with self._database.write() as tx:
            return int(tx.execute(delete(cached_answers)).rowcount)

    def count(self) -> int:
        with self._database.read() as tx:
            return int(tx.scalar(_COUNT) or 0)


def add_entry(
    tx: Connection, key: CacheKey, trace_id: str, doc_ids: Collection[int], asked_at: datetime, most: int
) -> None:
    """Keep the answer of a question, in place of one that has the same key; of more than ``most`` the oldest go."""
    tx.execute(_FORGET_SAME, _found_by(key))
    values = {
        "trace_id": trace_id,
        "question_hash": key.question,
        "scope_hash": key.scope,
        "language": key.language,
        "names_hash": key.names,
        "vector": key.vector,
        "sequence": key.sequence,
        "asked_at": asked_at,
    }
    answer_id = inserted_id(tx.execute(_KEEP, values))
    if doc_ids:
        rests_on = [{"answer_id": answer_id, "doc_id": doc_id} for doc_id in sorted(set(doc_ids))]
        tx.execute(insert(cached_documents), rests_on)
    surplus = (tx.scalar(_COUNT) or 0) - most
    if surplus > 0:
        oldest = select(cached_answers.c.id).order_by(cached_answers.c.id).limit(surplus)
        tx.execute(delete(cached_answers).where(cached_answers.c.id.in_(oldest.scalar_subquery())))


def _found_by(key: CacheKey) -> dict[str, Any]:
    return {"question": key.question, "scope": key.scope, "sequence": key.sequence}


def drop_changed(tx: Connection, doc_ids: Collection[int], sequence: int, *, purged: bool) -> None:
    """Drop the answers of the present that rest on documents, which publications change from ``sequence`` on.

    Answers as of earlier moments stay; a purge leaves none, because accounts of questions quote more than their hits.
    """
    if purged:
        tx.execute(delete(cached_answers))
        return
    before = select(func.coalesce(func.max(publications.c.seq), 0)).where(publications.c.seq < sequence)
    resting = select(cached_documents.c.answer_id).where(cached_documents.c.doc_id.in_(doc_ids))
    is_present = cached_answers.c.sequence >= before.scalar_subquery()
    tx.execute(delete(cached_answers).where(is_present, cached_answers.c.id.in_(resting)))
