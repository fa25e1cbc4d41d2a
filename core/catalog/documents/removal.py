"""Removal: the chunks of a version leave the catalogue and both indexes, except for what other versions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import Connection, delete, exists, insert, select, update

from core.catalog.documents.deltas import bequeath
from core.catalog.documents.placing import shelve
from core.catalog.engine import Database
from core.catalog.outbox import STORES
from core.catalog.schema import chunks, embeddings, outbox, publications, version_chunks, version_deltas, versions

_FEW = 500
_AT_ONCE = 5_000
UNINDEXED = {"chunk_count": 0, "keyword_ready": False, "embedded_chunks": 0}
_T = TypeVar("_T")


def remove_chunks(tx: Connection, version_id: int) -> None:
    """Take all chunks from a version that is not shown.

    Those that no other version has leave both indexes; the others go to history unless they are shown.
    """
    own = version_chunks.c.version_id == version_id
    if tx.scalar(select(version_chunks.c.chunk_id).where(own).limit(1)) is None:
        return
    doc_id = tx.execute(select(versions.c.doc_id).where(versions.c.id == version_id)).scalar_one()
    shown = select(publications.c.version_id).where(publications.c.doc_id == doc_id)
    shown_id = tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1))
    other = version_chunks.alias("other")
    elsewhere = exists().where(other.c.chunk_id == version_chunks.c.chunk_id, other.c.version_id != version_id)
    lonely: list[int] = list(tx.scalars(select(version_chunks.c.chunk_id).where(own, ~elsewhere).distinct()))
    for few in _slices(lonely):
        tx.execute(delete(version_chunks).where(own, version_chunks.c.chunk_id.in_(few)))
        _remove_rows(tx, few)
    shelve(tx, doc_id, version_id, shown_id)
    tx.execute(delete(version_chunks).where(own))
    bequeath(tx, version_id)
    _note_lost(tx, version_id, lonely)
    tx.execute(update(versions).where(versions.c.id == version_id).values(**UNINDEXED))


def remove_some(tx: Connection, version_id: int, *, with_embeddings: bool) -> bool:
    """Take some chunks that no other version has from a version that is not shown; tell whether there were any.

    Many small transactions instead of one long one, for which others would have to wait.
    """
    own = version_chunks.c.version_id == version_id
    other = version_chunks.alias("other")
    elsewhere = exists().where(other.c.chunk_id == version_chunks.c.chunk_id, other.c.version_id != version_id)
    lonely = select(version_chunks.c.chunk_id).where(own, ~elsewhere).limit(_AT_ONCE)
    found: list[int] = sorted(set(tx.scalars(lonely)))
    for few in _slices(found):
        hashes = list(tx.scalars(select(chunks.c.content_hash).where(chunks.c.id.in_(few))))
        tx.execute(delete(version_chunks).where(own, version_chunks.c.chunk_id.in_(few)))
        _remove_rows(tx, few)
        if with_embeddings:
            needed = exists().where(chunks.c.content_hash == embeddings.c.content_hash)
            tx.execute(delete(embeddings).where(embeddings.c.content_hash.in_(hashes), ~needed))
    _note_lost(tx, version_id, found)
    return bool(found)


def remove_all_chunks(tx: Connection, doc_id: int, version_id: int) -> None:
    """Take all chunks from all versions of a document that shows nothing; they are noted as lost by one version."""
    own = select(versions.c.id).where(versions.c.doc_id == doc_id)
    indexed = own.where(versions.c.state.in_(("ready", "stored")))
    tx.execute(delete(version_chunks).where(version_chunks.c.version_id.in_(own)))
    tx.execute(delete(version_deltas).where(version_deltas.c.version_id.in_(indexed)))
    tx.execute(update(versions).where(versions.c.doc_id == doc_id).values(**UNINDEXED, base_id=None))
    remove_orphans(tx, doc_id, version_id)


def remove_orphans(tx: Connection, doc_id: int, version_id: int) -> None:
    """Remove the chunks of the document that no version has."""
    held = exists().where(version_chunks.c.chunk_id == chunks.c.id)
    orphans: list[int] = list(tx.scalars(select(chunks.c.id).where(chunks.c.doc_id == doc_id, ~held)))
    for few in _slices(orphans):
        _remove_rows(tx, few)
    _note_lost(tx, version_id, orphans)


def remove_loose_embeddings(database: Database) -> None:
    """Remove the embeddings of contents that are gone; nobody waits to write while they are looked for."""
    loose = ~exists().where(chunks.c.content_hash == embeddings.c.content_hash)
    with database.read() as tx:
        found: list[bytes] = list(tx.scalars(select(embeddings.c.content_hash).where(loose).distinct()))
    for few in _slices(found):
        with database.write() as tx:
            tx.execute(delete(embeddings).where(embeddings.c.content_hash.in_(few), loose))


def _note_lost(tx: Connection, version_id: int, chunk_ids: Sequence[int]) -> None:
    """Note what left the catalogue with the version: its rows may have left traces in the files of the stores."""
    noted = set(tx.scalars(select(version_deltas.c.chunk_id).where(version_deltas.c.version_id == version_id)))
    rows = [{"version_id": version_id, "chunk_id": chunk_id} for chunk_id in chunk_ids if chunk_id not in noted]
    if rows:
        tx.execute(insert(version_deltas), rows)


def _slices(found: Sequence[_T]) -> list[Sequence[_T]]:
    return [found[at : at + _FEW] for at in range(0, len(found), _FEW)]


def _remove_rows(tx: Connection, chunk_ids: Sequence[int]) -> None:
    entries = [{"store": store, "chunk_id": chunk_id, "part": None} for store in STORES for chunk_id in chunk_ids]
    tx.execute(insert(outbox), entries)
    tx.execute(delete(chunks).where(chunks.c.id.in_(chunk_ids)))
