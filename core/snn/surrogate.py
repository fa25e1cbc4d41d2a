"""Training through spikes: forward the spikes count, backward the gradient passes as if they were not there.

The value that spikes carry, ``x̂ = Δ·round(x/Δ)``, has a derivative of zero almost everywhere. The straight-through
estimator takes ``∂x̂/∂x = 1`` instead: a population passes on ``x + sg(x̂ − x)``, where ``sg`` stops the gradient.
No value saturates, because the thresholds follow the largest one of each token, so the estimate holds everywhere.

The channel maxima ``c`` that set the thresholds are learnt on the way: ``c ← max(0.99·c, max|x|)`` over the tokens of
each batch. They become the calibration of the trained model.

Sources: Bengio, Léonard and Courville, "Estimating or Propagating Gradients Through Stochastic Neurons for
Conditional Computation", 2013; Neftci, Mostafa and Zenke, "Surrogate Gradient Learning in Spiking Neural Networks",
IEEE Signal Processing Magazine 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from core.snn.convert import attach
from core.snn.neurons import Code, Population
from core.snn.populations import sizes

FADING = 0.99
LEAST_MAXIMUM = 1e-6


class StraightThrough(Population):
    """A population that lets gradients pass and learns the maxima of its channels; ``largest`` are those, ``[n]``."""

    def __init__(self, n: int, code: Code) -> None:
        super().__init__(torch.ones(n), code)
        self.largest = torch.zeros(n)
        self.learns = True

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            if self.learns:
                seen = x.abs().reshape(-1, self.n).amax(0).float()
                torch.maximum(self.largest * FADING, seen, out=self.largest)
            self.root_scale.copy_(self.largest.clamp_min(LEAST_MAXIMUM).sqrt())
            difference = super().forward(x) - x
        return x + difference


class SpikingLayer:
    """The populations of a model while it is trained with spikes; ``maxima`` are those learnt, by population."""

    def __init__(self, model: Any, code: Code) -> None:
        self._populations = {name: StraightThrough(n, code) for name, n in sizes(model.config).items()}
        self._detach = attach(model, self._populations)

    @property
    def maxima(self) -> dict[str, Tensor]:
        """Channel maxima by population, ``[n]``; changing a tensor changes what its population has learnt."""
        return {name: population.largest for name, population in self._populations.items()}

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Within the block nothing is learnt of the channels, as for texts that are held out."""
        self._learn(False)
        try:
            yield
        finally:
            self._learn(True)

    def remove(self) -> None:
        """Take the populations out; the weights stay as they are."""
        self._detach()

    def _learn(self, learns: bool) -> None:
        for population in self._populations.values():
            population.learns = learns
