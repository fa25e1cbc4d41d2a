"""The vectors of a part of all chunks, by which the part is taken into memory.

Contents are found by their hash, so that looking each one up reads the table in an order that has nothing to do with
how it lies: of a million chunks that takes 20 seconds, and reading all of it from its beginning to its end 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, and_, select

from core.catalog.schema import chunks, embeddings
from core.ports import HeadVector

Ids = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint8]

_LOOKED_UP = 5_000
"""Chunks that are looked up one by one: reading everything for them would take longer."""
_BATCH = 5_000
_AT_ONCE = 500


def part_vectors(
    tx: Connection, model: str, members: Select[tuple[int]], without: Select[tuple[int]] | None = None
) -> Iterator[HeadVector]:
    """Yield id, document id and 16-bit vector of each of the chunks that the model has embedded, in no order.

    ``members`` selects ids of chunks, of which those that ``without`` selects are none.
    """
    ids = _selected(tx, members)
    if without is not None and len(ids):
        ids = np.setdiff1d(ids, _selected(tx, without), assume_unique=True)
    if len(ids) <= _LOOKED_UP:
        yield from _looked_up(tx, model, ids)
        return
    found = select(chunks.c.id, chunks.c.doc_id, chunks.c.content_hash)
    wanted = _Hashed.sorted([_Hashed.of(rows).among(ids) for rows in _batches(tx, found)])
    query = select(embeddings.c.content_hash, embeddings.c.vector).where(embeddings.c.model == model)
    for rows in _batches(tx, query):
        at, of = wanted.places([row[0] for row in rows])
        vectors = np.stack([np.frombuffer(row[1], np.float16) for row in rows])[of]
        yield from zip(wanted.ids[at].tolist(), wanted.doc_ids[at].tolist(), vectors, strict=True)


def _looked_up(tx: Connection, model: str, ids: Ids) -> Iterator[HeadVector]:
    query = select(chunks.c.id, chunks.c.doc_id, embeddings.c.vector).join(
        embeddings, and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model)
    )
    for start in range(0, len(ids), _AT_ONCE):
        for row in tx.execute(query.where(chunks.c.id.in_(ids[start : start + _AT_ONCE].tolist()))):
            yield row.id, row.doc_id, np.frombuffer(row.vector, np.float16)


def _selected(tx: Connection, members: Select[tuple[int]]) -> Ids:
    batches = [np.array([row[0] for row in rows], dtype=np.int64) for rows in _batches(tx, members)]
    return np.unique(np.concatenate(batches)) if batches else np.empty(0, dtype=np.int64)


def _batches(tx: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    yield from tx.execute(query.execution_options(yield_per=_BATCH)).partitions()


class _Hashed:
    """Chunks as arrays: ids, document ids, and the hashes of their contents as ``(n, bytes)``."""

    def __init__(self, ids: Ids, doc_ids: Ids, hashes: Hashes) -> None:
        self.ids, self.doc_ids, self.hashes = ids, doc_ids, hashes
        self._keys = _keys(hashes)

    @classmethod
    def of(cls, rows: Sequence[Any]) -> _Hashed:
        ids, doc_ids = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(2))
        return cls(ids, doc_ids, _bytes([row[2] for row in rows]))

    @classmethod
    def sorted(cls, batches: Sequence[_Hashed]) -> _Hashed:
        """Return all of them in the order of their hashes' beginnings."""
        order = np.argsort(np.concatenate([each._keys for each in batches]), kind="stable")
        whole = (np.concatenate(parts) for parts in zip(*((b.ids, b.doc_ids, b.hashes) for b in batches), strict=True))
        ids, doc_ids, hashes = (part[order] for part in whole)
        return cls(ids, doc_ids, hashes)

    def among(self, ids: Ids) -> _Hashed:
        """Return those that have one of the ids, which are sorted."""
        at = np.minimum(np.searchsorted(ids, self.ids), len(ids) - 1)
        kept = ids[at] == self.ids
        return _Hashed(self.ids[kept], self.doc_ids[kept], self.hashes[kept])

    def places(self, hashes: Sequence[bytes]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return where chunks have one of the hashes, and which of them."""
        asked = _bytes(hashes)
        keys = _keys(asked)
        first, last = np.searchsorted(self._keys, keys, "left"), np.searchsorted(self._keys, keys, "right")
        counts = last - first
        of = np.repeat(np.arange(len(keys)), counts)
        at = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(len(of))
        # Hashes may begin alike.
        same = (self.hashes[at] == asked[of]).all(axis=1)
        return at[same], of[same]


def _bytes(hashes: Sequence[bytes]) -> Hashes:
    return np.frombuffer(b"".join(hashes), np.uint8).reshape(len(hashes), -1)


def _keys(hashes: Hashes) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(hashes[:, :8]).view(np.uint64).ravel()
