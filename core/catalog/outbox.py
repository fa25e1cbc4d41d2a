"""The outbox: what each store still has to be told, in order, written in the transaction that made it necessary.

Entries for ``vector`` and ``keyword`` are for the generation that serves. What its stores have done is handed on to
``vector@n`` and ``keyword@n``, the stores of every other generation n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, literal, or_, select, true, update

from core.catalog import beside
from core.catalog.engine import Database
from core.catalog.schema import (
    MOVES_TO_HEAD,
    chunks,
    documents,
    embeddings,
    generations,
    index_settings,
    outbox,
    shown_now,
    version_chunks,
    versions,
)
from core.model import GenerationState, Part

VECTOR = "vector"
KEYWORD = "keyword"
STORES = (VECTOR, KEYWORD)
REFILL = "refill."
"""What the index settings about refills begin with."""

_HAS_VECTOR = exists().where(embeddings.c.content_hash == chunks.c.content_hash)
_PREPARED = select(versions.c.id).where(versions.c.is_prepared)

waits_to_serve = select(func.min(outbox.c.id)).where(outbox.c.store.in_(STORES)).scalar_subquery()
"""The oldest entry for a store that serves; None where all has been told."""
has_moves = exists().where(outbox.c.store.in_(STORES), MOVES_TO_HEAD)
"""Whether something that is shown may still stand in the history of a store that serves.

An entry moves where a row that is shown before the entry is done can stand in the other part until then.
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The oldest entries for one store, each chunk with the last thing asked of it; ``part`` None means delete."""

    store: str
    entry_ids: tuple[int, ...]
    wanted: dict[int, Part | None]


@dataclass(frozen=True, slots=True)
class Refill:
    """How a store that was empty gets its rows again: ``waiting`` of ``rows`` are not there yet."""

    last: int
    """The newest entry of it, which tells one refill from another."""
    rows: int
    waiting: int


def stores_beside(number: int) -> tuple[str, str]:
    """Name the stores of a generation that does not serve, the vectors' first."""
    return f"{VECTOR}@{number}", f"{KEYWORD}@{number}"


def place_of(store: str) -> tuple[str, int | None]:
    """Return the kind of a store, and the number of its generation; None for the one that serves."""
    kind, _, number = store.partition("@")
    return kind, int(number) if number else None


class Outbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add_everything(self, store: str) -> None:
        """Ask a store for every chunk there is, in the part where it belongs now.

        Whoever is about to show a version learns by ``documents.shelvings`` that its chunks were sent to history. A
        generation that is being built is asked for what it was built with so far.
        """
        with self._database.write() as tx:
            _add_all(tx, store, true())

    def refill(self, store: str, generation: int) -> None:
        """Ask a store of a generation that is empty for everything, and note that it is being refilled.

        What it has yet to be told anyway is not asked for again; nobody drains it meanwhile.
        """
        with self._database.write() as tx:
            waiting = select(outbox.c.chunk_id).where(outbox.c.store == store)
            _add_all(tx, store, chunks.c.id.in_(select(chunks.c.id).except_(waiting)))
            mine = outbox.c.store == store
            last, rows = tx.execute(select(func.max(outbox.c.id), func.count()).where(mine)).one()
            if rows:
                key = _refill_key(place_of(store)[0], generation)
                tx.execute(delete(index_settings).where(index_settings.c.key == key))
                tx.execute(insert(index_settings).values(key=key, value=f"{last} {rows}"))

    def refills(self, generation: int) -> dict[str, Refill]:
        """Return the last refills of the stores of the generation that serves, by kind."""
        tables = index_settings.name, outbox.name
        return self._database.remembered.value("refills", tables, generation, lambda: self._refills(generation))

    def _refills(self, generation: int) -> dict[str, Refill]:
        kinds = {_refill_key(kind, generation): kind for kind in STORES}
        found: dict[str, Refill] = {}
        with self._database.read() as tx:
            for key, value in tx.execute(select(index_settings).where(index_settings.c.key.in_(kinds))).tuples():
                last, rows = map(int, value.split())
                entries = and_(outbox.c.store == kinds[key], outbox.c.id <= last)
                waiting = tx.scalar(select(func.count()).select_from(outbox).where(entries)) or 0
                found[kinds[key]] = Refill(last, rows, waiting)
        return found

    def is_lacking(self, store: str) -> bool:
        """Tell whether something is shown that a store which serves was told of, so that it cannot be empty."""
        shown = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(shown_now))
        # PostgreSQL would look through a list that is not in a large one for every row.
        told = shown.except_(select(outbox.c.chunk_id).where(outbox.c.store == store))
        lacking = select(chunks.c.id).where(chunks.c.id.in_(told))
        lacking = lacking.where(_HAS_VECTOR) if store == VECTOR else lacking
        with self._database.read() as tx:
            return tx.scalar(lacking.limit(1)) is not None

    def add_some(self, store: str, after: int, limit: int) -> tuple[int, int] | None:
        """Ask a store for ``limit`` chunks from behind an id on, as for all; return the last id and how many there are.

        None where there are none.
        """
        with self._database.write() as tx:
            ids = _next_ids(tx, after, limit)
            if not ids:
                return None
            _add_shelved(tx, store, chunks.c.id.between(ids[0], ids[-1]))
            return ids[-1], len(ids)

    def hand_over(self, number: int, after: int, limit: int) -> tuple[int, int] | None:
        """Ask both stores of a generation that does not serve for some chunks, as ``add_some`` does.

        What changes of these later is handed on to it.
        """
        with self._database.write() as tx:
            ids = _next_ids(tx, after, limit)
            if not ids:
                return None
            for store in stores_beside(number):
                _add(tx, store, chunks.c.id.between(ids[0], ids[-1]))
            return ids[-1], len(ids)

    def next_batch(self, store: str, limit: int, *, gone: bool = False) -> Batch | None:
        """Return the oldest entries for a store, or with ``gone`` the oldest deletes; None where there are none."""
        query = (
            select(outbox.c.id, outbox.c.chunk_id, outbox.c.part)
            .where(outbox.c.store == store)
            .order_by(outbox.c.id)
            .limit(limit)
        )
        query = query.where(outbox.c.part.is_(None)) if gone else query
        with self._database.read() as tx:
            rows = tx.execute(query).all()
        if not rows:
            return None
        wanted = {row.chunk_id: Part(row.part) if row.part else None for row in rows}
        return Batch(store, tuple(row.id for row in rows), wanted)

    def done(self, batch: Batch, generation: int) -> None:
        """Forget what the store of a generation has acknowledged; what serves has it handed on to the others.

        Whoever lost its part ``outbox:…`` meanwhile may have written after another one: what that one has done
        already is asked for again as it belongs now, and where that one has switched, nothing is forgotten.
        """
        parts = {beside.store(batch.store)}
        if not self._database.beside(lambda _: parts, lambda tx: _forget(tx, batch, generation)):
            with self._database.write() as tx:
                _forget(tx, batch, generation)

    def pending(self) -> dict[str, int]:
        """Return the number of waiting entries of each store that serves."""
        query = select(outbox.c.store, func.count()).where(outbox.c.store.in_(STORES)).group_by(outbox.c.store)
        with self._database.read() as tx:
            counts = {row[0]: row[1] for row in tx.execute(query)}
        return {store: counts.get(store, 0) for store in STORES}


def _forget(tx: Connection, batch: Batch, generation: int) -> bool:
    """Do as ``Outbox.done`` says; tell whether it was done: asking again is for a transaction that is alone."""
    kind, number = place_of(batch.store)
    own = outbox.c.id.in_(batch.entry_ids)
    present = select(generations.c.number, generations.c.state)
    present = present.where(generations.c.state != GenerationState.REMOVING)
    states = {row.number: row.state for row in tx.execute(present)}
    serves = states.get(generation) == GenerationState.SERVING
    is_kept = number is None and not serves
    is_alone = beside.is_alone(tx)
    left = tx.scalar(select(func.count()).select_from(outbox).where(own)) if is_kept or not is_alone else None
    if not is_alone and (is_kept or left != len(batch.entry_ids)):
        return False
    if not is_kept:
        left = tx.execute(delete(outbox).where(own)).rowcount
    if left != len(batch.entry_ids):
        if generation in states:
            _ask_again(tx, kind if serves else f"{kind}@{generation}", list(batch.wanted))
    elif number is None and serves:
        for other in states.keys() - {generation}:
            tx.execute(insert(outbox), _entries(f"{kind}@{other}", batch.wanted))
    return True


def _next_ids(tx: Connection, after: int, limit: int) -> Sequence[int]:
    return list(tx.scalars(select(chunks.c.id).where(chunks.c.id > after).order_by(chunks.c.id).limit(limit)))


def _refill_key(kind: str, generation: int) -> str:
    return f"{REFILL}{kind}.{generation}"


def _add_all(tx: Connection, store: str, these: ColumnElement[bool]) -> None:
    """Ask a store for all of these chunks that it is to have by now."""
    _, number = place_of(store)
    if number is None:
        if _add(tx, store, these):
            tx.execute(update(documents).values(shelvings=documents.c.shelvings + 1))
        return
    after = tx.scalar(select(generations.c.after).where(generations.c.number == number))
    _add(tx, store, these if after is None else and_(these, chunks.c.id <= after))


def _add(tx: Connection, store: str, these: ColumnElement[bool]) -> int:
    """Ask a store for chunks, each in the part where it belongs now; return how many.

    A generation that does not serve has what is about to be shown in head already: nobody sees it there.
    """
    kind, number = place_of(store)
    shown = version_chunks.c.version_id.in_(shown_now)
    belongs = shown if number is None else or_(shown, version_chunks.c.version_id.in_(_PREPARED))
    in_head = select(version_chunks.c.chunk_id).where(belongs)
    in_history = select(chunks.c.id).where(these).except_(in_head)
    added = 0
    for part, chosen in ((Part.HEAD, chunks.c.id.in_(in_head)), (Part.HISTORY, chunks.c.id.in_(in_history))):
        rows = select(literal(store), chunks.c.id, literal(part.value)).where(these, chosen)
        rows = rows.where(_HAS_VECTOR) if kind == VECTOR else rows
        added += tx.execute(insert(outbox).from_select(["store", "chunk_id", "part"], rows)).rowcount
    return added


def _add_shelved(tx: Connection, store: str, these: ColumnElement[bool]) -> None:
    """Ask a store that serves for chunks, as ``_add`` does, and let who is about to show them learn of it."""
    _add(tx, store, these)
    theirs = documents.c.id.in_(select(chunks.c.doc_id).where(these))
    tx.execute(update(documents).where(theirs).values(shelvings=documents.c.shelvings + 1))


def _ask_again(tx: Connection, store: str, chunk_ids: Sequence[int]) -> None:
    """Ask a store for chunks as they belong now, and to delete those that are gone."""
    these = chunks.c.id.in_(chunk_ids)
    (_add_shelved if store in STORES else _add)(tx, store, these)
    gone = set(chunk_ids) - set(tx.scalars(select(chunks.c.id).where(these)))
    if gone:
        tx.execute(insert(outbox), _entries(store, dict.fromkeys(gone)))


def _entries(store: str, wanted: Mapping[int, Part | None]) -> list[dict[str, object]]:
    return [{"store": store, "chunk_id": chunk, "part": part} for chunk, part in wanted.items()]
