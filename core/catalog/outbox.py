"""The outbox: what each store still has to be told, in order, written in the transaction that made it necessary."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, func, insert, literal, select, update

from core.catalog.engine import Database
from core.catalog.schema import chunks, documents, outbox, shown_now, version_chunks
from core.model import Part

VECTOR = "vector"
KEYWORD = "keyword"
STORES = (VECTOR, KEYWORD)


@dataclass(frozen=True, slots=True)
class Batch:
    """The oldest entries for one store, each chunk with the last thing asked of it; ``part`` None means delete."""

    entry_ids: tuple[int, ...]
    wanted: dict[int, Part | None]


class Outbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add_everything(self, store: str) -> None:
        """Ask a store for every chunk there is, in the part where it belongs now.

        Whoever is about to show a version learns by ``documents.shelvings`` that its chunks were sent to history.
        """
        in_head = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(shown_now))
        with self._database.write() as tx:
            for part, chosen in ((Part.HEAD, chunks.c.id.in_(in_head)), (Part.HISTORY, chunks.c.id.not_in(in_head))):
                rows = select(literal(store), chunks.c.id, literal(part.value)).where(chosen)
                tx.execute(insert(outbox).from_select(["store", "chunk_id", "part"], rows))
            tx.execute(update(documents).values(shelvings=documents.c.shelvings + 1))

    def next_batch(self, store: str, limit: int) -> Batch | None:
        query = (
            select(outbox.c.id, outbox.c.chunk_id, outbox.c.part)
            .where(outbox.c.store == store)
            .order_by(outbox.c.id)
            .limit(limit)
        )
        with self._database.read() as tx:
            rows = tx.execute(query).all()
        if not rows:
            return None
        return Batch(
            tuple(row.id for row in rows), {row.chunk_id: Part(row.part) if row.part else None for row in rows}
        )

    def done(self, batch: Batch) -> None:
        """Forget what a store has acknowledged."""
        with self._database.write() as tx:
            tx.execute(delete(outbox).where(outbox.c.id.in_(batch.entry_ids)))

    def pending(self) -> dict[str, int]:
        """Return the number of waiting entries of each store."""
        query = select(outbox.c.store, func.count()).group_by(outbox.c.store)
        with self._database.read() as tx:
            counts = {row[0]: row[1] for row in tx.execute(query)}
        return {store: counts.get(store, 0) for store in STORES}
