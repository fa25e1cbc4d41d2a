"""Attention whose query, key and value are spikes; key and value become spikes once, before they enter the cache.

transformers' own attention modules do the work: they hand key and value to whatever cache they are given, and the
query to the attention function that the configuration names. Both are ours, and both go on to transformers' own.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "evorag-spiking"


class SpikingCache:
    """Stands before the cache of one layer during one pass and encodes what is put into it.

    Where the pass has no cache, key and value are encoded all the same and kept nowhere.
    """

    def __init__(self, cache: Any, populations: nn.ModuleDict) -> None:
        self._cache = cache
        self._populations = populations

    def update(self, key: Tensor, value: Tensor, *where: Any, **more: Any) -> tuple[Tensor, Tensor]:
        """Encode key and value of new tokens, and return those of all tokens. Shapes: ``[batch, heads, tokens, d]``."""
        key = over_heads(self._populations["key"], key)
        value = over_heads(self._populations["value"], value)
        if self._cache is None:
            return key, value
        kept: tuple[Tensor, Tensor] = self._cache.update(key, value, *where, **more)
        return kept


def over_heads(population: nn.Module, x: Tensor) -> Tensor:
    """Encode the channels of all heads of a token together. Shapes: ``[batch, heads, tokens, d]``."""
    batch, heads, tokens, channels = x.shape
    encoded: Tensor = population(x.transpose(1, 2).reshape(batch, tokens, heads * channels))
    return encoded.view(batch, tokens, heads, channels).transpose(1, 2)


def attend(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *rest: Any, **more: Any) -> Any:
    """Encode the query of an attention module and go on with PyTorch's scaled dot product."""
    populations: Any = module.populations
    return sdpa_attention_forward(module, over_heads(populations["query"], query), key, value, *rest, **more)


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
