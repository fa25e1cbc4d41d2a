"""Readings of a version: what other readers made of the same bytes, of which one is what the version is now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    case,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from core.catalog.documents.isolation import seen
from core.catalog.engine import Database
from core.catalog.jobs.ledger import NewJob, queue_all
from core.catalog.journal import acknowledge
from core.catalog.schema import IS_CURRENT, NOT_A_DRAFT, documents, publications, shown_now, versions
from core.errors import Conflict
from core.model import JobKind, ReadingState

_present, _other = versions.alias("present"), versions.alias("other")
_COPIED = (
    *("doc_id", "file_name", "extension", "is_text_entry", "sha256", "sha1", "size_bytes", "claimed_seq"),
    *("created_at", "actor", "note", "label"),
)
_PRIORITY = -10
"""After everything that somebody waits for."""
_MOVED = ("note", "label", "is_draft", "publish_at", "publish_actor")
_of_present = and_(_present.c.doc_id == versions.c.doc_id, _present.c.number == versions.c.reading_of)
_later = (
    _other.c.doc_id == versions.c.doc_id,
    _other.c.reading_of == versions.c.reading_of,
    _other.c.state == "ready",
    _other.c.reading > versions.c.reading,
)
_STATE: ColumnElement[Any] = case(
    (versions.c.state == "stored", ReadingState.READING.value),
    (versions.c.state != "ready", ReadingState.FAILED.value),
    (versions.c.reading < _present.c.reading, ReadingState.REPLACED.value),
    (exists().where(publications.c.version_id == versions.c.id), ReadingState.WITHDRAWN.value),
    else_=ReadingState.WAITING.value,
)


_SHOWN = (
    select(publications.c.version_id)
    .where(publications.c.doc_id == versions.c.doc_id)
    .order_by(publications.c.seq.desc())
    .limit(1)
    .correlate(versions)
    .scalar_subquery()
)
"""What the document shows now; looked for of the few that another reader has read, not of all."""


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """Another reading of a version, and the row of what the version is now."""

    id: int
    doc_id: int
    doc_key: str
    name: str
    number: int
    reading: int
    state: ReadingState
    chunk_count: int
    metadata: dict[str, Any]
    error: dict[str, Any] | None
    present_id: int
    present_chunks: int
    is_shown: bool


class ReadingTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def outdated(self, reader: str, doc_keys: Collection[str] | None = None) -> int:
        """Return how many versions that are shown were read by another reader and are not read anew yet."""
        with self._database.read() as tx:
            chosen = _outdated(reader, doc_keys).subquery()
            return int(tx.scalar(select(func.count()).select_from(chosen)) or 0)

    def begin(
        self, reader: str, doc_keys: Collection[str] | None, actor: str, limit: int, *, of: str | None = None
    ) -> int:
        """Queue readings of up to ``limit`` versions that are shown, in one transaction; return how many.

        Of those that the reader ``of`` has read alone, where it is given.
        """
        now = datetime.now(UTC)
        chosen = _outdated(reader, doc_keys, of).limit(limit)
        if of is not None:
            with self._database.read() as tx:
                if tx.execute(chosen.limit(1)).first() is None:
                    return 0
        with self._database.write() as tx:
            rows = tx.execute(chosen).all()
            if rows:
                _begin(tx, rows, reader, actor, now)
        return len(rows)

    def counts(self) -> dict[ReadingState, int]:
        """Return how many documents that whoever acts sees have readings of each state."""
        # PostgreSQL does not see that two expressions with parameters are the same one.
        found = _joined(select(_STATE.label("kind"), versions.c.doc_id)).where(seen()).subquery()
        query = select(found.c.kind, func.count(found.c.doc_id.distinct())).group_by(found.c.kind)
        with self._database.read() as tx:
            return {ReadingState(kind): count for kind, count in tx.execute(query)}

    def list(
        self,
        states: Collection[ReadingState],
        *,
        after: int = 0,
        limit: int,
        doc_keys: Collection[str] | None = None,
    ) -> Sequence[ReadingRow]:
        """Return other readings than the present ones, of what whoever acts sees, by id from behind ``after`` on."""
        return self._rows(states, limit, doc_keys, versions.c.id > after)

    def usable(
        self, *, limit: int, doc_keys: Collection[str] | None = None, after: tuple[str, str] | None = None
    ) -> Sequence[ReadingRow]:
        """Return of versions the newest reading that is ready and not in use, at most ``limit``.

        With ``after``, those that the second reader has made of what the first one has read, and that nobody withdrew.
        """
        newest = ~exists().where(*_later)
        if after is not None:
            own = _present.c.reader == after[0], versions.c.reader == after[1]
            complete = versions.c.embedded_chunks >= versions.c.chunk_count
            return self._rows((ReadingState.WAITING,), limit, doc_keys, and_(newest, complete, *own))
        states = ReadingState.WAITING, ReadingState.WITHDRAWN
        return self._rows(states, limit, doc_keys, newest)

    def replaced(self, *, limit: int, doc_keys: Collection[str] | None = None) -> Sequence[ReadingRow]:
        """Return of versions that were read anew the reading that each had before, at most ``limit``."""
        between = exists().where(*_later, _other.c.reading < _present.c.reading)
        return self._rows((ReadingState.REPLACED,), limit, doc_keys, ~between)

    def _rows(
        self,
        states: Collection[ReadingState],
        limit: int,
        doc_keys: Collection[str] | None,
        condition: ColumnElement[bool],
    ) -> Sequence[ReadingRow]:
        query = _joined(
            select(
                versions.c.id,
                versions.c.doc_id,
                documents.c.doc_key,
                versions.c.file_name.label("name"),
                versions.c.reading_of.label("number"),
                versions.c.reading,
                _STATE.label("state"),
                versions.c.chunk_count,
                versions.c.metadata,
                versions.c.error,
                _present.c.id.label("present_id"),
                _present.c.chunk_count.label("present_chunks"),
                _present.c.id.in_(shown_now).label("is_shown"),
            )
        )
        query = query.where(seen(), condition, _STATE.in_([state.value for state in states]))
        if doc_keys is not None:
            query = query.where(documents.c.doc_key.in_(doc_keys))
        with self._database.read() as tx:
            rows = tx.execute(query.order_by(versions.c.id).limit(limit)).all()
        return [
            ReadingRow(**{**row._mapping, "state": ReadingState(row.state), "metadata": row.metadata or {}})
            for row in rows
        ]

    def swap(self, version_id: int) -> None:
        """Make a reading what its version is, where that is not shown. Raises: ``Conflict``."""
        with self._database.write() as tx:
            row = tx.execute(select(versions).where(versions.c.id == version_id)).one()
            own = versions.c.doc_id == row.doc_id, versions.c.number == row.reading_of, versions.c.id.in_(shown_now)
            if tx.scalar(select(versions.c.id).where(*own)) is not None:
                raise Conflict(f"Version {row.reading_of} is shown.")
            swap(tx, row)

    def note(self, version_id: int, found: dict[str, Any]) -> None:
        """Keep with a reading how it differs from what the version is."""
        with self._database.write() as tx:
            details = tx.scalar(select(versions.c.metadata).where(versions.c.id == version_id)) or {}
            own = update(versions).where(versions.c.id == version_id, versions.c.state != "purged")
            tx.execute(own.values(metadata={**details, "anew": found}))


def swap(tx: Connection, row: Row[Any]) -> None:
    """Make a reading what its version is; what it was until now becomes another reading. Raises: ``Conflict``."""
    if row.reading_of is None:
        raise Conflict(f"Reading {row.reading} is what version {row.number} is already.")
    if row.state != "ready":
        raise Conflict(f"Reading {row.reading} of version {row.reading_of} is {row.state}.")
    own = versions.c.doc_id == row.doc_id, versions.c.number == row.reading_of
    present = tx.execute(select(versions).where(*own)).one()
    moved = {name: getattr(present, name) for name in _MOVED}
    aside = {"number": row.number, "reading_of": row.reading_of, **NOT_A_DRAFT}
    # They change their numbers, each of which one row has at any moment.
    tx.execute(update(versions).where(versions.c.id == row.id).values(number=0))
    tx.execute(update(versions).where(versions.c.id == present.id).values(**aside))
    tx.execute(update(versions).where(versions.c.id == row.id).values(number=row.reading_of, reading_of=None, **moved))


def _outdated(reader: str, doc_keys: Collection[str] | None, of: str | None = None) -> Select[Any]:
    is_there = exists().where(
        _other.c.doc_id == versions.c.doc_id,
        _other.c.reading_of == versions.c.number,
        _other.c.reader == reader,
        _other.c.state.in_(("stored", "ready", "failed")),
    )
    query = (
        select(versions, documents.c.owner_id, documents.c.doc_key)
        .join(documents, documents.c.id == versions.c.doc_id)
        .where(IS_CURRENT, _by_another(reader, of), versions.c.id == _SHOWN, ~is_there)
        # What is embedded still ends first: its job would go on with a row that is not the version's any more.
        .where(versions.c.state == "ready", versions.c.embedded_chunks >= versions.c.chunk_count, seen())
        .order_by(versions.c.id)
    )
    return query if doc_keys is None else query.where(documents.c.doc_key.in_(doc_keys))


def _by_another(reader: str, of: str | None) -> ColumnElement[bool]:
    if of is not None:
        return versions.c.reader == of
    # What a reader has read without pictures gets them by itself: its name goes on behind its own.
    return and_(versions.c.reader != reader, ~versions.c.reader.startswith(f"{reader}-", autoescape=True))


def _begin(tx: Connection, rows: Sequence[Row[Any]], reader: str, actor: str, now: datetime) -> None:
    """Make the rows of other readings and queue their jobs: drafts, which nobody sees by themselves."""
    doc_ids = [row.doc_id for row in rows]
    own = versions.c.doc_id.in_(doc_ids)
    lowest = dict(
        tx.execute(select(versions.c.doc_id, func.min(versions.c.number)).where(own).group_by(versions.c.doc_id)).all()
    )
    others = select(versions.c.doc_id, versions.c.reading_of, func.max(versions.c.reading)).where(own)
    last = {
        (doc_id, number): reading
        for doc_id, number, reading in tx.execute(others.group_by(versions.c.doc_id, versions.c.reading_of))
    }
    made = [
        {
            **{name: getattr(row, name) for name in _COPIED},
            "number": min(lowest[row.doc_id], 0) - 1,
            "reading_of": row.number,
            "reading": max(row.reading, last.get((row.doc_id, row.number), 0)) + 1,
            "reader": reader,
            "state": "stored",
            "is_draft": True,
        }
        for row in rows
    ]
    tx.execute(insert(versions), made)
    acknowledge(tx)
    numbers = {each["doc_id"]: each["number"] for each in made}
    ids = {
        row.doc_id: row.id
        for row in tx.execute(select(versions.c.doc_id, versions.c.id, versions.c.number).where(own))
        if row.number == numbers[row.doc_id]
    }
    works = [
        NewJob(
            kind=JobKind.INGEST,
            name=row.file_name,
            size_bytes=row.size_bytes,
            actor=actor,
            owner_id=row.owner_id,
            doc_id=row.doc_id,
            version_id=ids[row.doc_id],
            priority=_PRIORITY,
        )
        for row in rows
    ]
    queue_all(tx, works, [now + timedelta(microseconds=place) for place in range(len(works))])


def _joined(query: Select[Any]) -> Select[Any]:
    # Not a bound 0: SQLite takes the index of these few only where it sees the index's own words.
    return (
        query.select_from(versions)
        .join(documents, documents.c.id == versions.c.doc_id)
        .join(_present, _of_present)
        .where(versions.c.number < literal_column("0"), versions.c.state != "purged", _present.c.state != "purged")
    )
