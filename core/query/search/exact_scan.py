"""The nearest of given vectors, by looking at every one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.model import IndexHit
from core.ports import Vector

ENGINE = "exact scan of the catalogue"


def nearest(question: Vector, rows: Iterable[tuple[Sequence[int], Vector]], limit: int) -> list[IndexHit]:
    """Return the ``limit`` nearest by Euclidean distance, ties by id; ``rows`` are ids with ``(n, d)`` vectors."""
    ids = np.empty(0, dtype=np.int64)
    distances = np.empty(0, dtype=np.float32)
    for few_ids, vectors in rows:
        ids = np.concatenate([ids, np.asarray(few_ids, dtype=np.int64)])
        distances = np.concatenate([distances, np.linalg.norm(vectors - question, axis=1)])
        best = np.lexsort((ids, distances.round(6)))[:limit]
        ids, distances = ids[best], distances[best]
    return [IndexHit(int(chunk_id), float(distance)) for chunk_id, distance in zip(ids, distances, strict=True)]
