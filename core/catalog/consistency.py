"""What each store should hold, read from the catalogue in streams, and the entries of the outbox that mend a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, and_, exists, func, insert, select, update

from core.catalog.engine import Database
from core.catalog.outbox import VECTOR
from core.catalog.schema import (
    NUMBER,
    chunks,
    documents,
    embeddings,
    outbox,
    shown_now,
    version_chunks,
    versions,
)
from core.model import Part
from core.model.fingerprint import fingerprint

IN_HEAD, IN_EITHER, REQUIRED = 1, 2, 4
"""Of a row: it belongs to the head part; it may be in either; it has to be there, while others are on their way."""

_FEW = 500
_AT_ONCE = 10_000
_MANY = 20_000

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Making:
    """What the rows of a store are made by: the ids of embedder or analyser.

    ``former`` made those that a running job has not reached yet; ``model`` is the embedder's id for vectors.
    """

    built_by: str
    former: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows that a store should hold, by id: their fingerprints, and where they belong; all arrays ``(n,)``."""

    ids: Ids
    fingerprints: Numbers
    former: Numbers
    """Fingerprints by what a running job replaces; empty where none does."""
    flags: Flags

    def places(self, ids: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where ids stand, and which of them are there at all."""
        if not len(self.ids):
            return np.zeros(len(ids), np.intp), np.zeros(len(ids), np.bool_)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return at, self.ids[at] == ids


@dataclass(frozen=True, slots=True)
class _OfVersions:
    """What each version says of its chunks; both arrays ``(n,)``, by id, however large the ids are."""

    ids: Ids
    flags: Flags

    def of(self, version_ids: Ids) -> Flags:
        return self.flags[np.searchsorted(self.ids, version_ids)]


class ConsistencyTable:
    """Reads what stores should hold; what it asks of them goes through the outbox as everything does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def expected(self, store: str, making: Making, tell: Callable[[int], None] = lambda rows: None) -> Expected:
        """Return what a store should hold at one moment; ``tell`` hears of rows as they are read."""
        with self._database.read() as tx:
            return _expected(tx, store, making, None, _flags_of_versions(tx), tell)

    def expected_of(self, store: str, making: Making, ids: Sequence[int]) -> Expected:
        """Return what a store should hold of these chunks, given in order, now; of all where they are many."""
        if len(ids) > _MANY:
            return self.expected(store, making)
        with self._database.read() as tx:
            flags = _flags_of_versions(tx)
            found = [_expected(tx, store, making, few, flags, lambda rows: None) for few in _slices(ids)]
        return Expected(
            _joined([each.ids for each in found], np.int64),
            _joined([each.fingerprints for each in found], np.int64),
            _joined([each.former for each in found], np.int64),
            _joined([each.flags for each in found], np.uint8),
        )

    def count(self) -> int:
        with self._database.read() as tx:
            return tx.scalar(select(func.count()).select_from(chunks)) or 0

    def miscounted(self, store: str, making: Making, rows: int) -> range | None:
        """Return how many rows a store may hold where ``rows`` are too many or too few, else None.

        It may hold those that have to be there, and at most all that there are. None, too, while the store has yet to
        be told of any, or a running job changes what its rows are made by.
        """
        if making.former:
            return None
        count = select(func.count()).select_from(chunks)
        count = count.where(_embedded(making.model)) if store == VECTOR else count
        needed = versions.c.id.in_(shown_now) | (versions.c.state == "ready")
        members = select(version_chunks.c.chunk_id).join(versions, versions.c.id == version_chunks.c.version_id)
        with self._database.read() as tx:
            if tx.scalar(select(outbox.c.id).where(outbox.c.store == store).limit(1)) is not None:
                return None
            most = tx.scalar(count) or 0
            if rows == most:
                return None
            least = tx.scalar(count.where(chunks.c.id.in_(members.where(needed)))) or 0
        allowed = range(least, most + 1)
        return None if rows in allowed else allowed

    def waiting(self, store: str) -> Ids:
        """Return the ids of the chunks of which a store has yet to be told, in order."""
        query = select(outbox.c.chunk_id).where(outbox.c.store == store)
        with self._database.read() as tx:
            found = [np.array(part, np.int64)[:, 0] for part in _partitions(tx, query)]
        return np.unique(_joined(found, np.int64))

    def memberships(self) -> Iterator[tuple[Ids, Numbers]]:
        """Yield which versions have which chunks, as chunk ids and version ids, by chunk id; each pair once."""
        with self._database.read() as tx:
            yield from _memberships(tx, None)

    def originals(self) -> dict[str, int]:
        """Return the SHA-256 of every original that should be there, each with one of the versions that have it."""
        query = select(versions.c.sha256, versions.c.id).where(versions.c.state != "purged", versions.c.sha256 != "")
        with self._database.read() as tx:
            return {row.sha256: row.id for row in tx.execute(query)}

    def texts(self) -> dict[str, int]:
        """Return the SHA-256 of every parsed text that should be there, each with one of the versions that have it.

        What a job has yet to read, or to read again, is not among them.
        """
        query = select(versions.c.parsed_sha256, versions.c.id).where(
            versions.c.state == "ready", versions.c.parsed_sha256.is_not(None)
        )
        with self._database.read() as tx:
            return {row.parsed_sha256: row.id for row in tx.execute(query)}

    def names(self, version_ids: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return document key and number of versions."""
        found: dict[int, tuple[str, int]] = {}
        query = select(versions.c.id, documents.c.doc_key, NUMBER).join(documents)
        with self._database.read() as tx:
            for few in _slices(version_ids):
                found |= {row.id: (row.doc_key, row.number) for row in tx.execute(query.where(versions.c.id.in_(few)))}
        return found

    def mend(self, store: str, ids: Sequence[int], making: Making) -> None:
        """Ask a store for each chunk where it belongs now, and to delete what the catalogue does not have.

        It is looked at in the transaction that asks, so that nothing good is ever asked to be deleted.
        """
        with self._database.write() as tx:
            for few in _slices(ids):
                held = select(chunks.c.id, chunks.c.doc_id).where(chunks.c.id.in_(few))
                if store == VECTOR:
                    held = held.where(_embedded(making.model))
                there = {row.id: row.doc_id for row in tx.execute(held)}
                members = select(version_chunks.c.chunk_id).where(version_chunks.c.chunk_id.in_(few))
                shown = set(tx.scalars(members.where(version_chunks.c.version_id.in_(shown_now))))
                parts = {id: Part.HEAD if id in shown else Part.HISTORY for id in there}
                entries = [{"store": store, "chunk_id": id, "part": parts.get(id)} for id in few]
                tx.execute(insert(outbox), entries)
                # Whoever is about to show a version learns that chunks of it may have been sent to history.
                own = documents.c.id.in_({doc_id for id, doc_id in there.items() if id not in shown})
                tx.execute(update(documents).where(own).values(shelvings=documents.c.shelvings + 1))


def _expected(
    tx: Connection,
    store: str,
    making: Making,
    few: Sequence[int] | None,
    versions_say: _OfVersions,
    tell: Callable[[int], None],
) -> Expected:
    query = select(chunks.c.id, chunks.c.content_hash)
    query = query.where(_embedded(making.model)) if store == VECTOR else query
    query = query if few is None else query.where(chunks.c.id.in_(few))
    ids, made, former = [], [], []
    for part in _partitions(tx, query):
        ids.append(np.fromiter((row[0] for row in part), np.int64, len(part)))
        made.append(np.fromiter((fingerprint(row[1], making.built_by) for row in part), np.int64, len(part)))
        if making.former:
            former.append(np.fromiter((fingerprint(row[1], making.former) for row in part), np.int64, len(part)))
        tell(len(part))
    unsorted = _joined(ids, np.int64)
    order = np.argsort(unsorted)
    before = _joined(former, np.int64)
    found = Expected(
        unsorted[order],
        _joined(made, np.int64)[order],
        before[order] if making.former else before,
        np.zeros(len(order), np.uint8),
    )
    for chunk_ids, version_ids in _memberships(tx, few):
        at, is_there = found.places(chunk_ids)
        np.bitwise_or.at(found.flags, at[is_there], versions_say.of(version_ids[is_there]))
    return found


def _flags_of_versions(tx: Connection) -> _OfVersions:
    shown = set(tx.scalars(shown_now))
    query = select(versions.c.id, versions.c.state, versions.c.is_prepared).order_by(versions.c.id)
    ids, flags = [], []
    for row in tx.execute(query):
        head = IN_HEAD if row.id in shown else IN_EITHER if row.is_prepared else 0
        ids.append(row.id)
        flags.append(head | (REQUIRED if row.id in shown or row.state == "ready" else 0))
    return _OfVersions(np.array(ids, np.int64), np.array(flags, np.uint8))


def _memberships(tx: Connection, few: Sequence[int] | None) -> Iterator[tuple[Ids, Numbers]]:
    columns = version_chunks.c.chunk_id, version_chunks.c.version_id
    query = select(*columns).distinct().order_by(*columns)
    query = query if few is None else query.where(version_chunks.c.chunk_id.in_(few))
    for part in _partitions(tx, query):
        both = np.array(part, np.int64).reshape(-1, 2)
        yield both[:, 0], both[:, 1]


def _embedded(model: str) -> Any:
    return exists().where(and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model))


def _partitions(tx: Connection, query: Select[Any]) -> Iterator[list[Any]]:
    for part in tx.execute(query.execution_options(yield_per=_AT_ONCE)).partitions():
        yield [tuple(row) for row in part]


def _joined(parts: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _slices(ids: Sequence[int]) -> Iterator[list[int]]:
    for at in range(0, len(ids), _FEW):
        yield [int(id) for id in ids[at : at + _FEW]]
