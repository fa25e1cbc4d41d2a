"""Visibility: the catalogue alone decides which chunks a question may see, and gives their text and place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, func, select

from core.catalog.engine import Database
from core.catalog.schema import chunks, document_tags, documents, publications, version_chunks, versions
from core.model import BlockKind, Chunk, Filters, Locator, PlacedChunk, Preview

_placed = select(
    chunks.c.id,
    chunks.c.doc_id,
    chunks.c.content_hash,
    chunks.c.title,
    chunks.c.heading_path,
    chunks.c.header,
    chunks.c.kind,
    chunks.c.text,
    chunks.c.token_count,
    version_chunks.c.position,
    version_chunks.c.start,
    version_chunks.c.end,
    version_chunks.c.locator,
    version_chunks.c.version_id,
).join(version_chunks, version_chunks.c.chunk_id == chunks.c.id)

_names = (
    select(versions.c.id, versions.c.number, versions.c.file_name, documents.c.doc_key)
    .join(documents, documents.c.id == versions.c.doc_id)
    .where(versions.c.id.in_(bindparam("ids", expanding=True)))
)

_shown_version = (
    select(publications.c.version_id)
    .where(publications.c.doc_id == chunks.c.doc_id, publications.c.seq <= bindparam("sequence"))
    .order_by(publications.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)

_visible = _placed.where(
    chunks.c.id.in_(bindparam("ids", expanding=True)), version_chunks.c.version_id == _shown_version
)


Names = tuple[int, str, str]
"""Number, file name and document key of a version, which never change."""

_MOST_NAMES = 50_000


class Visibility:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, Names] = {}

    def visible(self, chunk_ids: Iterable[int], sequence: int) -> dict[int, PlacedChunk]:
        """Return those of the chunks that were shown at ``sequence``, at their first place in the version shown."""
        ids = list(chunk_ids)
        if not ids:
            return {}
        found: dict[int, PlacedChunk] = {}
        with self._database.read() as tx:
            rows = tx.execute(_visible, {"ids": ids, "sequence": sequence}).all()
            names = self._names_of(tx, {row[-1] for row in rows})
        for row in rows:
            placed = _placed_chunk(row, names[row[-1]])
            known = found.get(placed.id)
            if known is None or placed.chunk.position < known.chunk.position:
                found[placed.id] = placed
        return found

    def _names_of(self, tx: Connection, version_ids: set[int]) -> Mapping[int, Names]:
        known = self._known
        if missing := [version_id for version_id in version_ids if version_id not in known]:
            read = {row[0]: (row[1], row[2], row[3]) for row in tx.execute(_names, {"ids": missing})}
            # Another dictionary instead of a changed one: other questions may be reading this one.
            known = {**(known if len(known) < _MOST_NAMES else {}), **read}
            known |= {version_id: self._known[version_id] for version_id in version_ids - known.keys()}
            self._known = known
        return known

    def preview(self, doc_key: str, version_id: int, number: int, start: int, count: int) -> Preview:
        """Return ``count`` chunks of a version from position ``start`` on."""
        total = select(func.count()).select_from(version_chunks).where(version_chunks.c.version_id == version_id)
        query = (
            _placed.where(
                version_chunks.c.version_id == version_id,
                version_chunks.c.position >= start,
                version_chunks.c.position < start + count,
            )
        ).order_by(version_chunks.c.position)
        with self._database.read() as tx:
            rows = tx.execute(query).all()
            names = self._names_of(tx, {version_id})
            placed = tuple(_placed_chunk(row, names[version_id]) for row in rows)
            return Preview(doc_key, number, int(tx.scalar(total) or 0), placed)

    def documents_matching(self, filters: Filters) -> list[int] | None:
        """Return the ids of the documents that the filters allow, or None where they allow all."""
        if filters == Filters():
            return None
        with self._database.read() as tx:
            return list(tx.scalars(_filtered(filters)))


def _filtered(filters: Filters) -> Select[Any]:
    query = select(documents.c.id)
    if filters.doc_keys:
        query = query.where(documents.c.doc_key.in_(filters.doc_keys))
    if filters.tags:
        query = query.where(
            documents.c.id.in_(select(document_tags.c.doc_id).where(document_tags.c.tag.in_(filters.tags)))
        )
    if filters.extensions:
        query = query.where(
            documents.c.id.in_(select(versions.c.doc_id).where(versions.c.extension.in_(filters.extensions)))
        )
    moments = []
    if filters.updated_after is not None:
        moments.append(documents.c.updated_at >= filters.updated_after)
    if filters.updated_before is not None:
        moments.append(documents.c.updated_at <= filters.updated_before)
    return query.where(and_(True, *moments))


_KINDS = {kind.value: kind for kind in BlockKind}


def _placed_chunk(row: Any, names: Names) -> PlacedChunk:
    # By position and with a plain dictionary: a question makes a hundred of these.
    (
        chunk_id, doc_id, content_hash, title, heading_path, header, kind, text, token_count,
        position, start, end, locator, _version_id,
    ) = row  # fmt: skip
    number, file_name, doc_key = names
    place = Locator(heading_path=tuple(heading_path), **locator)
    chunk = Chunk(position, text, start, end, _KINDS[kind], place, header, token_count)
    return PlacedChunk(chunk_id, doc_id, doc_key, file_name, title, number, chunk, content_hash)
