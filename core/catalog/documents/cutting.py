"""Cutting: the chunks of many small versions are kept in one transaction, with a few statements for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, exists, func, insert, select, update

from core.catalog.documents.chunk_rows import chunk_id, content_hash, place_of, row_of
from core.catalog.documents.deltas import BASE
from core.catalog.documents.removal import UNINDEXED
from core.catalog.jobs.ledger import Attempt, running_among
from core.catalog.prepared import Prepared
from core.catalog.schema import IS_CURRENT, chunks, documents, version_chunks, version_deltas, versions
from core.model import Chunk

_FEW = 500
_MOST_OF_A_BASE = 2_000
"""Places of the version before, which are read whole."""
_KNOWN = Prepared(
    select(chunks.c.content_hash, chunks.c.id).where(
        chunks.c.doc_id == bindparam("doc_id"), chunks.c.content_hash.in_(bindparam("hashes", expanding=True))
    ),
    "hashes",
)
_COUNTED = (
    update(versions)
    .where(versions.c.id == bindparam("of"))
    .values(
        **UNINDEXED
        | {
            "chunk_count": bindparam("count"),
            "chunks_added": bindparam("added"),
            "chunks_kept": bindparam("kept"),
            "chunks_removed": bindparam("removed"),
            "base_id": bindparam("base"),
        }
    )
)


@dataclass(frozen=True, slots=True)
class CutVersion:
    """All chunks of a version, which are few, and the attempt that cut them."""

    version_id: int
    doc_id: int
    title: str
    chunks: Sequence[Chunk]
    attempt: Attempt


def cut_together(tx: Connection, cuts: Sequence[CutVersion]) -> set[int]:
    """Keep the chunks of versions; return the ids of those that have them.

    Left out are other readings, what was begun before or is not to be indexed any more, all versions of a document
    but one, what follows a long version, and a document in which another content has an id.
    """
    running = running_among(tx, [each.attempt for each in cuts])
    rows = _never_cut(tx, [each.version_id for each in cuts])
    fit: dict[int, CutVersion] = {}
    for each in cuts:
        if each.version_id in rows and each.attempt in running:
            fit.setdefault(each.doc_id, each)
    digests = {
        doc_id: [content_hash(chunk.indexed_text(each.title), rows[each.version_id].owner_id) for chunk in each.chunks]
        for doc_id, each in fit.items()
    }
    known = {
        doc_id: {} if rows[each.version_id].is_alone else _known(tx, doc_id, set(digests[doc_id]))
        for doc_id, each in fit.items()
    }
    lacking = {doc_id: set(own) - known[doc_id].keys() for doc_id, own in digests.items()}
    new = {doc_id: {chunk_id(doc_id, digest): digest for digest in own} for doc_id, own in lacking.items()}
    taken = _present(tx, [number for own in new.values() for number in own])
    contents: dict[int, dict[str, Any]] = {}
    places: dict[int, list[dict[str, Any]]] = {}
    for doc_id, each in fit.items():
        if (
            len(new[doc_id]) < len(lacking[doc_id])
            or not taken.isdisjoint(new[doc_id])
            or new[doc_id].keys() & contents
        ):
            continue
        own_places = places[each.version_id] = []
        for digest, chunk in zip(digests[doc_id], each.chunks, strict=True):
            number = known[doc_id].get(digest)
            if number is None:
                number = chunk_id(doc_id, digest)
                contents.setdefault(number, row_of(number, doc_id, digest, each.title, chunk))
            own_places.append(place_of(each.version_id, number, chunk))
    if contents:
        tx.execute(insert(chunks), list(contents.values()))
    if places:
        tx.execute(insert(version_chunks), [place for own in places.values() for place in own])
        _note(tx, {version_id: [place["chunk_id"] for place in own] for version_id, own in places.items()}, rows)
    return set(places)


def _never_cut(tx: Connection, version_ids: Collection[int]) -> dict[int, Row[Any]]:
    """Return those of the versions that are to be cut and never were, with their documents' owners and their bases."""
    others, base = versions.alias("others"), versions.alias("base")
    is_alone = ~exists().where(others.c.doc_id == versions.c.doc_id, others.c.id != versions.c.id)
    traces = (
        exists().where(version_chunks.c.version_id == versions.c.id),
        exists().where(version_deltas.c.version_id == versions.c.id),
        exists().where(others.c.doc_id == versions.c.doc_id, others.c.base_id == versions.c.id),
    )
    query = (
        select(versions.c.id, documents.c.owner_id, base.c.id.label("base_id"), is_alone.label("is_alone"))
        .join(documents, documents.c.id == versions.c.doc_id)
        .outerjoin(base, base.c.id == BASE)
        .where(versions.c.id.in_(version_ids), versions.c.state == "stored", IS_CURRENT, versions.c.base_id.is_(None))
        .where(*(~trace for trace in traces), func.coalesce(base.c.chunk_count, 0) <= _MOST_OF_A_BASE)
    )
    return {row.id: row for row in tx.execute(query)}


def _known(tx: Connection, doc_id: int, digests: Collection[bytes]) -> dict[bytes, int]:
    """Return the ids of those contents that a document has."""
    return dict(_KNOWN.rows(tx, {"doc_id": doc_id, "hashes": list(digests)}))


def _present(tx: Connection, chunk_ids: Collection[int]) -> set[int]:
    ordered = sorted(chunk_ids)
    few = (ordered[at : at + _FEW] for at in range(0, len(ordered), _FEW))
    return {found for each in few for found in tx.scalars(select(chunks.c.id).where(chunks.c.id.in_(each)))}


def _note(tx: Connection, members: Mapping[int, Sequence[int]], rows: Mapping[int, Row[Any]]) -> None:
    """Note of versions how many chunks they have, share with their bases and lost of them, and what differs."""
    bases = {rows[version_id].base_id for version_id in members} - {None}
    held: dict[int, list[int]] = {base_id: [] for base_id in bases}
    if bases:
        own = select(version_chunks.c.version_id, version_chunks.c.chunk_id)
        for base_id, number in tx.execute(own.where(version_chunks.c.version_id.in_(bases))):
            held[base_id].append(number)
    counts, deltas = [], []
    for version_id, own_ids in members.items():
        base_id = rows[version_id].base_id
        base_ids = held.get(base_id, [])
        present, before = set(own_ids), set(base_ids)
        added = sum(number not in before for number in own_ids)
        counts.append(
            {
                "of": version_id,
                "count": len(own_ids),
                "added": added,
                "kept": len(own_ids) - added,
                "removed": sum(number not in present for number in base_ids),
                "base": base_id,
            }
        )
        if base_id is not None:
            deltas += [{"version_id": version_id, "chunk_id": number} for number in present ^ before]
    if deltas:
        tx.execute(insert(version_deltas), deltas)
    tx.execute(_COUNTED, counts)
