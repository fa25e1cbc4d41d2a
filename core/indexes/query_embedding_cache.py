"""Question vectors: the last questions are embedded once, for the search and for the cache of answers alike."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from core.ports import Embedder, Progress, Vector

_LAST = 16


class LastQuestions:
    """An embedder that remembers the vectors of the last questions."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = embedder.id
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def ready(self) -> bool:
        return self._embedder.ready()

    def load(self) -> None:
        """Load the embedder behind it. Raises: ``ModelUnavailable``."""
        self._embedder.load()

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return what the embedder behind it returns."""
        return self._embedder.embed_passages(texts, progress)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question. Raises: ``ModelUnavailable``."""
        with self._lock:
            known = self._known.get(text)
        if known is not None:
            return known
        vector = self._embedder.embed_query(text)
        with self._lock:
            self._known[text] = vector
            while len(self._known) > _LAST:
                self._known.popitem(last=False)
        return vector
