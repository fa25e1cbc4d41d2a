"""Placing: the stores are asked, through the outbox, to hold chunks in head or in history."""

from __future__ import annotations

from sqlalchemy import Connection, insert, literal, select, update

from core.catalog.deltas import difference
from core.catalog.outbox import STORES
from core.catalog.schema import documents, outbox, versions
from core.model import Part


def place(tx: Connection, of: int, without: int | None, part: Part) -> None:
    """Ask every store to hold in ``part`` the chunks of version ``of`` that version ``without`` does not have."""
    chosen = difference(tx, of, without).subquery()
    for store in STORES:
        rows = select(literal(store), chosen.c.chunk_id, literal(part.value))
        tx.execute(insert(outbox).from_select(["store", "chunk_id", "part"], rows))


def shelve(tx: Connection, doc_id: int, version_id: int, shown_id: int | None) -> None:
    """Send the chunks of a version that is not shown to history, but for those that what is shown shares.

    Whoever is about to show another version of the document learns of it by ``documents.shelvings``, since chunks
    that it had prepared can be among them.
    """
    if shown_id != version_id:
        place(tx, version_id, shown_id, Part.HISTORY)
    tx.execute(update(versions).where(versions.c.id == version_id).values(is_prepared=False))
    tx.execute(update(documents).where(documents.c.id == doc_id).values(shelvings=documents.c.shelvings + 1))
