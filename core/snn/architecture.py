"""Our own small language model: a decoder of the Llama kind, in sizes that one processor trains in minutes.

Per layer: RMSNorm, attention with rotary positions, RMSNorm, and a gated MLP ``W_down(silu(W_gate x) ⊙ W_up x)``; the
matrix of the embeddings is that of the head as well. It is a configuration of transformers' own class, so whatever
opens Llama folders opens what is trained here, and ``core.snn.convert`` gives it neurons.

Source: Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023; rotary positions: Su et al.,
"RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch

HEAD_CHANNELS = 32
MOST_POSITIONS = 1_024
"""Positions that may be asked for; beyond the window of the training the model has seen none."""
DEVIATION = 0.02
"""Of the normal distribution that the first weights are drawn from."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a model is; ``width`` is a multiple of 32, ``window`` the tokens that one training sequence has."""

    layers: int = 4
    width: int = 256
    window: int = 128

    @property
    def heads(self) -> int:
        return self.width // HEAD_CHANNELS


def configuration(size: Size, vocabulary: int, end: int) -> Any:
    """Return the configuration of a model with so many tokens, of which ``end`` begins, ends and pads a text."""
    return import_module("transformers").LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=size.width,
        intermediate_size=size.width * 8 // 3 // HEAD_CHANNELS * HEAD_CHANNELS,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=max(1, size.heads // 2),
        max_position_embeddings=max(MOST_POSITIONS, size.window),
        initializer_range=DEVIATION,
        tie_word_embeddings=True,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        use_cache=True,
    )


def untrained(size: Size, vocabulary: int, end: int, seed: int) -> Any:
    """Return a model with weights drawn from ``seed``; the generator of the process stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return import_module("transformers").LlamaForCausalLM(configuration(size, vocabulary, end))
