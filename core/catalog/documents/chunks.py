"""Chunks: which text a version consists of, the embeddings of that text, and the rows that the indexes need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, String, and_, case, cast, delete, exists, func, insert, select, update

from core.catalog import beside
from core.catalog.documents.chunk_rows import chunk_id, content_hash, place_of, row_of
from core.catalog.documents.cutting import CutVersion, cut_together
from core.catalog.documents.deltas import base_of, bequeath, record
from core.catalog.documents.embeddings import indexed_text
from core.catalog.documents.leftovers import FileKind, note
from core.catalog.documents.placing import shelve
from core.catalog.documents.removal import UNINDEXED, remove_orphans, remove_some
from core.catalog.engine import Database
from core.catalog.jobs.ledger import Attempt
from core.catalog.schema import NUMBER, chunks, documents, embeddings, publications, version_chunks, versions
from core.errors import Cancelled
from core.model import Chunk, Part
from core.model.fingerprint import fingerprint
from core.ports import KeywordRow, VectorRow
from core.text.analysis import ANALYSER_ID

_FEW = 500


class Chunks:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.keywords_built_by = ANALYSER_ID
        """What this process makes the terms of keyword rows with: ``Words.built_by``."""

    # ---- membership

    def begin(self, version_id: int, attempt: Attempt | None = None) -> None:
        """Forget the version's chunks, so that chunking can start (again). Raises: ``Cancelled`` as ``add`` does."""

        def act(tx: Connection) -> None:
            _check(tx, version_id, attempt)
            bequeath(tx, version_id)
            own = version_chunks.c.version_id == version_id
            # Most have none; whatever is deleted has all remembered passages read again.
            if tx.scalar(select(version_chunks.c.chunk_id).where(own).limit(1)) is not None:
                tx.execute(delete(version_chunks).where(own))
            tx.execute(update(versions).where(versions.c.id == version_id).values(**UNINDEXED))

        self._database.beside(lambda tx: beside.documents_of(tx, [version_id]), act)

    def add(
        self, version_id: int, doc_id: int, title: str, batch: Sequence[Chunk], attempt: Attempt | None = None
    ) -> None:
        """Add chunks to the version; a content that the document already has keeps its id.

        Raises: ``Cancelled`` where the version is not being indexed any more, or not by this attempt.
        """

        def act(tx: Connection) -> None:
            _check(tx, version_id, attempt)
            owner_id = tx.scalar(select(documents.c.owner_id).where(documents.c.id == doc_id))
            hashed = [(content_hash(chunk.indexed_text(title), owner_id), chunk) for chunk in batch]
            ids = self._ids(tx, doc_id, title, hashed)
            tx.execute(
                insert(version_chunks),
                [place_of(version_id, ids[digest], chunk) for digest, chunk in hashed],
            )

        self._database.beside(lambda _: beside.documents([doc_id]), act)

    def cut(self, cuts: Sequence[CutVersion]) -> set[int]:
        """Keep the chunks of several versions in one transaction; return the ids of those that have them.

        The others take the way of ``begin``, ``add`` and ``finish``, as ``cut_together`` says.
        """
        return self._database.beside(
            lambda _: beside.documents(each.doc_id for each in cuts), lambda tx: cut_together(tx, cuts)
        )

    def _ids(self, tx: Connection, doc_id: int, title: str, hashed: Sequence[tuple[bytes, Chunk]]) -> dict[bytes, int]:
        digests = {digest for digest, _ in hashed}
        known = select(chunks.c.content_hash, chunks.c.id).where(
            chunks.c.doc_id == doc_id, chunks.c.content_hash.in_(digests)
        )
        ids: dict[bytes, int] = {row.content_hash: row.id for row in tx.execute(known)}
        likely = {chunk_id(doc_id, digest) for digest in digests - ids.keys()}
        taken = set(tx.scalars(select(chunks.c.id).where(chunks.c.id.in_(likely))))
        rows = []
        for digest, chunk in hashed:
            if digest in ids:
                continue
            own = chunk_id(doc_id, digest)
            ids[digest] = own if own not in taken else self._free_id(tx, doc_id, digest)
            rows.append(row_of(ids[digest], doc_id, digest, title, chunk))
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

        def act(tx: Connection) -> int:
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

        return self._database.beside(lambda _: beside.documents([doc_id]), act)

    def forget(self, version_id: int) -> str | None:
        """Remove the chunks of a failed or cancelled version, from both indexes as well where it alone has them.

        One that has been queued again keeps them for its next attempt, one that was ever shown for citations; what
        had been prepared of these goes back to history. Return the name of the parsed text that nothing needs then.
        """
        while True:
            with self._database.write() as tx:
                row = tx.execute(select(versions).where(versions.c.id == version_id)).one()
                shown = select(publications.c.version_id).where(publications.c.doc_id == row.doc_id)
                shown_id = tx.scalar(shown.order_by(publications.c.seq.desc()).limit(1))
                was_shown = tx.scalar(shown.where(publications.c.version_id == version_id).limit(1)) is not None
                if row.state not in ("failed", "cancelled") or was_shown:
                    if row.is_prepared:
                        shelve(tx, row.doc_id, version_id, shown_id)
                    return None
                is_cancelled = row.state == "cancelled"
                if row.chunk_count:
                    # From now on a new attempt begins with cutting the text anew.
                    bequeath(tx, version_id)
                    tx.execute(update(versions).where(versions.c.id == version_id).values(**UNINDEXED))
                if remove_some(tx, version_id, with_embeddings=is_cancelled):
                    continue
                shelve(tx, row.doc_id, version_id, shown_id)
                tx.execute(delete(version_chunks).where(version_chunks.c.version_id == version_id))
                remove_orphans(tx, row.doc_id, version_id)
                if not is_cancelled:
                    return None
                tx.execute(update(versions).where(versions.c.id == version_id).values(parsed_sha256=None))
                if row.parsed_sha256:
                    note(tx, FileKind.BLOB, [row.parsed_sha256])
                return str(row.parsed_sha256) if row.parsed_sha256 else None

    def ids_of(self, version_id: int) -> list[int]:
        with self._database.read() as tx:
            return list(
                tx.scalars(
                    select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == version_id).distinct()
                )
            )

    def placed_ids(self, version_id: int, limit: int) -> list[int]:
        """Return the ids of the chunks at the version's first places, in their order."""
        query = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == version_id)
        with self._database.read() as tx:
            return list(tx.scalars(query.order_by(version_chunks.c.position).limit(limit)))

    # ---- rows for the indexes

    def vector_rows(self, parts: dict[int, Part], model: str) -> list[VectorRow]:
        return [
            VectorRow(
                row.id,
                row.doc_id,
                parts[row.id],
                np.frombuffer(row.vector, np.float16).astype(np.float32),
                indexed_text(row),
                row.source,
                fingerprint(row.content_hash, model),
            )
            for row in self._rows(parts, model)
        ]

    def keyword_rows(self, parts: dict[int, Part]) -> list[KeywordRow]:
        built_by = self.keywords_built_by
        return [
            KeywordRow(
                row.id,
                row.doc_id,
                parts[row.id],
                indexed_text(row),
                row.source,
                fingerprint(row.content_hash, built_by),
            )
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
                    select(chunks, (versions.c.file_name + "#v" + cast(NUMBER, String)).label("source"))
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
