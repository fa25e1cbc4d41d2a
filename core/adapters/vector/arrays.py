"""Arrays of rows of vectors, and the hits that the nearest of them make."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.model import IndexHit

Ids = npt.NDArray[np.int64]
Halves = npt.NDArray[np.float16]
NO_ID = -1
"""Stands where a row has no id any more."""


def nearest(ids: Ids, squares: npt.NDArray[Any], limit: int) -> list[IndexHit]:
    """Return rows with the roots of their squared distances, nearest first, ties by id."""
    order = np.lexsort((ids, squares))[:limit]
    distances = np.sqrt(np.maximum(squares[order], 0.0))
    return [
        IndexHit(chunk_id, distance) for chunk_id, distance in zip(ids[order].tolist(), distances.tolist(), strict=True)
    ]
