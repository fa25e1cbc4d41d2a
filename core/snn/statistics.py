"""Numbers of a recording: rates per step, token and neuron, intervals between spikes, a table and a heat map.

Every rate is in spikes per neuron and step. A step of the code has no milliseconds, so nothing here is in Hz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.model.codec import to_dict
from core.snn.counting import Bits, intervals, spikes_of

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

RATE_BINS = 40
ALL_KINDS = "all"


@dataclass(frozen=True, slots=True)
class SignedRates:
    """Rates of excitatory (+1) and inhibitory (−1) spikes, in spikes per neuron and step; their sum is the rate."""

    excitatory: tuple[float, ...]
    inhibitory: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts[i]`` values lie from ``edges[i]`` to below ``edges[i + 1]`` (the last edge is included)."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """``counts[i]`` pairs of successive spikes of one neuron lie ``i + 1`` steps apart, ``longer`` farther still.

    ``within_token`` says that no interval crosses a token, because the membrane is reset there; only a file without
    tokens, one step each, is counted across its whole length, or that of each of its batches.
    """

    counts: tuple[int, ...]
    longer: int
    within_token: bool


@dataclass(frozen=True, slots=True)
class PopulationRow:
    """One population over the chosen tokens; ``layer`` is −1 for a population of no layer.

    ``residual`` is the mean of ``|V|`` after the last step over the threshold of that step (few-spike: Δ; rate: T·Δ),
    of the neurons whose membrane was kept: what the spikes of a token leave of the activation, at most ½ in either
    code; none where it is not known.
    """

    name: str
    kind: str
    layer: int
    neurons: int
    excitatory: int
    inhibitory: int
    spikes: int
    rate: float
    per_neuron_and_token: float
    silent: float
    """The share of neurons without any spike."""
    residual: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The chosen populations together over tokens ``first`` to before ``end``, ``steps`` steps each."""

    steps: int
    first: int
    end: int
    neurons: int
    spikes: int
    rate: float
    rate_per_step: SignedRates
    """``steps × tokens`` values, token after token."""
    rate_per_token: SignedRates
    rate_histogram: Histogram
    """Neurons by their rate over all chosen tokens."""
    isi_histogram: Intervals
    table: tuple[PopulationRow, ...]

    def to_dict(self) -> dict[str, Any]:
        return dict(to_dict(self))


@dataclass(frozen=True, slots=True)
class KindMap:
    """Rates of one kind of population, a row for each of ``layers`` and a column for each token."""

    kind: str
    layers: tuple[int, ...]
    rates: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Layer × token: first the map of all kinds together, then one for each kind, in the order of the model."""

    tokens: int
    maps: tuple[KindMap, ...]

    def to_dict(self) -> dict[str, Any]:
        return dict(to_dict(self))


def summary(recording: NeuronRecording, populations: Sequence[str] = (), tokens: slice = slice(None)) -> Summary:
    """Return the numbers of ``populations`` (none named: all) over ``tokens``.

    Raises: InvalidInput for a population that the recording does not hold, or where no token is left.
    """
    chosen = choose(recording, populations)
    steps = recording.steps
    first, end = span(tokens, len(recording.tokens))
    batch = int(recording.meta.get("batch_steps", 0))
    counted = {name: _count(record, first, end, batch) for name, record in chosen.items()}
    neurons = sum(len(each.per_neuron) for each in counted.values())
    excitatory = sum((each.excitatory for each in counted.values()), np.zeros((steps, end - first), np.int64))
    inhibitory = sum((each.inhibitory for each in counted.values()), np.zeros((steps, end - first), np.int64))
    spikes = int(excitatory.sum() + inhibitory.sum())
    per_neuron = np.concatenate([each.per_neuron for each in counted.values()])
    apart = sum((each.intervals for each in counted.values()), np.zeros_like(next(iter(counted.values())).intervals))
    return Summary(
        steps=steps,
        first=first,
        end=end,
        neurons=neurons,
        spikes=spikes,
        rate=_rate(spikes, neurons * steps * (end - first)),
        rate_per_step=SignedRates(_rates(excitatory.T, neurons), _rates(inhibitory.T, neurons)),
        rate_per_token=SignedRates(
            _rates(excitatory.sum(axis=0), neurons * steps), _rates(inhibitory.sum(axis=0), neurons * steps)
        ),
        rate_histogram=_histogram(per_neuron, steps * (end - first)),
        isi_histogram=Intervals(_whole(apart), sum(each.longer for each in counted.values()), steps > 1),
        table=tuple(_row(name, chosen[name], each) for name, each in counted.items()),
    )


def heat_map(recording: NeuronRecording) -> HeatMap:
    """Return the rate of every layer at every token, from the counts alone."""
    by_kind: dict[str, dict[int, list[npt.NDArray[np.int64]]]] = {ALL_KINDS: {}}
    places: dict[tuple[str, int], int] = {}
    for record in recording.populations.values():
        spikes = np.add.reduce(record.counts, axis=1, dtype=np.int64)
        for kind in (ALL_KINDS, record.kind):
            by_kind.setdefault(kind, {}).setdefault(record.layer, []).append(spikes)
            places[kind, record.layer] = places.get((kind, record.layer), 0) + record.n * record.steps
    maps = []
    for kind, layers in by_kind.items():
        # The populations of no layer stand after the last one, where they are in the model.
        order = sorted(layers, key=lambda layer: (layer < 0, layer))
        rows = tuple(_rates(np.sum(layers[layer], axis=0), places[kind, layer]) for layer in order)
        maps.append(KindMap(kind, tuple(order), rows))
    return HeatMap(len(recording.tokens), tuple(maps))


def choose(recording: NeuronRecording, names: Sequence[str]) -> dict[str, PopulationRecord]:
    """Return the populations named, or all where none is.

    Raises: InvalidInput for a name that the recording does not hold.
    """
    populations: Mapping[str, PopulationRecord] = recording.populations
    unknown = [name for name in names if name not in populations]
    if unknown:
        raise InvalidInput(
            f"The recording holds no population {unknown[0]!r}.", remedy="Choose populations from its summary."
        )
    return {name: populations[name] for name in dict.fromkeys(names or populations)}


def span(tokens: slice, total: int) -> tuple[int, int]:
    """Return the first token of a choice and the one after its last, of ``total``.

    Raises: InvalidInput where no token is left.
    """
    first, end, _ = slice(tokens.start, tokens.stop).indices(total)
    if end <= first:
        raise InvalidInput(
            f"No token is left of {total} between {tokens.start} and {tokens.stop}.",
            remedy="Choose a first token before the last one.",
        )
    return first, end


@dataclass(frozen=True, slots=True)
class _Counted:
    """Spikes of one population: by step and token ``[K, S]``, by neuron ``[n]``, and the intervals between them."""

    excitatory: npt.NDArray[np.int64]
    inhibitory: npt.NDArray[np.int64]
    per_neuron: npt.NDArray[np.int64]
    intervals: npt.NDArray[np.int64]
    longer: int
    residual: float | None


def _count(record: PopulationRecord, first: int, end: int, batch: int) -> _Counted:
    on, off = record.spikes_pos[:, first:end], record.spikes_neg[:, first:end]
    fired = on | off
    # Time goes on where a token is a single step: there is nothing within it.
    apart, longer = intervals(fired if len(fired) > 1 else _trains(fired[0], first, batch))
    per_neuron = np.add.reduce(record.counts[first:end], axis=0, dtype=np.int64)
    return _Counted(spikes_of(on), spikes_of(off), per_neuron, apart, longer, _residual(record, first, end))


def _trains(fired: Bits, first: int, batch: int) -> Bits:
    """Return steps in time, ``first`` the number of the first, as trains of a batch of ``batch`` steps each; 0: as one.

    Batches of which a part was chosen are silent in the rest. Shapes: ``[S, b]`` to ``[batch, batches, b]``.
    """
    if not batch:
        return fired
    before = first % batch
    filled = np.pad(fired, ((before, -(before + len(fired)) % batch), (0, 0)))
    return filled.reshape(-1, batch, fired.shape[-1]).swapaxes(0, 1)


def _residual(record: PopulationRecord, first: int, end: int) -> float | None:
    thresholds = record.thresholds()
    if thresholds is None or not record.trace_idx.size:
        return None
    last = thresholds[-1, first:end]
    left = np.abs(record.membrane_potential[-1, first:end])
    return round(float(np.mean(left / last)), 6) if (last > 0).all() else None


def _row(name: str, record: PopulationRecord, counted: _Counted) -> PopulationRow:
    steps, tokens = counted.excitatory.shape
    neurons = len(counted.per_neuron)
    excitatory, inhibitory = int(counted.excitatory.sum()), int(counted.inhibitory.sum())
    spikes = excitatory + inhibitory
    return PopulationRow(
        name=name,
        kind=record.kind,
        layer=record.layer,
        neurons=neurons,
        excitatory=excitatory,
        inhibitory=inhibitory,
        spikes=spikes,
        rate=_rate(spikes, neurons * steps * tokens),
        per_neuron_and_token=_rate(spikes, neurons * tokens),
        silent=_rate(int((counted.per_neuron == 0).sum()), neurons),
        residual=counted.residual,
    )


def _histogram(spikes: npt.NDArray[np.int64], places: int) -> Histogram:
    # In whole numbers: rates lie on the edges themselves more often than between them.
    bins = np.minimum(spikes * RATE_BINS // places, RATE_BINS - 1)
    edges = tuple(round(edge / RATE_BINS, 6) for edge in range(RATE_BINS + 1))
    return Histogram(edges, _whole(np.bincount(bins, minlength=RATE_BINS)))


def _rate(spikes: int, places: int) -> float:
    return round(spikes / places, 6) if places else 0.0


def _rates(spikes: npt.NDArray[np.int64], places: int) -> tuple[float, ...]:
    return tuple(np.round(spikes.ravel() / max(places, 1), 6).tolist())


def _whole(counts: npt.NDArray[Any]) -> tuple[int, ...]:
    return tuple(int(count) for count in counts)
