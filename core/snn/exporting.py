"""Writes the spikes of a recording for other programs: a table of events, Neo, NWB."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InvalidInput
from core.snn.packing import unpack
from core.snn.statistics import choose, span

if TYPE_CHECKING:
    from core.snn.recording import NeuronRecording, PopulationRecord

SUFFIXES = {"csv": ".csv", "neo": ".mat", "nwb": ".nwb"}
"""The forms of ``export``, and how their files end; Neo writes its objects as a MATLAB file, which holds no code."""
PACKAGES = {"neo": "neo", "nwb": "pynwb"}
MOST_NEURONS = 5_000
"""Neurons in a file of Neo or NWB: there each has two trains, which are objects of a millisecond each."""
HEADING = b"population,neuron,token,step,sign\n"


def csv_events(
    recording: NeuronRecording, populations: Sequence[str] = (), tokens: slice = slice(None)
) -> Iterator[bytes]:
    """Return a table of ``population,neuron,token,step,sign``, one line a spike, in parts of a token each.

    Neurons, tokens and steps are counted from 0; a sign is 1 or −1. All spikes of a long answer are a gigabyte.

    Raises: InvalidInput, before the first part, for a population that the recording does not hold, or no token.
    """
    chosen = choose(recording, populations)
    first, end = span(tokens, len(recording.tokens))
    return _csv_parts(chosen, first, end)


def export(
    recording: NeuronRecording,
    form: str,
    path: Path,
    populations: Sequence[str] = (),
    tokens: slice = slice(None),
) -> None:
    """Write the spikes of ``populations`` (none named: all) at ``tokens`` to the file ``path``, whole or not at all.

    Raises: InvalidInput for an unknown form, one whose package is not installed, or more neurons than it carries.
    """
    if form not in SUFFIXES:
        raise InvalidInput(f"There is no form {form!r}.", remedy=f"Choose one of {', '.join(SUFFIXES)}.")
    begun = path.with_name(f"{path.name}.begun{SUFFIXES[form]}")
    try:
        if form == "csv":
            with begun.open("wb") as file:
                file.writelines(csv_events(recording, populations, tokens))
        else:
            _writer(form)(recording, begun, *_checked(recording, populations, tokens))
        os.replace(begun, path)
    finally:
        begun.unlink(missing_ok=True)


def is_available(form: str) -> bool:
    """Whether the form can be written here: what it needs is installed."""
    return form in SUFFIXES and (form not in PACKAGES or find_spec(PACKAGES[form]) is not None)


def numbers_of(record: PopulationRecord) -> list[int]:
    """Return the number of each recorded neuron in its population."""
    numbers: list[int] = (np.arange(record.n) if record.neuron_idx is None else record.neuron_idx).tolist()
    return numbers


def _csv_parts(chosen: dict[str, PopulationRecord], first: int, end: int) -> Iterator[bytes]:
    yield HEADING
    for name, record in chosen.items():
        planes = ((1, record.spikes_pos), (-1, record.spikes_neg))
        ever = np.bitwise_or.reduce(record.spikes_pos[:, first:end] | record.spikes_neg[:, first:end], axis=(0, 1))
        firing, cell = np.flatnonzero(unpack(ever, record.n)), _cell(name)
        numbers = (firing if record.neuron_idx is None else record.neuron_idx[firing]).tolist()
        heads = np.array([f"{cell},{number}".encode("utf-8", "replace") for number in numbers], object)
        for token in range(first, end):
            lines = []
            for step in range(record.steps):
                for sign, bits in planes:
                    fired = heads[unpack(bits[step, token], record.n)[firing].view(bool)].tolist()
                    if fired:
                        tail = f",{token},{step},{sign}\n".encode()
                        lines.append(tail.join(fired) + tail)
            yield b"".join(lines)


def _cell(text: str) -> str:
    """Return a name as one cell of the table, which no spreadsheet takes for a formula."""
    cell = io.StringIO()
    csv.writer(cell, lineterminator="").writerow([f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text])
    return cell.getvalue()


def _checked(
    recording: NeuronRecording, populations: Sequence[str], tokens: slice
) -> tuple[dict[str, PopulationRecord], int, int]:
    chosen = choose(recording, populations)
    neurons = sum(record.n for record in chosen.values())
    if neurons > MOST_NEURONS:
        raise InvalidInput(
            f"{neurons:,} neurons are more than the {MOST_NEURONS:,} that a file of this form carries.",
            remedy="Choose a layer or a kind of neurons, or export a table (csv).",
        )
    return chosen, *span(tokens, len(recording.tokens))


def _writer(form: str) -> Callable[[NeuronRecording, Path, dict[str, PopulationRecord], int, int], None]:
    if not is_available(form):
        package = PACKAGES[form]
        raise InvalidInput(
            f"The form {form!r} needs the package {package}, which is not installed here.",
            remedy=f"Install it with “pip install {package}”, or export a table (csv).",
        )
    writer: Callable[[NeuronRecording, Path, dict[str, PopulationRecord], int, int], None]
    writer = import_module(f"core.snn.{form}_export").write
    return writer
