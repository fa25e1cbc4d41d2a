"""Writes spikes as a block of Neo: for each neuron a train ON of its excitatory spikes and a train OFF of the others.

Needs the package ``neo``. The time of a spike is the number of its step, counted from the first recorded token, without
a dimension: a step has no milliseconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import neo
import numpy as np

from core.snn.exporting import numbers_of
from core.snn.trains import trains

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

NOTE = "Times are steps of the code, counted from the first recorded token; a step has no milliseconds."


def write(recording: NeuronRecording, path: Path, chosen: dict[str, PopulationRecord], first: int, end: int) -> None:
    """Write ``chosen`` at the tokens ``first`` to before ``end`` as a MATLAB file that ``neo.io.NeoMatlabIO`` reads."""
    neo.io.NeoMatlabIO(filename=str(path)).write_block(block(recording, chosen, first, end))


def block(recording: NeuronRecording, chosen: dict[str, PopulationRecord], first: int, end: int) -> neo.Block:
    """Return one segment of trains, annotated with population, kind, layer, neuron and sign, and an epoch of tokens."""
    steps = recording.steps
    segment = neo.Segment(name="answer")
    for name, record in chosen.items():
        for sign, bits in ((1, record.spikes_pos), (-1, record.spikes_neg)):
            for number, times in zip(numbers_of(record), trains(bits[:, first:end], record.n, first), strict=True):
                train = neo.SpikeTrain(
                    times,
                    units="dimensionless",
                    t_start=first * steps,
                    t_stop=end * steps,
                    name=f"{name} {number} {'ON' if sign > 0 else 'OFF'}",
                )
                train.annotate(population=name, kind=record.kind, layer=record.layer, neuron=number, sign=sign)
                segment.spiketrains.append(train)
    segment.epochs.append(
        neo.Epoch(
            times=np.arange(first, end, dtype=float) * steps,
            durations=np.full(end - first, float(steps)),
            labels=np.array(recording.tokens.texts[first:end]),
            units="dimensionless",
            name="tokens",
        )
    )
    made = neo.Block(name=str(recording.meta.get("model", "")), description=NOTE)
    made.annotate(code=str(recording.meta.get("code", "")), steps_per_token=steps)
    made.segments.append(segment)
    return made
