"""The vocabulary of the knowledge base: as people wrote it, as questions go by it, and as rows are being written.

The last two differ from the first until the keyword index has been built anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from core.catalog.asking_schema import cached_answers, vocabulary
from core.catalog.engine import Database
from core.catalog.jobs.ledger import Attempt, end_all
from core.catalog.schema import index_settings, jobs
from core.errors import Cancelled
from core.model import JobState, Vocabulary

WRITTEN, INDEXED, BEGUN = "", "indexed_", "begun_"
_WORD, _SYNONYMS = "word", "synonyms"
_NUMBER, _INDEXED_NUMBER, _BEGUN_NUMBER = "vocabulary", "vocabulary_indexed", "vocabulary_begun"
_BEGUN_JOB = "vocabulary_job"


class VocabularyTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def written(self) -> Vocabulary:
        """Return the vocabulary as people wrote it last."""
        with self._database.read() as tx:
            return _read(tx, WRITTEN, _NUMBER)

    def indexed(self) -> Vocabulary:
        """Return the vocabulary that the keyword index was built with, and that questions go by."""
        with self._database.read() as tx:
            return _read(tx, INDEXED, _INDEXED_NUMBER)

    def write(self, words: Sequence[Sequence[str]], synonyms: Sequence[Sequence[str]]) -> Vocabulary:
        """Replace the vocabulary; its number grows where it differs."""
        with self._database.write() as tx:
            known = _read(tx, WRITTEN, _NUMBER)
            wanted = tuple(map(tuple, words)), tuple(map(tuple, synonyms))
            if (known.words, known.synonyms) == wanted:
                return known
            _write(tx, WRITTEN, *wanted)
            _set(tx, _NUMBER, known.number + 1)
            return _read(tx, WRITTEN, _NUMBER)

    def begin(self, attempt: Attempt) -> Vocabulary:
        """Take what people wrote as what a job writes rows with; a job that was interrupted keeps what it had taken.

        Raises: ``Cancelled`` where the attempt is over.
        """
        job_id = attempt.job_id
        with self._database.write() as tx:
            attempt.check(tx)
            if _setting(tx, _BEGUN_JOB) != job_id:
                taken = _read(tx, WRITTEN, _NUMBER)
                _write(tx, BEGUN, taken.words, taken.synonyms)
                _set(tx, _BEGUN_NUMBER, taken.number)
                _set(tx, _BEGUN_JOB, job_id)
                tx.execute(jobs.update().where(jobs.c.id == job_id).values(payload={}))
            return _read(tx, BEGUN, _BEGUN_NUMBER)

    def begun(self) -> tuple[str, Vocabulary] | None:
        """Return the job that writes rows anew, or did so until it ended early, and the vocabulary of these rows."""
        with self._database.read() as tx:
            job_id = _setting(tx, _BEGUN_JOB)
            return (job_id, _read(tx, BEGUN, _BEGUN_NUMBER)) if job_id else None

    def finish(self, attempt: Attempt) -> Vocabulary:
        """Make what the attempt wrote rows with what questions go by, and end its job; kept answers are forgotten.

        Raises: ``Cancelled`` where the attempt is over, or the rows are not those of its job.
        """
        with self._database.write() as tx:
            attempt.check(tx)
            if _setting(tx, _BEGUN_JOB) != attempt.job_id:
                raise Cancelled("The rows are being written by another job.")
            done = _read(tx, BEGUN, _BEGUN_NUMBER)
            _write(tx, INDEXED, done.words, done.synonyms)
            _set(tx, _INDEXED_NUMBER, done.number)
            _forget_begun(tx)
            tx.execute(delete(cached_answers))
            end_all(tx, [attempt.job_id], JobState.DONE)
            return _read(tx, INDEXED, _INDEXED_NUMBER)

    def give_up(self, job_id: str) -> None:
        """Forget what a job was writing rows with; what another one has begun since stays."""
        with self._database.write() as tx:
            if _setting(tx, _BEGUN_JOB) == job_id:
                _forget_begun(tx)


def _read(tx: Connection, which: str, number: str) -> Vocabulary:
    query = select(vocabulary).where(vocabulary.c.kind.in_((which + _WORD, which + _SYNONYMS)))
    found: dict[str, list[Any]] = {}
    for row in tx.execute(query.order_by(vocabulary.c.position)):
        found.setdefault(row.kind, []).append(tuple(json.loads(row.words)))
    return Vocabulary(
        tuple(found.get(which + _WORD, ())),
        tuple(found.get(which + _SYNONYMS, ())),
        int(_setting(tx, number) or 0),
        int(_setting(tx, _INDEXED_NUMBER) or 0),
    )


def _write(tx: Connection, which: str, words: Sequence[Sequence[str]], synonyms: Sequence[Sequence[str]]) -> None:
    rows = [
        {"kind": which + kind, "position": position, "words": json.dumps(list(entry), ensure_ascii=False)}
        for kind, entries in ((_WORD, words), (_SYNONYMS, synonyms))
        for position, entry in enumerate(entries)
    ]
    _clear(tx, which)
    if rows:
        tx.execute(insert(vocabulary), rows)


def _clear(tx: Connection, which: str) -> None:
    tx.execute(delete(vocabulary).where(vocabulary.c.kind.in_((which + _WORD, which + _SYNONYMS))))


def _forget_begun(tx: Connection) -> None:
    _clear(tx, BEGUN)
    tx.execute(delete(index_settings).where(index_settings.c.key.in_((_BEGUN_NUMBER, _BEGUN_JOB))))


def _setting(tx: Connection, key: str) -> str:
    return tx.scalar(select(index_settings.c.value).where(index_settings.c.key == key)) or ""


def _set(tx: Connection, key: str, value: object) -> None:
    tx.execute(delete(index_settings).where(index_settings.c.key == key))
    tx.execute(insert(index_settings).values(key=key, value=str(value)))
