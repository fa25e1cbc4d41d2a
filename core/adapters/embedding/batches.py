"""The loop that every embedder shares: texts of like length together, results in the order they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from core.ports import Progress, Vector


def embed_in_batches(
    texts: Sequence[str],
    dimension: int,
    batch_texts: int,
    batch_chars: int,
    embed: Callable[[list[str]], Vector],
    progress: Progress | None = None,
) -> Vector:
    """Return ``(n, dimension)`` vectors in the order of ``texts``, calling ``embed`` on the longest batches first.

    A batch holds at most ``batch_texts`` texts and, unless it is a single text, ``batch_chars`` characters.
    """
    vectors = np.empty((len(texts), dimension), dtype=np.float32)
    done = 0
    for places in _batches([len(text) for text in texts], batch_texts, batch_chars):
        vectors[places] = embed([texts[place] for place in places])
        done += len(places)
        if progress is not None:
            progress(done, len(texts))
    return vectors


def _batches(lengths: Sequence[int], batch_texts: int, batch_chars: int) -> Iterator[list[int]]:
    batch: list[int] = []
    chars = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) >= max(1, batch_texts) or chars + lengths[place] > batch_chars):
            yield batch
            batch, chars = [], 0
        batch.append(place)
        chars += lengths[place]
    if batch:
        yield batch


def mean_of_windows(vectors: Vector, weights: Sequence[int]) -> Vector:
    """Return the unit vector of the weighted mean of a text's windows."""
    mean = np.average(vectors, axis=0, weights=np.asarray(weights, dtype=np.float64))
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0 else vectors[0], dtype=np.float32)
