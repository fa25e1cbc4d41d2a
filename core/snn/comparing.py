"""Compares two recordings of one model: which populations and which neurons fire otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.model.codec import to_dict

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

Rates = npt.NDArray[np.float64]

MOST = 30


@dataclass(frozen=True, slots=True)
class ComparedPopulation:
    """One population in both recordings; rates are in spikes per neuron and step, the cosine is of the neurons' rates.

    ``cosine`` is none where the population is silent in either recording.
    """

    name: str
    kind: str
    layer: int
    neurons: int
    rate_a: float
    rate_b: float
    cosine: float | None


@dataclass(frozen=True, slots=True)
class ComparedNeuron:
    """One neuron in both recordings, by its number in the population."""

    population: str
    neuron: int
    rate_a: float
    rate_b: float


@dataclass(frozen=True, slots=True)
class RecordingComparison:
    """Two recordings side by side, each over its own tokens: the lengths need not be equal.

    ``role`` says which tokens: ``answer``, or empty for all where either recording tells no roles. ``note`` says in
    words what to mind (other codes, neurons left out), empty for nothing; ``note_code`` says which: ``codes``,
    ``neurons`` (only those that both hold are compared), ``codes_and_neurons``, or empty.
    """

    role: str
    tokens_a: int
    tokens_b: int
    rate_a: float
    rate_b: float
    cosine: float | None
    populations: tuple[ComparedPopulation, ...]
    neurons: tuple[ComparedNeuron, ...]
    """Those whose rates differ most, first the greatest difference."""
    note: str = ""
    note_code: str = ""

    def to_dict(self) -> dict[str, Any]:
        return dict(to_dict(self))


def compare(a: NeuronRecording, b: NeuronRecording, neurons: int = MOST) -> RecordingComparison:
    """Return both recordings side by side, with the ``neurons`` that differ most.

    Raises: InvalidInput when they are of different models.
    """
    _check_models(a, b)
    role, tokens_a, tokens_b = _tokens(a, b)
    pairs = {name: _pair(a, b, name, tokens_a, tokens_b) for name in a.populations}
    all_a = np.concatenate([rates_a for _, rates_a, _ in pairs.values()])
    all_b = np.concatenate([rates_b for _, _, rates_b in pairs.values()])
    notes = _notes(a, b, sum(len(numbers) for numbers, _, _ in pairs.values()))
    return RecordingComparison(
        role=role,
        tokens_a=int(tokens_a.sum()),
        tokens_b=int(tokens_b.sum()),
        rate_a=_mean(all_a),
        rate_b=_mean(all_b),
        cosine=_cosine(all_a, all_b),
        populations=tuple(
            ComparedPopulation(
                name=name,
                kind=a.populations[name].kind,
                layer=a.populations[name].layer,
                neurons=len(numbers),
                rate_a=_mean(rates_a),
                rate_b=_mean(rates_b),
                cosine=_cosine(rates_a, rates_b),
            )
            for name, (numbers, rates_a, rates_b) in pairs.items()
        ),
        neurons=_differing(pairs, neurons),
        note=" ".join(notes.values()),
        note_code="_and_".join(notes),
    )


def _check_models(a: NeuronRecording, b: NeuronRecording) -> None:
    remedy = "Choose two recordings of the same model."
    weights_a, weights_b = a.meta.get("weights_sha256", ""), b.meta.get("weights_sha256", "")
    if weights_a != weights_b:
        model_a, model_b = a.meta.get("model") or "an unknown model", b.meta.get("model") or "an unknown model"
        raise InvalidInput(
            f"The recordings are of different models: {model_a} and {model_b}, whose weights differ.", remedy=remedy
        )
    if list(a.populations) != list(b.populations):
        raise InvalidInput("The recordings are of different models: their populations differ.", remedy=remedy)
    for name in a.populations:
        one, other = a.populations[name], b.populations[name]
        if one.neuron_idx is None and other.neuron_idx is None and one.n != other.n:
            raise InvalidInput(
                f"The recordings are of different models: {name} has {one.n} and {other.n} neurons.", remedy=remedy
            )


def _tokens(a: NeuronRecording, b: NeuronRecording) -> tuple[str, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the role that both recordings tell, and which tokens of either have it."""
    if "answer" in a.tokens.roles and "answer" in b.tokens.roles:
        return (
            "answer",
            np.array([role == "answer" for role in a.tokens.roles]),
            np.array([role == "answer" for role in b.tokens.roles]),
        )
    return "", np.ones(len(a.tokens), bool), np.ones(len(b.tokens), bool)


def _pair(
    a: NeuronRecording, b: NeuronRecording, name: str, tokens_a: npt.NDArray[np.bool_], tokens_b: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], Rates, Rates]:
    """Return the numbers of the neurons that both recordings hold, and their rates in either."""
    one, other = a.populations[name], b.populations[name]
    numbers, places_a, places_b = np.intersect1d(_numbers(one), _numbers(other), return_indices=True)
    return numbers, _rates(one, tokens_a)[places_a], _rates(other, tokens_b)[places_b]


def _numbers(record: PopulationRecord) -> npt.NDArray[np.int64]:
    return np.arange(record.n) if record.neuron_idx is None else record.neuron_idx.astype(np.int64)


def _rates(record: PopulationRecord, tokens: npt.NDArray[np.bool_]) -> Rates:
    spikes = np.add.reduce(record.counts[tokens], axis=0, dtype=np.int64)
    rates: Rates = spikes / (int(tokens.sum()) * record.steps)
    return rates


def _differing(pairs: dict[str, tuple[npt.NDArray[np.int64], Rates, Rates]], most: int) -> tuple[ComparedNeuron, ...]:
    found: list[ComparedNeuron] = []
    for name, (numbers, rates_a, rates_b) in pairs.items():
        for place in np.argsort(-np.abs(rates_a - rates_b), kind="stable")[:most]:
            found.append(
                ComparedNeuron(
                    name, int(numbers[place]), round(float(rates_a[place]), 6), round(float(rates_b[place]), 6)
                )
            )
    return tuple(sorted(found, key=lambda each: -abs(each.rate_a - each.rate_b))[:most])


def _cosine(rates_a: Rates, rates_b: Rates) -> float | None:
    lengths = float(np.linalg.norm(rates_a) * np.linalg.norm(rates_b))
    return round(min(float(rates_a @ rates_b) / lengths, 1.0), 6) if lengths else None


def _mean(rates: Rates) -> float:
    return round(float(rates.mean()), 6) if rates.size else 0.0


def _notes(a: NeuronRecording, b: NeuronRecording, shared: int) -> dict[str, str]:
    """Return what to mind, by its code."""
    notes = {}
    codes = [f"{each.meta.get('code') or 'unknown'}, {each.steps} steps a token" for each in (a, b)]
    if codes[0] != codes[1]:
        notes["codes"] = f"The codes differ ({codes[0]}; {codes[1]}), so rates per step are not alike."
    if shared < max(a.neurons, b.neurons):
        notes["neurons"] = f"Only {shared:,} neurons that both recordings hold are compared."
    return notes
