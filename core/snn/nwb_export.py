"""Writes spikes as a file of Neurodata Without Borders: for each neuron a unit ON and a unit OFF.

Needs the package ``pynwb``. The format knows no time without seconds, so one step is written as one second, and the
file says so; a step has no milliseconds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pynwb

from core.snn.exporting import numbers_of
from core.snn.trains import trains

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

NOTE = (
    "Neurons of a language model, not of an animal. One second stands for one step of the code, counted from the first "
    "recorded token; a step has no milliseconds."
)
COLUMNS = {
    "population": "place in the network",
    "neuron": "number of the neuron in its population",
    "sign": "1: excitatory spikes (ON), -1: inhibitory spikes (OFF)",
}


def write(recording: NeuronRecording, path: Path, chosen: dict[str, PopulationRecord], first: int, end: int) -> None:
    """Write ``chosen`` at the tokens ``first`` to before ``end``, which become intervals of the trials table."""
    steps = recording.steps
    file = pynwb.NWBFile(
        session_description=NOTE,
        identifier=str(uuid4()),
        session_start_time=_start(str(recording.meta.get("created_at", ""))),
        notes=f"{recording.meta.get('model', '')}; {recording.meta.get('code', '')}, {steps} steps a token",
    )
    for name, told in COLUMNS.items():
        file.add_unit_column(name=name, description=told)
    for name, record in chosen.items():
        for sign, bits in ((1, record.spikes_pos), (-1, record.spikes_neg)):
            for number, times in zip(numbers_of(record), trains(bits[:, first:end], record.n, first), strict=True):
                file.add_unit(spike_times=times, population=name, neuron=number, sign=sign)
    file.add_trial_column(name="token", description="text of the token")
    for token in range(first, end):
        text = recording.tokens.texts[token].replace("\0", "")
        file.add_trial(start_time=float(token * steps), stop_time=float((token + 1) * steps), token=text)
    with pynwb.NWBHDF5IO(str(path), "w") as opened:
        opened.write(file)


def _start(told: str) -> datetime:
    """Return when the recording began as the format wants it, with a time zone."""
    try:
        moment = datetime.fromisoformat(told)
    except ValueError:
        return datetime(1970, 1, 1, tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
