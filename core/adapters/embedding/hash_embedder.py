"""An embedder without a model, for tests: texts that share words are near, whatever the language.

Words and the character pairs of scripts without spaces are hashed into signed buckets (Weinberger et al., "Feature
hashing for large scale multitask learning", ICML 2009), the same in every process.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import sqrt

import numpy as np

from core.adapters.embedding.batches import embed_in_batches
from core.ports import Progress, Vector

BATCH_TEXTS = 32
_RUN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿々ー]+|[^\W_]+")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿々ー]")


class HashEmbedder:
    """Hashes words, word trigrams of characters and Japanese character pairs into a unit vector."""

    def __init__(self, dimension: int = 384) -> None:
        self.id = f"hash-{dimension}"
        self.dimension = dimension

    def ready(self) -> bool:
        return True

    def load(self) -> None:
        """Do nothing: there is no model to load."""

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, dimension)`` vectors in the order of ``texts``."""
        return embed_in_batches(texts, self.dimension, BATCH_TEXTS, 1 << 20, self._embed, progress)

    def embed_query(self, text: str) -> Vector:
        """Return a ``(dimension,)`` vector."""
        vector: Vector = self._embed([text])[0]
        return vector

    def _embed(self, texts: list[str]) -> Vector:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for (feature, weight), count in Counter(_features(text)).items():
                bucket, sign = _bucket(feature, self.dimension)
                vector[bucket] += sign * weight * sqrt(count)
            length = float(np.linalg.norm(vector))
            if length > 0:
                vector /= length
            else:
                vector[0] = 1.0
        return vectors


def _features(text: str) -> Iterator[tuple[str, float]]:
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _UNSPACED.match(run):
            yield from ((run[start : start + 2], 1.0) for start in range(max(1, len(run) - 1)))
            continue
        # Short words are mostly function words, which all texts share.
        yield f"w:{run}", min(len(run), 6) / 6
        marked = f"<{run}>"
        yield from ((f"g:{marked[start : start + 3]}", 0.2) for start in range(len(marked) - 2))


@lru_cache(maxsize=100_000)
def _bucket(feature: str, dimension: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (number >> 1) % dimension, 1.0 if number & 1 else -1.0
