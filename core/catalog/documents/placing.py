"""Placing: the stores are asked, through the outbox, to hold chunks in head or in history.

A keyword row is asked for of every chunk, a vector row of those that have an embedding; the others get theirs with it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, exists, insert, literal, or_, select, update

from core.catalog.documents.deltas import difference
from core.catalog.outbox import KEYWORD, VECTOR
from core.catalog.schema import (
    chunks,
    documents,
    embeddings,
    outbox,
    publications,
    version_chunks,
    version_deltas,
    versions,
)
from core.model import Part


def place(tx: Connection, of: int, without: int | None, part: Part) -> None:
    """Ask every store to hold in ``part`` the chunks of version ``of`` that version ``without`` does not have."""
    _ask(tx, difference(tx, of, without), part)


def place_all(tx: Connection, version_ids: Collection[int]) -> None:
    """Ask every store to hold in head all chunks of several versions."""
    if version_ids:
        members = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(version_ids))
        _ask(tx, members.distinct(), Part.HEAD)


def place_changed(tx: Connection, version_ids: Collection[int], part: Part) -> None:
    """Ask every store to hold in ``part`` what several versions do not share with their bases.

    In head what is theirs alone, in history what is the bases' alone.
    """
    if not version_ids:
        return
    held = exists().where(version_chunks.c.chunk_id == version_deltas.c.chunk_id)
    own = held.where(version_chunks.c.version_id == versions.c.id)
    before = held.where(version_chunks.c.version_id == versions.c.base_id)
    changed = (
        select(version_deltas.c.chunk_id)
        .join(versions, versions.c.id == version_deltas.c.version_id)
        .where(versions.c.id.in_(version_ids))
        .where(*((own, ~before) if part is Part.HEAD else (before, ~own)))
    )
    _ask(tx, changed.distinct(), part)


def place_slice(tx: Connection, of: int, without: int | None, part: Part, first: int, count: int) -> None:
    """Ask as ``place`` does for the chunks at ``count`` places of the version, from the position ``first`` on."""
    other = version_chunks.alias("other")
    shared = exists().where(other.c.chunk_id == version_chunks.c.chunk_id, other.c.version_id == without)
    own = version_chunks.c.version_id == of
    here = version_chunks.c.position >= first, version_chunks.c.position < first + count
    _ask(tx, select(version_chunks.c.chunk_id).where(own, *here, ~shared).distinct(), part)


def shelve(tx: Connection, doc_id: int, version_id: int, shown_id: int | None) -> None:
    """Send the chunks of a version that is not shown to history, but for those that what is shown shares.

    Whoever is about to show another version of the document learns of it by ``documents.shelvings``, since chunks
    that it had prepared can be among them.
    """
    if shown_id != version_id:
        place(tx, version_id, shown_id, Part.HISTORY)
    tx.execute(update(versions).where(versions.c.id == version_id).values(is_prepared=False))
    tx.execute(update(documents).where(documents.c.id == doc_id).values(shelvings=documents.c.shelvings + 1))


def _ask(tx: Connection, chunk_ids: Select[Any], part: Part) -> None:
    chosen = chunk_ids.subquery()
    chunk_id = chosen.c.chunk_id
    has_vector = exists().where(chunks.c.id == chunk_id, embeddings.c.content_hash == chunks.c.content_hash)
    # A document's only version, never shown, has no rows of which a question about the present could miss one.
    several = exists().where(versions.c.doc_id == chunks.c.doc_id, or_(versions.c.number > 1, versions.c.number < 0))
    was_shown = exists().where(publications.c.doc_id == chunks.c.doc_id)
    moves = select(or_(several, was_shown)).where(chunks.c.id == chunk_id).scalar_subquery()
    for store in (VECTOR, KEYWORD):
        rows = select(literal(store), chunk_id, literal(part.value), moves)
        rows = rows.where(has_vector) if store == VECTOR else rows
        tx.execute(insert(outbox).from_select(["store", "chunk_id", "part", "moves"], rows))
