"""Vectors of sentences that answers were looked for in lately: passages that answer are found again and again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from core.ports import Embedder, Vector

_MOST = 4_000
"""Six megabytes in 384 dimensions."""

_Key = tuple[str, bytes]
"""The embedder, and the SHA-256 of a text: nothing that is purged stays here in words."""


class SentenceVectors:
    """Embeds texts as an embedder does, those that it has embedded lately at no cost."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[_Key, Vector] = OrderedDict()
        self._changing = Lock()

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vector:
        """Return the ``(n, d)`` vectors of passages in the order of ``texts``. Raises: ``ModelUnavailable``."""
        keys = [(embedder.id, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()) for text in texts]
        with self._changing:
            found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            found |= zip(missing, embedder.embed_passages(list(missing.values())), strict=True)
        with self._changing:
            for key in keys:
                self._known[key] = found[key]
                self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return np.stack([found[key] for key in keys]) if keys else embedder.embed_passages([])
