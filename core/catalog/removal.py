"""Removal: the chunks of a version leave the catalogue and both indexes, except for what other versions share."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Select, delete, exists, insert, select, update

from core.catalog.deltas import bequeath
from core.catalog.outbox import STORES
from core.catalog.placing import shelve
from core.catalog.schema import chunks, embeddings, outbox, publications, version_chunks, version_deltas, versions

_FEW = 500


def remove_chunks(tx: Connection, version_id: int) -> None:
    """Take all chunks from a version that is not shown.

    Those that no other version has leave both indexes; the others go to history unless they are shown.
    """
    doc_id = tx.scalar(select(versions.c.doc_id).where(versions.c.id == version_id))
    shown = select(publications.c.version_id).where(publications.c.doc_id == doc_id)
    shown_id = tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1))
    own = version_chunks.c.version_id == version_id
    other = version_chunks.alias("other")
    elsewhere = exists().where(other.c.chunk_id == version_chunks.c.chunk_id, other.c.version_id != version_id)
    for few in _slices(tx, select(version_chunks.c.chunk_id).where(own, ~elsewhere).distinct()):
        tx.execute(delete(version_chunks).where(own, version_chunks.c.chunk_id.in_(few)))
        _remove_rows(tx, few)
    shelve(tx, int(doc_id or 0), version_id, shown_id)
    tx.execute(delete(version_chunks).where(own))
    bequeath(tx, version_id)
    tx.execute(update(versions).where(versions.c.id == version_id).values(chunk_count=0))


def remove_all_chunks(tx: Connection, doc_id: int) -> None:
    """Take all chunks from all versions of a document that shows nothing; ``remove_orphans`` removes the chunks."""
    own = select(versions.c.id).where(versions.c.doc_id == doc_id)
    tx.execute(delete(version_chunks).where(version_chunks.c.version_id.in_(own)))
    tx.execute(delete(version_deltas).where(version_deltas.c.version_id.in_(own)))
    tx.execute(update(versions).where(versions.c.doc_id == doc_id).values(chunk_count=0, base_id=None))


def remove_orphans(tx: Connection, doc_id: int) -> None:
    """Remove what an interrupted upload left: chunks of the document in no version, embeddings of no chunk."""
    held = exists().where(version_chunks.c.chunk_id == chunks.c.id)
    for few in _slices(tx, select(chunks.c.id).where(chunks.c.doc_id == doc_id, ~held)):
        _remove_rows(tx, few)
    tx.execute(delete(embeddings).where(~exists().where(chunks.c.content_hash == embeddings.c.content_hash)))


def _slices(tx: Connection, ids: Select[tuple[int]]) -> list[Sequence[int]]:
    found: list[int] = list(tx.scalars(ids))
    return [found[at : at + _FEW] for at in range(0, len(found), _FEW)]


def _remove_rows(tx: Connection, chunk_ids: Sequence[int]) -> None:
    entries = [{"store": store, "chunk_id": chunk_id, "part": None} for store in STORES for chunk_id in chunk_ids]
    tx.execute(insert(outbox), entries)
    tx.execute(delete(chunks).where(chunks.c.id.in_(chunk_ids)))
