"""Vectors that are scanned exactly while they are few, and by their bits once they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.adapters.vector.arrays import Halves
from core.adapters.vector.coarse_vectors import CoarseVectors
from core.adapters.vector.flat_vectors import FlatVectors
from core.model import IndexHit
from core.ports import Vector

COARSE_FROM = 50_000
"""Rows above which an exact scan takes longer than one by bits with all that it measures."""
BATCH = 8_192


class GrowingVectors:
    """Rows of (chunk id, document id, vector); searches run beside each other, writes alone.

    ``folder`` is where the file of many vectors is; without one they are never many. What writes raises ``OSError``
    where its disk does.
    """

    def __init__(self, dimension: int, folder: Path | None = None, coarse_from: int = COARSE_FROM) -> None:
        self._dimension = dimension
        self._folder = folder
        self._coarse_from = coarse_from
        self._rows: FlatVectors | CoarseVectors = FlatVectors(dimension)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def engine(self) -> str:
        return self._rows.engine

    def put(self, ids: Sequence[int], doc_ids: Sequence[int], vectors: Halves) -> None:
        """Add the rows, each in the place of the one with the same id; ``vectors`` is ``(n, dimension)`` float16."""
        self._rows.put(ids, doc_ids, vectors)
        if self._folder and isinstance(self._rows, FlatVectors) and len(self._rows) > self._coarse_from:
            self._rows = self._coarse(self._rows, self._folder)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget the rows; unknown ids are ignored."""
        self._rows.remove(ids)

    def clear(self) -> None:
        """Forget all rows; those that searches still read are left to them."""
        self._rows = FlatVectors(self._dimension)

    def held(self, ids: Sequence[int]) -> Mapping[int, Vector]:
        """Return the vectors of those of the rows that are there."""
        return self._rows.held(ids)

    def search(self, vector: Vector, limit: int, doc_ids: Sequence[int] | None = None) -> list[IndexHit]:
        """Return the nearest rows with their Euclidean distance, nearest first, ties by id."""
        return self._rows.search(vector, limit, doc_ids)

    def _coarse(self, flat: FlatVectors, folder: Path) -> CoarseVectors:
        batches = list(flat.rows(BATCH))
        coarse = CoarseVectors(self._dimension, folder, batches[0][2])
        for ids, doc_ids, vectors in batches:
            coarse.put(ids, doc_ids, vectors)
        return coarse
