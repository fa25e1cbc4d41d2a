"""Tiny random models of each family that can be converted, for what does not depend on weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.snn.neurons import Code
from core.snn.populations import sizes

PROMPT = torch.tensor([[1, 17, 4, 9, 23, 8, 30, 2, 11, 5]])
FEW = Code("few-spike", 8)


def small(family: str = "llama", **more: Any) -> Any:
    """A model of two layers, seeded."""
    import transformers

    torch.manual_seed(3)
    names = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
    sized = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 8}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128}
    signs = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
    config = getattr(transformers, f"{names[family]}Config")(**{**sized, **heads, **signs, **more})
    return getattr(transformers, f"{names[family]}ForCausalLM")(config).eval()


def maxima(model: Any) -> dict[str, Tensor]:
    """Maxima that differ from channel to channel."""
    return {name: torch.linspace(0.5, 2.0, n) for name, n in sizes(model.config).items()}
