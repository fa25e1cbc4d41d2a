"""What a spiking model's neurons did while it wrote an answer, as values.

K are the steps of the code per token, S the recorded tokens (the last ones of the prompt, then the answer), n the
recorded neurons of a population, m those of them whose membrane potential is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.snn.packing import Bits, Signs, unpack_chosen, unpack_signs

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

FOREIGN = "spikes"
"""Name and kind of the one population of another tool's file; of several, each has its own name as its kind."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a recording; ``roles`` are ``prompt`` and ``answer``, both empty for a foreign file.

    A character that takes several tokens stands with the last of them. *Shapes*: ``ids`` ``(S,)``.
    """

    ids: Indices
    texts: tuple[str, ...]
    roles: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class PopulationRecord:
    """The spikes of one population.

    The threshold of a neuron is in units of Δ = ``delta[s] · scale[n]``, which differs from token to token and from
    channel to channel; ``membrane_potential`` and ``current`` are in units of the activation.

    *Shapes*: ``spikes_pos`` and ``spikes_neg`` ``(K, S, ⌈n/8⌉)``, the first neuron in the lowest bit; ``counts``
    ``(S, n)``, spikes of both signs; ``delta`` ``(S,)``; ``scale`` ``(n,)``; ``trace_idx`` ``(m,)``, places among the
    n; ``membrane_potential`` ``(K, S, m)``, after each step; ``current`` ``(S, m)``, what was encoded; ``neuron_idx``
    ``(n,)``, the numbers of the neurons in their population where not all of them were recorded.
    """

    n: int
    kind: str
    layer: int
    """−1 for what belongs to no layer."""
    spikes_pos: Bits
    spikes_neg: Bits
    counts: npt.NDArray[np.uint8]
    delta: Floats
    scale: Floats
    trace_idx: Indices
    membrane_potential: Floats
    current: Floats | None = None
    neuron_idx: Indices | None = None
    code: str = ""
    """``few-spike``, ``rate``, or empty where it is not known."""

    @property
    def steps(self) -> int:
        return int(self.spikes_pos.shape[0])

    @property
    def tokens(self) -> int:
        return int(self.spikes_pos.shape[1])

    @property
    def factor(self) -> int:
        """Of how many neurons of the population one was recorded: 1 for all of them, and where it cannot be told."""
        if self.neuron_idx is None or self.n < 2:
            return 1
        return int(self.neuron_idx[-1] - self.neuron_idx[0]) // (self.n - 1)

    def spikes(self) -> Signs:
        """Return ``(K, S, n)`` of −1, 0 and 1."""
        return unpack_signs(self.spikes_pos, self.spikes_neg, self.n)

    def traced_delta(self) -> Floats:
        """Return Δ of the neurons with a membrane potential, ``(S, m)``."""
        return self.delta[:, None] * self.scale[self.trace_idx][None, :]

    def rebuilt_potential(self) -> Floats | None:
        """Return ``membrane_potential`` as it follows from ``current`` and the spikes alone, bit for bit.

        None where the currents or the code are not known.
        """
        if self.current is None or not self.code:
            return None
        fired = unpack_chosen(self.spikes_pos, self.spikes_neg, self.trace_idx)
        return potentials(self.current, fired, self.delta, self.scale[self.trace_idx], self.code)

    def thresholds(self) -> Floats | None:
        """Return θ of the neurons with a membrane potential per step, ``(K, S, m)``; None where it is not known.

        Few-spike: ``θ_t = Δ · 2^(K−1−t)``, fired from two thirds of it and on the last step from half of it. Rate: the
        largest value of the token in all steps.
        """
        if self.code == "few-spike":
            powers = np.float32(2.0) ** np.arange(self.steps - 1, -1, -1, dtype=np.float32)
        elif self.code == "rate":
            powers = np.full(self.steps, self.steps, dtype=np.float32)
        else:
            return None
        return powers[:, None, None] * self.traced_delta()[None]


@dataclass(frozen=True, slots=True, eq=False)
class NeuronRecording:
    """One recorded answer. ``meta`` holds strings and numbers alone.

    Its keys: ``model``, ``weights_sha256``, ``code``, ``steps``, ``thresholds`` (what shares one), ``seed``, ``torch``,
    ``created_at`` (ISO 8601), ``scope`` and ``truncated`` (what was left out to stay within the limit, in words),
    ``left_out_tokens`` and ``left_out_membranes`` (how many, where any were), ``absent_membranes`` (of how many neurons
    another tool's file holds no potential), ``batch_steps`` (how many steps in time each batch of such a file has,
    where it has batches).
    """

    meta: Mapping[str, Any]
    tokens: Tokens
    populations: Mapping[str, PopulationRecord]
    """By name, ``layers.<i>.<kind>`` and ``head_input``, in the order of the network."""

    @property
    def steps(self) -> int:
        """K, the steps of the code per token."""
        return next(iter(self.populations.values())).steps

    @property
    def neurons(self) -> int:
        """How many neurons were recorded."""
        return sum(each.n for each in self.populations.values())

    @property
    def left_out(self) -> dict[str, bool | int]:
        """What is not there, for programs; ``truncated`` says the same in words.

        ``currents``: whether what was encoded was left out. ``thinned``: one in so many neurons was recorded, 1 for all
        of them. ``tokens``: how many of the last ones were left out. ``membranes``: of how many neurons of another
        tool's file the potential is not kept. ``absent``: of how many it holds none. ``foreign``: it is another tool's,
        which tells neither tokens nor thresholds.
        """
        records = self.populations.values()
        return {
            "currents": any(each.code and each.current is None for each in records),
            "thinned": max(each.factor for each in records),
            "tokens": int(self.meta.get("left_out_tokens", 0)),
            "membranes": int(self.meta.get("left_out_membranes", 0)),
            "absent": int(self.meta.get("absent_membranes", 0)),
            "foreign": not any(self.tokens.roles) and not any(each.code for each in records),
        }


def potentials(current: Floats, fired: Floats, delta: Floats, scale: Floats, code: str) -> Floats:
    """Return the membrane potential after each step, in units of the activation.

    Reckoned as the neurons do, in units of Δ: few-spike ``V ← V − 2^(K−1−t) · s_t`` from ``V = x / Δ`` on; rate
    ``V_t = ((t / K) · x / Δ − N_t) · K`` with the count ``N_t`` of spikes so far. *Shapes*: ``current`` ``(S, m)``,
    ``fired`` ``(K, S, m)``, ``delta`` ``(S,)``, ``scale`` ``(m,)``, the result ``(K, S, m)``.
    """
    steps = len(fired)
    y = current / scale / delta[:, None]
    after = np.empty_like(fired)
    if code == "few-spike":
        potential = y
        for step in range(steps):
            potential = potential - np.float32(2 ** (steps - 1 - step)) * fired[step]
            after[step] = potential
    else:
        count = np.zeros_like(y)
        for step in range(steps):
            count = count + fired[step]
            after[step] = (y * np.float32((step + 1) / steps) - count) * np.float32(steps)
    return after * (delta[:, None] * scale)
