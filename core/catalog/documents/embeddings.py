"""Embeddings: the vector of each content, and through the outbox a row for every chunk that has one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    distinct,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from core.catalog import beside
from core.catalog.documents.part_vectors import part_vectors
from core.catalog.engine import Database
from core.catalog.outbox import VECTOR
from core.catalog.prepared import Prepared
from core.catalog.schema import chunks, embeddings, outbox, publications, shown_now, version_chunks, versions
from core.model import Part
from core.ports import HeadVector, Vector

_FEW = 500
_MOST_KNOWN = 8_000
"""Vectors that questions have asked for and that are remembered."""
LOOK_AGAIN_S = 0.1
"""Time after which to look again for what somebody else embeds."""
PATIENCE_S = 60.0
"""Time after which to embed as well what somebody else, perhaps a frozen process, has claimed."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A content of a version that has no embedding: where it stands, its hash, its length in characters and tokens."""

    position: int
    digest: bytes
    length: int
    tokens: int


_OF_HASHES = Prepared(
    select(embeddings.c.content_hash, embeddings.c.vector).where(
        embeddings.c.model == bindparam("model"),
        embeddings.c.content_hash.in_(bindparam("hashes", expanding=True)),
    ),
    "hashes",
)


_IN_HEAD = select(version_chunks.c.chunk_id).where(
    or_(
        version_chunks.c.version_id.in_(shown_now),
        version_chunks.c.version_id.in_(select(versions.c.id).where(versions.c.is_prepared)),
    )
)
"""The chunks of the head part."""


class Embeddings:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: tuple[object, dict[bytes, Vector | None]] = None, {}

    def missing(self, version_id: int, model: str, after: int, limit: int) -> list[Missing]:
        """Return contents of the version, from behind a position on, that the model has not embedded."""
        query = (
            select(version_chunks.c.position, chunks.c.content_hash, func.length(chunks.c.text), chunks.c.token_count)
            .join(chunks, chunks.c.id == version_chunks.c.chunk_id)
            .where(version_chunks.c.version_id == version_id, version_chunks.c.position > after, ~_embedded(model))
            .order_by(version_chunks.c.position)
            .limit(limit)
        )
        with self._database.read() as tx:
            return [Missing(*row) for row in tx.execute(query)]

    def progress(self, version_ids: Collection[int], model: str) -> dict[int, tuple[int, int]]:
        """Return how many places of each version have an embedding, and how many contents have none."""
        has = _embedded(model)
        query = (
            select(
                version_chunks.c.version_id,
                func.sum(case((has, 1), else_=0)),
                func.count(distinct(case((~has, chunks.c.id)))),
            )
            .select_from(version_chunks)
            .join(chunks, chunks.c.id == version_chunks.c.chunk_id)
            .where(version_chunks.c.version_id.in_(version_ids))
            .group_by(version_chunks.c.version_id)
        )
        with self._database.read() as tx:
            found = {row[0]: (int(row[1] or 0), int(row[2])) for row in tx.execute(query)}
        return {version_id: found.get(version_id, (0, 0)) for version_id in version_ids}

    def texts_of(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        """Return the indexed texts of contents, without those that are gone."""
        with self._database.read() as tx:
            rows = tx.execute(select(chunks).where(chunks.c.content_hash.in_(hashes)))
            return {row.content_hash: indexed_text(row) for row in rows}

    @contextmanager
    def claimed(self, model: str, hashes: Sequence[bytes]) -> Iterator[set[bytes]]:
        """Claim contents for one thread to embed, and give those that nobody else is embedding now.

        A process that ends, however it does, gives its claims up.
        """
        names = {f"embedding:{model}:{digest.hex()}": digest for digest in hashes}
        with self._database.claimed(list(names)) as free:
            yield {names[name] for name in free}

    def embedded(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """Return those of the contents that have an embedding."""
        query = select(embeddings.c.content_hash).where(
            embeddings.c.model == model, embeddings.c.content_hash.in_(hashes)
        )
        with self._database.read() as tx:
            return set(tx.scalars(query))

    def of_hashes(self, hashes: Collection[bytes], model: str) -> dict[bytes, Vector]:
        """Return the vectors of contents, without those that have none."""
        known = self._known_of(model)
        wanted = [digest for digest in hashes if digest not in known]
        if wanted:
            with self._database.read() as tx:
                rows = _OF_HASHES.rows(tx, {"hashes": wanted, "model": model})
            read = {digest: np.frombuffer(half, np.float16).astype(np.float32) for digest, half in rows}
            known |= {digest: read.get(digest) for digest in wanted}
        return {digest: vector for digest in hashes if (vector := known[digest]) is not None}

    def _known_of(self, model: str) -> dict[bytes, Vector | None]:
        """Return the vectors of a model that were read lately, None for contents without one."""
        revision = self._database.revisions.of((embeddings.name,))
        if revision is None:
            return {}
        state, known = self._known
        if state != (revision, model) or len(known) > _MOST_KNOWN:
            known = {}
            self._known = (revision, model), known
        return known

    def add(self, model: str, hashes: Sequence[bytes], vectors: Vector) -> None:
        """Keep ``(n, dimension)`` vectors as half-precision floats, but for contents that are gone.

        Every chunk with one of these contents, of whatever document, gets its row where it belongs at this moment.
        """
        halves = dict(zip(hashes, vectors.astype(np.float16), strict=True))

        def act(tx: Connection) -> None:
            wanted = set(tx.scalars(select(chunks.c.content_hash).where(chunks.c.content_hash.in_(hashes))))
            known = select(embeddings.c.content_hash).where(
                embeddings.c.model == model, embeddings.c.content_hash.in_(hashes)
            )
            new = wanted - set(tx.scalars(known))
            if not new:
                return
            rows = [{"content_hash": digest, "model": model, "vector": halves[digest].tobytes()} for digest in new]
            tx.execute(insert(embeddings), rows)
            held = tx.execute(select(chunks.c.id, chunks.c.doc_id).where(chunks.c.content_hash.in_(new))).all()
            holders = [row for row in held if beside.holds(tx, beside.document(row.doc_id))]
            for at in range(0, len(holders), _FEW):
                few = holders[at : at + _FEW]
                ids = [row.id for row in few]
                head = _in_head(tx, ids, {row.doc_id for row in few})
                # No store has had these rows, so none of them stands where it does not belong.
                entries = [
                    {
                        "store": VECTOR,
                        "chunk_id": chunk_id,
                        "part": Part.HEAD if chunk_id in head else Part.HISTORY,
                        "moves": False,
                    }
                    for chunk_id in ids
                ]
                tx.execute(insert(outbox), entries)
                _count(tx, ids)

        self._database.beside(lambda tx: beside.holders(tx, hashes), act)

    def of_version(self, version_id: int, model: str) -> list[tuple[int, int, Vector]]:
        """Return id, position and vector of the version's chunks, without those that have no embedding."""
        query = (
            select(chunks.c.id, version_chunks.c.position, embeddings.c.vector)
            .join(version_chunks, version_chunks.c.chunk_id == chunks.c.id)
            .join(embeddings, and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model))
            .where(version_chunks.c.version_id == version_id)
            .order_by(version_chunks.c.position)
        )
        with self._database.read() as tx:
            rows = tx.execute(query).all()
        return [(row.id, row.position, np.frombuffer(row.vector, np.float16).astype(np.float32)) for row in rows]

    def set_progress(self, progress: dict[int, int]) -> None:
        """Note how many places of each version have an embedding."""
        rows = [{"of": of, "count": count} for of, count in progress.items()]
        own = update(versions).where(versions.c.id == bindparam("of")).values(embedded_chunks=bindparam("count"))
        self._database.beside(lambda tx: beside.documents_of(tx, progress), lambda tx: tx.execute(own, rows))

    def head_vectors(self, model: str) -> Iterator[HeadVector]:
        """Yield id, document id and vector of every chunk of a version that is shown, or about to be."""
        with self._database.read() as tx:
            yield from part_vectors(tx, model, _IN_HEAD)

    def past_vectors(self, model: str) -> Iterator[HeadVector]:
        """Yield id, document id and vector of every chunk that versions have, none of them shown or about to be."""
        past = select(versions.c.id).where(~versions.c.is_prepared).except_(shown_now)
        members = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(past))
        with self._database.read() as tx:
            yield from part_vectors(tx, model, members, _IN_HEAD)


def indexed_text(row: object) -> str:
    """Return the text of a row of ``chunks`` that both indexes read."""
    lines = (row.title, " › ".join(row.heading_path), row.header, row.text)  # type: ignore[attr-defined]
    return "\n".join(line for line in lines if line)


def _embedded(model: str) -> ColumnElement[bool]:
    return exists(
        select(literal(1))
        .where(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model)
        .correlate(chunks)
    )


def _in_head(tx: Connection, chunk_ids: Sequence[int], doc_ids: Collection[int]) -> set[int]:
    """Return those of the chunks that a version has which is shown, or is about to be."""
    last = select(func.max(publications.c.seq)).where(publications.c.doc_id.in_(doc_ids))
    last = last.group_by(publications.c.doc_id)
    shown = select(publications.c.version_id).where(
        publications.c.seq.in_(last), publications.c.version_id.is_not(None)
    )
    prepared = select(versions.c.id).where(versions.c.doc_id.in_(doc_ids), versions.c.is_prepared)
    there = [*tx.scalars(shown), *tx.scalars(prepared)]
    members = select(version_chunks.c.chunk_id).where(
        version_chunks.c.chunk_id.in_(chunk_ids), version_chunks.c.version_id.in_(there)
    )
    return set(tx.scalars(members))


def _count(tx: Connection, chunk_ids: Sequence[int]) -> None:
    """Count chunks that have got an embedding for the versions that hold them."""
    own = version_chunks.c.chunk_id.in_(chunk_ids)
    held = select(version_chunks.c.version_id, func.count()).where(own).group_by(version_chunks.c.version_id)
    counts = [{"of": version_id, "more": count} for version_id, count in tx.execute(held)]
    if counts:
        more = {"embedded_chunks": versions.c.embedded_chunks + bindparam("more")}
        tx.execute(update(versions).where(versions.c.id == bindparam("of")).values(**more), counts)
