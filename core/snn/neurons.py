"""Neurons that carry a value as spikes of −1, 0 or 1 over a few steps, and the closed form of what they carry.

Everything is reckoned in *scaled units*: ``y = x / Δ`` with the step size ``Δ[token, neuron] = a[token] · √c[neuron]``,
where ``c`` is the neuron's maximum from calibration and ``a`` is chosen so that the largest ``|y|`` of a token is
``Code.limit``. Thresholds are whole numbers there, so every subtraction of the stepped form is exact in float32 and
the sum of its spikes is ``round(y)``, ties to even included: the closed form is the stepped form.

Few-spike: the value lies on the membrane at the start; step t has the threshold ``θ = 2^(K−1−t)``, and the neuron
fires at ``|V| ≥ ⅔·θ`` (``|V| > ½`` in the last step). Rate: the value flows in at each of T steps and the threshold
stays ``T`` (the largest value of the token, in units of Δ); the neuron fires as soon as the count of its spikes is off.
The membrane begins anew with each token.

Source: Stöckl and Maass, "Optimized spiking neurons can classify images with high accuracy through temporal coding
with two spikes", Nature Machine Intelligence 2021; the spikes here also inhibit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

MOST_STEPS = {"few-spike": 16, "rate": 255}
LEAST_UNIT = 1e-30
"""Keeps a token that is all zeros from dividing by zero."""


@dataclass(frozen=True, slots=True)
class Code:
    """How a value becomes spikes, and in how many steps a token. Raises: ``ValueError``."""

    name: Literal["few-spike", "rate"] = "few-spike"
    steps: int = 8

    def __post_init__(self) -> None:
        if self.name not in MOST_STEPS:
            raise ValueError(f"there is no code {self.name!r}: few-spike or rate")
        if not 1 <= self.steps <= MOST_STEPS[self.name]:
            raise ValueError(f"the code {self.name} has 1 to {MOST_STEPS[self.name]} steps")

    @property
    def limit(self) -> float:
        """The largest ``|y|`` that the code carries with an error of at most ½."""
        return 4 / 3 * 2 ** (self.steps - 1) if self.name == "few-spike" else float(self.steps)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """What a spike of each step takes from the membrane, in units of Δ."""
        return self.weights if self.name == "few-spike" else (float(self.steps),) * self.steps

    @property
    def weights(self) -> tuple[float, ...]:
        """What a spike of each step adds to the value that the next layer sees, in units of Δ."""
        if self.name == "rate":
            return (1.0,) * self.steps
        return tuple(float(2 ** (self.steps - 1 - step)) for step in range(self.steps))


def spikes(y: Tensor, code: Code) -> Tensor:
    """Return the spikes that carry ``y``. Shapes: ``y`` any, float32; the spikes int8 ``[steps, *y.shape]``."""
    return torch.stack([fired.to(torch.int8) for fired, _ in _steps(y, code)])


def membrane(y: Tensor, code: Code) -> Tensor:
    """Return the potential after each step, in units of Δ. Shapes: ``y`` any, float32; ``[steps, *y.shape]``."""
    return torch.stack([potential for _, potential in _steps(y, code)])


def _steps(y: Tensor, code: Code) -> Iterator[tuple[Tensor, Tensor]]:
    return _few_spike(y, code) if code.name == "few-spike" else _rate(y, code)


def _few_spike(y: Tensor, code: Code) -> Iterator[tuple[Tensor, Tensor]]:
    potential = y
    for threshold in code.thresholds:
        size = potential.abs()
        # A tie of the last step keeps the even sum, as torch.round does: all thresholds before were even.
        is_over = size > 0.5 if threshold == 1 else size >= 2 / 3 * threshold
        fired = potential.sign() * is_over
        potential = potential - threshold * fired
        yield fired, potential


def _rate(y: Tensor, code: Code) -> Iterator[tuple[Tensor, Tensor]]:
    before = torch.zeros_like(y)
    for step in range(1, code.steps + 1):
        # The last fraction is 1 exactly, so that the last count is round(y).
        inflow = y * (step / code.steps)
        count = inflow.round()
        yield count - before, (inflow - count) * code.steps
        before = count


class Population(nn.Module):
    """The neurons of one place in the network: what comes in leaves as the value that their spikes carry.

    A population never does more than that; whoever wants the spikes listens with a forward hook and expands
    ``scaled(x)``. Shapes: ``channel_maxima`` ``[n]``, above zero; ``x`` ``[…, tokens, n]``, any floating type.
    """

    root_scale: Tensor

    def __init__(self, channel_maxima: Tensor, code: Code) -> None:
        super().__init__()
        self.code = code
        root = channel_maxima.detach().to(torch.float32).sqrt()
        # Not persistent: a converted model saves and loads the weights of the model that it was.
        self.register_buffer("root_scale", root, persistent=False)

    @property
    def n(self) -> int:
        """How many neurons there are."""
        return self.root_scale.shape[0]

    def forward(self, x: Tensor) -> Tensor:
        y, unit = self._scaled(x)
        return (y.round_() * (unit * self.root_scale)).to(x.dtype)

    def scaled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``y`` and ``a`` exactly as ``forward`` reckons them; ``Δ = a[..., None] · root_scale``.

        Shapes: ``y`` like ``x``, float32; ``a`` ``[…, tokens]``, float32.
        """
        y, unit = self._scaled(x)
        return y, unit.squeeze(-1)

    def extra_repr(self) -> str:
        return f"{self.n}, {self.code.name}, steps={self.code.steps}"

    def _scaled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        relative = x.float() / self.root_scale
        largest = torch.linalg.vector_norm(relative, ord=torch.inf, dim=-1, keepdim=True)
        unit = (largest / self.code.limit).clamp_min(LEAST_UNIT)
        return relative / unit, unit
