"""Chunks: which text a version consists of, the embeddings of that text, and the rows that the indexes need."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, String, and_, case, cast, delete, exists, func, insert, select, update

from core.catalog.deltas import base_of, bequeath, record
from core.catalog.engine import Database
from core.catalog.jobs import Attempt
from core.catalog.placing import shelve
from core.catalog.removal import remove_chunks
from core.catalog.schema import chunks, embeddings, publications, shown_now, version_chunks, versions
from core.codec import to_dict
from core.errors import Cancelled
from core.model import Chunk, Part
from core.ports import KeywordRow, Vector, VectorRow

_ID_BITS = (1 << 63) - 1
_FEW = 500


def content_hash(indexed_text: str) -> bytes:
    """Return the SHA-256 of the text that the indexes read."""
    return hashlib.sha256(indexed_text.encode("utf-8", "surrogatepass")).digest()


def chunk_id(doc_id: int, digest: bytes, probe: int = 0) -> int:
    """Return the stable 63-bit id of a content in a document; ``probe`` steps over another content's id."""
    key = doc_id.to_bytes(8, "big") + digest
    return (int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") + probe) & _ID_BITS


class Chunks:
    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- membership

    def begin(self, version_id: int, attempt: Attempt | None = None) -> None:
        """Forget the version's chunks, so that chunking can start (again). Raises: ``Cancelled`` as ``add`` does."""
        with self._database.write() as tx:
            _check(tx, version_id, attempt)
            bequeath(tx, version_id)
            tx.execute(delete(version_chunks).where(version_chunks.c.version_id == version_id))
            tx.execute(update(versions).where(versions.c.id == version_id).values(chunk_count=0))

    def add(
        self, version_id: int, doc_id: int, title: str, batch: Sequence[Chunk], attempt: Attempt | None = None
    ) -> None:
        """Add chunks to the version; a content that the document already has keeps its id.

        Raises: ``Cancelled`` where the version is not being indexed any more, or not by this attempt.
        """
        hashed = [(content_hash(chunk.indexed_text(title)), chunk) for chunk in batch]
        with self._database.write() as tx:
            _check(tx, version_id, attempt)
            ids = self._ids(tx, doc_id, title, hashed)
            tx.execute(
                insert(version_chunks),
                [
                    {
                        "version_id": version_id,
                        "position": chunk.position,
                        "chunk_id": ids[digest],
                        "start": chunk.start,
                        "end": chunk.end,
                        "locator": {
                            name: value
                            for name, value in to_dict(chunk.locator).items()
                            if value is not None and name != "heading_path"
                        },
                    }
                    for digest, chunk in hashed
                ],
            )

    def _ids(self, tx: Connection, doc_id: int, title: str, hashed: Sequence[tuple[bytes, Chunk]]) -> dict[bytes, int]:
        digests = {digest for digest, _ in hashed}
        known = select(chunks.c.content_hash, chunks.c.id).where(
            chunks.c.doc_id == doc_id, chunks.c.content_hash.in_(digests)
        )
        ids: dict[bytes, int] = {row.content_hash: row.id for row in tx.execute(known)}
        rows = []
        for digest, chunk in hashed:
            if digest in ids:
                continue
            ids[digest] = self._free_id(tx, doc_id, digest)
            rows.append(
                {
                    "id": ids[digest],
                    "doc_id": doc_id,
                    "content_hash": digest,
                    "title": title,
                    "heading_path": list(chunk.locator.heading_path),
                    "header": chunk.header,
                    "kind": chunk.kind,
                    "text": chunk.text,
                    "token_count": chunk.token_count,
                }
            )
        if rows:
            tx.execute(insert(chunks), rows)
        return ids

    @staticmethod
    def _free_id(tx: Connection, doc_id: int, digest: bytes) -> int:
        probe = 0
        while tx.scalar(select(chunks.c.id).where(chunks.c.id == chunk_id(doc_id, digest, probe))) is not None:
            probe += 1
        return chunk_id(doc_id, digest, probe)

    def finish(self, version_id: int, doc_id: int, attempt: Attempt | None = None) -> int:
        """Record how many chunks the version has, shares with the one before, and lost of it; return the first.

        Raises: ``Cancelled`` as ``add`` does.
        """
        with self._database.write() as tx:
            _check(tx, version_id, attempt)
            base_id = base_of(tx, version_id)
            record(tx, version_id, base_id)
            total, added = _count(tx, version_id, base_id)
            _, removed = _count(tx, base_id, version_id)
            tx.execute(
                update(versions)
                .where(versions.c.id == version_id)
                .values(
                    chunk_count=total,
                    chunks_kept=total - added,
                    chunks_added=added,
                    chunks_removed=removed if base_id is not None else 0,
                )
            )
        return total

    def forget(self, version_id: int) -> None:
        """Remove the chunks of a failed or cancelled version, from both indexes as well where it alone has them.

        One that has been queued again keeps them for its next attempt, one that was ever shown for citations; what
        had been prepared of these goes back to history.
        """
        with self._database.write() as tx:
            row = tx.execute(select(versions).where(versions.c.id == version_id)).one()
            own = publications.c.version_id == version_id
            was_shown = tx.scalar(select(publications.c.seq).where(own).limit(1)) is not None
            if row.state in ("failed", "cancelled") and not was_shown:
                remove_chunks(tx, version_id)
            elif row.is_prepared:
                shown = select(publications.c.version_id).where(publications.c.doc_id == row.doc_id)
                shelve(tx, row.doc_id, version_id, tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1)))

    def ids_of(self, version_id: int) -> list[int]:
        with self._database.read() as tx:
            return list(
                tx.scalars(
                    select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == version_id).distinct()
                )
            )

    # ---- embeddings

    def without_embedding(self, version_id: int, model: str) -> dict[bytes, int]:
        """Return the hash, and the length in characters, of the version's contents that the model has not embedded."""
        query = select(chunks.c.content_hash, func.length(chunks.c.text)).where(
            chunks.c.id.in_(select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == version_id)),
            ~exists().where(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model),
        )
        with self._database.read() as tx:
            return {row[0]: row[1] for row in tx.execute(query.order_by(chunks.c.id))}

    def texts_of(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        """Return the indexed texts of contents, without those that are gone."""
        with self._database.read() as tx:
            rows = tx.execute(select(chunks).where(chunks.c.content_hash.in_(hashes)))
            return {row.content_hash: _indexed_text(row) for row in rows}

    def add_embeddings(self, model: str, hashes: Sequence[bytes], vectors: Vector) -> None:
        """Keep ``(n, dimension)`` vectors as half-precision floats, but for contents that are gone."""
        halves = vectors.astype(np.float16)
        with self._database.write() as tx:
            wanted = set(tx.scalars(select(chunks.c.content_hash).where(chunks.c.content_hash.in_(hashes))))
            known = set(
                tx.scalars(
                    select(embeddings.c.content_hash).where(
                        embeddings.c.model == model, embeddings.c.content_hash.in_(hashes)
                    )
                )
            )
            rows = {
                digest: {"content_hash": digest, "model": model, "vector": half.tobytes()}
                for digest, half in zip(hashes, halves, strict=True)
                if digest in wanted - known
            }
            if rows:
                tx.execute(insert(embeddings), list(rows.values()))

    def head_vectors(self, model: str) -> Iterator[tuple[int, int, Vector]]:
        """Yield id, document id and vector of every chunk of a published version."""
        members = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(shown_now))
        query = (
            select(chunks.c.id, chunks.c.doc_id, embeddings.c.vector)
            .join(embeddings, and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model))
            .where(chunks.c.id.in_(members))
        )
        with self._database.read() as tx:
            for row in tx.execute(query.execution_options(yield_per=5000)):
                yield row.id, row.doc_id, np.frombuffer(row.vector, np.float16).astype(np.float32)

    # ---- rows for the indexes

    def vector_rows(self, parts: dict[int, Part], model: str) -> list[VectorRow]:
        return [
            VectorRow(
                row.id,
                row.doc_id,
                parts[row.id],
                np.frombuffer(row.vector, np.float16).astype(np.float32),
                _indexed_text(row),
                row.source,
            )
            for row in self._rows(parts, model)
        ]

    def keyword_rows(self, parts: dict[int, Part]) -> list[KeywordRow]:
        return [
            KeywordRow(row.id, row.doc_id, parts[row.id], _indexed_text(row), row.source)
            for row in self._rows(parts, None)
        ]

    def _rows(self, chunk_ids: Iterable[int], model: str | None) -> Iterator[Any]:
        """Yield the chunks with ``source`` = ``<file name>#v<version>`` of the newest version that has them."""
        newest = select(version_chunks.c.chunk_id, func.max(version_chunks.c.version_id).label("version_id")).group_by(
            version_chunks.c.chunk_id
        )
        wanted = sorted(chunk_ids)
        with self._database.read() as tx:
            for at in range(0, len(wanted), _FEW):
                few = wanted[at : at + _FEW]
                last = newest.where(version_chunks.c.chunk_id.in_(few)).subquery()
                query = (
                    select(chunks, (versions.c.file_name + "#v" + cast(versions.c.number, String)).label("source"))
                    .join(last, last.c.chunk_id == chunks.c.id)
                    .join(versions, versions.c.id == last.c.version_id)
                )
                if model is not None:
                    query = query.add_columns(embeddings.c.vector).join(
                        embeddings,
                        and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model),
                    )
                yield from tx.execute(query)


def _check(tx: Connection, version_id: int, attempt: Attempt | None) -> None:
    if tx.scalar(select(versions.c.state).where(versions.c.id == version_id)) != "stored":
        raise Cancelled("The job was cancelled.")
    if attempt is not None:
        attempt.check(tx)


def _count(tx: Connection, of: int | None, without: int | None) -> tuple[int, int]:
    """Count the places of a version, and those whose chunk another version does not have."""
    other = version_chunks.alias("other")
    shared = exists().where(other.c.chunk_id == version_chunks.c.chunk_id, other.c.version_id == without)
    own = select(func.count(), func.sum(case((~shared, 1), else_=0))).where(version_chunks.c.version_id == of)
    total, alone = tx.execute(own).one()
    return total, alone or 0


def _indexed_text(row: Any) -> str:
    lines = (row.title, " › ".join(row.heading_path), row.header, row.text)
    return "\n".join(line for line in lines if line)
