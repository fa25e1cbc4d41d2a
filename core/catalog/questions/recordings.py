"""Recordings: whose each is, and what it was recorded from; the spikes are in files that the ids name.

Everyone sees their own, administrators see all. A recording holds the text of its prompt: whoever does not see a
document that stood in it does not see the recording, and it goes when such a version is purged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, true, update

from core import access
from core.catalog.asking_schema import recordings
from core.catalog.documents.isolation import seen, viewer
from core.catalog.documents.leftovers import FileKind, drop, note
from core.catalog.engine import Database
from core.catalog.questions.history import Named, is_redacted, kept_trace, purged_since
from core.catalog.schema import documents, questions
from core.errors import NotFound
from core.model import Recording
from core.text.language import is_storable

_COLUMNS = frozenset(("id", "name", "created_at", "size_bytes", "trace_id"))

Several = list[Recording]


@dataclass(frozen=True, slots=True)
class Quoted:
    """What a prompt held: versions, each as the id and key of its document and its number, as of ``sequence``.

    ``is_follow_up``: the question may name what an earlier one of its conversation has cited.
    """

    versions: frozenset[tuple[int, str, int]] = frozenset()
    sequence: int = 0
    is_follow_up: bool = False


class RecordingTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, recording: Recording, quoted: Quoted) -> bool:
        """Keep a recording of whoever acts; False where what it quotes was purged meanwhile."""
        facts = {name.name: getattr(recording, name.name) for name in fields(Recording) if name.name not in _COLUMNS}
        told = {"recording": facts, "quoted": sorted(quoted.versions), "is_follow_up": quoted.is_follow_up}
        named = {(key, version) for _, key, version in quoted.versions}
        with self._database.write() as tx:
            if named and not named.isdisjoint(purged_since(tx, quoted.sequence)):
                return False
            tx.execute(
                insert(recordings).values(
                    id=recording.id,
                    name=recording.name,
                    owner_id=access.current().user_id,
                    created_at=recording.created_at,
                    size_bytes=recording.size_bytes,
                    facts=json.dumps(told),
                )
            )
            drop(tx, FileKind.RECORDING, [recording.id])
        return True

    def belongs(self, recording_id: str, trace_id: str) -> None:
        """Say which kept question a recording is of."""
        with self._database.write() as tx:
            tx.execute(update(recordings).where(recordings.c.id == recording_id).values(trace_id=trace_id))

    def list(self) -> Several:
        """Return the recordings that whoever acts sees, newest first."""
        query = select(recordings).where(_own()).order_by(recordings.c.created_at.desc(), recordings.c.id.desc())
        with self._database.read() as tx:
            rows = tx.execute(query).all()
            hidden = _hidden(tx, rows)
        return [_recording(row) for row in rows if row.id not in hidden]

    def get(self, recording_id: str) -> Recording:
        """Raises: ``NotFound``."""
        with self._database.read() as tx:
            return _recording(_found(tx, recording_id))

    def rename(self, recording_id: str, name: str) -> Recording:
        """Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, recording_id)
            tx.execute(update(recordings).where(recordings.c.id == recording_id).values(name=name))
            return _recording(_found(tx, recording_id))

    def delete(self, recording_id: str) -> None:
        """Remove a row, and note its file as left over. Raises: ``NotFound``."""
        with self._database.write() as tx:
            _found(tx, recording_id)
            note(tx, FileKind.RECORDING, [recording_id])
            tx.execute(delete(recordings).where(recordings.c.id == recording_id))

    def all_ids(self) -> set[str]:
        """Return the ids of the recordings of everybody."""
        with self._database.read() as tx:
            return set(tx.scalars(select(recordings.c.id)))

    def forget(self, ids: Set[str]) -> None:
        """Remove rows, whoever's they are, and note their files as left over."""
        with self._database.write() as tx:
            note(tx, FileKind.RECORDING, ids)
            for recording_id in sorted(ids):
                tx.execute(delete(recordings).where(recordings.c.id == recording_id))

    def quoting(self, purged: Set[Named]) -> set[str]:
        """Return the recordings whose prompts hold text of one of the versions, or may name one of them."""
        rows = select(recordings.c.id, recordings.c.facts, kept_trace.label("kept")).join(
            questions, questions.c.id == recordings.c.trace_id, isouter=True
        )
        with self._database.read() as tx:
            return {row.id for row in tx.execute(rows) if _quotes(json.loads(row.facts), row.kept, purged)}


def _own() -> ColumnElement[bool]:
    user_id = viewer()
    return true() if user_id is None else recordings.c.owner_id == user_id


def _found(tx: Connection, recording_id: str) -> Row[Any]:
    query = select(recordings).where(recordings.c.id == recording_id, _own())
    row = tx.execute(query).one_or_none() if is_storable(recording_id) else None
    if row is None or _hidden(tx, [row]):
        raise NotFound("There is no such recording.", remedy="Record an answer, or look at the list of recordings.")
    return row


def _hidden(tx: Connection, rows: Sequence[Row[Any]]) -> set[str]:
    """Return the ids of the rows whose prompts hold text of documents that whoever acts does not see."""
    if viewer() is None:
        return set()
    named = {row.id: {doc_id for doc_id, *_ in json.loads(row.facts)["quoted"]} for row in rows}
    wanted = {doc_id for doc_ids in named.values() for doc_id in doc_ids}
    unseen = set(tx.scalars(select(documents.c.id).where(documents.c.id.in_(wanted), ~seen())))
    return {recording_id for recording_id, doc_ids in named.items() if not unseen.isdisjoint(doc_ids)}


def _quotes(told: Any, kept: bytes | None, purged: Set[Named]) -> bool:
    # Of a follow-up whose account was not kept nobody knows whom it names.
    if told["is_follow_up"] and (kept is None or is_redacted(kept)):
        return True
    return any((key, version) in purged for _, key, version in told["quoted"])


def _recording(row: Row[Any]) -> Recording:
    facts = json.loads(row.facts)["recording"]
    return Recording(row.id, row.name, row.created_at, row.size_bytes, trace_id=row.trace_id or "", **facts)
