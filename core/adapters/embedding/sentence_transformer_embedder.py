"""Any sentence-transformers model, by name or folder, run by PyTorch.

Texts longer than the model reads are embedded in windows, whose vectors are averaged by their length.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.embedding.batches import embed_in_batches, mean_of_windows
from core.adapters.generation.model_folder import dimension_of, find_model, fingerprint, read_json
from core.adapters.graphics import chosen_device, moved_to_processor, texts_together, within_memory
from core.errors import ModelUnavailable
from core.ports import Progress, Vector

BATCH_TEXTS, BATCH_CHARS = 16, 8_000
_E5 = re.compile(r"(^|[-_/])e5([-_/]|$)", re.IGNORECASE)


class SentenceTransformerEmbedder:
    """Embeds with one model, which is found and checked at construction and loaded at the first use.

    Models of the E5 family get the prefixes they were trained with; others those of their own settings, if any.
    Raises: ``ModelUnavailable`` if the model is not on this machine or could run code.
    """

    def __init__(
        self,
        name_or_folder: str,
        threads: int = 1,
        batch: int = BATCH_TEXTS,
        query_prefix: str = "",
        passage_prefix: str = "",
        local_files_only: bool = True,
        device: str = "auto",
    ) -> None:
        self._folder = find_model(name_or_folder, local_files_only=local_files_only)
        label = self._folder.name if Path(name_or_folder).expanduser().is_dir() else name_or_folder
        self.id = f"{label}@{fingerprint(self._folder)}"
        self.dimension = dimension_of(self._folder)
        self._prefixes = _prefixes(label, self._folder, query_prefix, passage_prefix)
        self._threads = max(1, threads)
        self._batch = max(1, batch)
        self._device = device
        self._loading = threading.Lock()
        self._running = threading.Lock()
        self._model: Any = None

    def ready(self) -> bool:
        return self._model is not None

    def load(self) -> None:
        """Load the model, so that the first question does not wait. Raises: ``ModelUnavailable``."""
        self.embed_query("warm up")

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, dimension)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""
        self._loaded()
        chars = BATCH_CHARS * max(1, self._batch // BATCH_TEXTS)
        return embed_in_batches(texts, self.dimension, self._batch, chars, self._embed_passages, progress)

    def embed_query(self, text: str) -> Vector:
        """Return a ``(dimension,)`` vector. Raises: ``ModelUnavailable``."""
        vector: Vector = self._embed([text], self._prefixes[0])[0]
        return vector

    def _embed_passages(self, texts: list[str]) -> Vector:
        return self._embed(texts, self._prefixes[1])

    def _embed(self, texts: list[str], prefix: str) -> Vector:
        model = self._loaded()
        # Held for one small batch only: the tokenizer cannot be used by two threads at once.
        with self._running:
            windows = [self._windows(model, _clean(text), prefix) for text in texts]
            flat = [prefix + window for group in windows for window, _ in group]
            vectors = within_memory(partial(_encode, model, flat), self._batch, partial(moved_to_processor, model))
        means, start = np.empty((len(texts), self.dimension), dtype=np.float32), 0
        for place, group in enumerate(windows):
            own = vectors[start : start + len(group)]
            means[place] = own[0] if len(group) == 1 else mean_of_windows(own, [tokens for _, tokens in group])
            start += len(group)
        return means

    def _windows(self, model: Any, text: str, prefix: str) -> list[tuple[str, int]]:
        """Cut ``text`` between tokens into pieces that the model reads whole, each with its number of tokens."""
        tokenizer = model.tokenizer
        taken = tokenizer.num_special_tokens_to_add() + len(tokenizer.encode(prefix, add_special_tokens=False))
        room = max(8, int(model.max_seq_length or 512) - taken)
        if len(text) <= room:
            return [(text, 1)]
        offsets = tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )["offset_mapping"]
        if len(offsets) <= room:
            return [(text, 1)]
        cuts = [offsets[first][0] for first in range(0, len(offsets), room)] + [len(text)]
        sizes = [min(room, len(offsets) - first) for first in range(0, len(offsets), room)]
        return [(text[a:b], size) for a, b, size in zip(cuts, cuts[1:], sizes, strict=False)]

    def _loaded(self) -> Any:
        if self._model is None:
            with self._loading:
                if self._model is None:
                    self._model = self._load()
        return self._model

    def _load(self) -> Any:
        try:
            import torch
            from sentence_transformers import SentenceTransformer

            torch.set_num_threads(self._threads)
            device = chosen_device(self._device)
            model = SentenceTransformer(
                str(self._folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            ).eval()
            self._batch = texts_together(device, self._batch, int(model.max_seq_length or 512), self.dimension)
            return model
        except ModelUnavailable:
            raise
        except Exception as error:
            raise ModelUnavailable(
                f"The embedding model {self.id} could not be loaded ({type(error).__name__}).",
                remedy="Check that its folder is complete and that sentence-transformers can load it.",
            ) from error


def _encode(model: Any, texts: list[str], together: int) -> Vector:
    vectors: Vector = model.encode(
        texts, batch_size=together, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
    )
    return vectors


def _prefixes(label: str, folder: Path, query: str, passage: str) -> tuple[str, str]:
    if query or passage:
        return query, passage
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        own = next((prompts[name] for name in ("passage", "document", "corpus") if prompts.get(name)), "")
        if prompts.get("query") or own:
            return str(prompts.get("query") or ""), str(own)
    return ("query: ", "passage: ") if _E5.search(label) else ("", "")


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
