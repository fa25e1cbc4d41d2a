"""Any cross-encoder of sentence-transformers, by name or folder: it reads a question and a passage together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.adapters.generation.model_folder import find_model
from core.adapters.graphics import chosen_device, moved_to_processor, texts_together, within_memory
from core.errors import ModelUnavailable

_BATCH = 8


class CrossEncoderReranker:
    """Scores passages with one model, which is found, checked and loaded at the first use.

    Only weights stored as safetensors are read, and no code that a model brings. Raises: ``ModelUnavailable``.
    """

    def __init__(self, name_or_folder: str, threads: int = 1, device: str = "auto") -> None:
        self.name = Path(name_or_folder).name if Path(name_or_folder).expanduser().is_dir() else name_or_folder
        self._source = name_or_folder
        self._threads = max(1, threads)
        self._device = device
        self._together = _BATCH
        self._lock = threading.Lock()
        self._model: Any = None

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score a passage, larger is better. Raises: ``ModelUnavailable``."""
        if not passages:
            return []
        # One question at a time: the tokenizer cannot be used by two threads at once.
        with self._lock:
            if self._model is None:
                self._model = self._load()
            try:
                pairs = [(question, passage) for passage in passages]

                def predict(together: int) -> list[float]:
                    scores = self._model.predict(pairs, batch_size=together, show_progress_bar=False)
                    return [float(score) for score in scores]

                return within_memory(predict, self._together, partial(moved_to_processor, self._model))
            except Exception as error:
                raise ModelUnavailable(
                    f"The cross-encoder {self.name} failed ({type(error).__name__}).",
                    remedy="Choose a model that gives one score for a question and a passage.",
                ) from error

    def _load(self) -> Any:
        if not self._source:
            raise ModelUnavailable(
                "No cross-encoder is configured.",
                remedy="Set EVORAG_CROSS_ENCODER to a model's name or folder, or choose another reranking.",
            )
        try:
            folder = find_model(self._source, local_files_only=True)
        except ModelUnavailable as error:
            raise ModelUnavailable(
                error.message.replace("embedding model", "cross-encoder"),
                remedy="Copy its folder, with safetensors weights and without code, to this machine and set"
                " EVORAG_CROSS_ENCODER to that folder.",
            ) from error
        try:
            import torch
            from sentence_transformers import CrossEncoder

            torch.set_num_threads(self._threads)
            device = chosen_device(self._device)
            model = CrossEncoder(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
            hidden = int(getattr(model.config, "hidden_size", 0) or 1_024)
            self._together = texts_together(device, _BATCH, int(model.max_seq_length or 512), hidden)
            return model
        except ModelUnavailable:
            raise
        except Exception as error:
            raise ModelUnavailable(
                f"The cross-encoder {self.name} could not be loaded ({type(error).__name__}).",
                remedy="Check that its folder is complete and that sentence-transformers can load it.",
            ) from error
