"""The file of a recording: a dictionary of plain tensors, strings and numbers, as ``torch.save`` writes it.

It loads with ``torch.load(…, weights_only=True)``::

    format, version
    meta                    strings and numbers, see NeuronRecording
    tokens                  ids int32 [S], text and role (lists of S strings)
    time                    steps_per_token K, tokens S
    layers[name]            n, kind, layer, and the arrays of PopulationRecord under their names
    spikes                  int8 [K·S, k] of k traced neurons from the middle of the network, and
    membrane_potential      float32 [K·S, k] of the same, for tools that expect just these two keys

It is read here without running any of it: see ``reading``.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.snn.checking import ARRAYS, FORMAT, VERSION, recording_of
from core.snn.populations import KINDS
from core.snn.reading import read, refused
from core.snn.records import FOREIGN, NeuronRecording, PopulationRecord, Tokens

__all__ = ["FOREIGN", "KINDS", "NeuronRecording", "PopulationRecord", "Tokens", "load", "save"]


def save(recording: NeuronRecording, path: Path) -> None:
    """Write the recording to ``path``, which is then whole or as it was before."""
    import torch

    begun = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with begun.open("wb") as file:
            torch.save(_tensors(_tree(recording)), file)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)


def load(path: Path, limit_bytes: int) -> NeuronRecording:
    """Return the recording of a file, whoever wrote it; its arrays cannot be written to.

    Of a file of another tool (see ``foreign``) each step in time is a token of one step. Raises:
    ``UnreadableRecording`` for everything that is no recording.
    """
    tree = read(path, limit_bytes)
    try:
        return recording_of(tree)
    except (ValueError, TypeError, OverflowError) as error:
        raise refused("its parts do not fit each other") from error


def _tree(recording: NeuronRecording) -> dict[str, Any]:
    tokens = recording.tokens
    spikes, potential = _default(recording)
    return {
        "format": FORMAT,
        "version": VERSION,
        "meta": dict(recording.meta),
        "tokens": {"ids": tokens.ids, "text": list(tokens.texts), "role": list(tokens.roles)},
        "time": {"steps_per_token": recording.steps, "tokens": len(tokens)},
        "layers": {name: _layer(population) for name, population in recording.populations.items()},
        "spikes": spikes,
        "membrane_potential": potential,
    }


def _layer(population: PopulationRecord) -> dict[str, Any]:
    arrays = {name: getattr(population, name) for name in ARRAYS}
    kept = {name: array for name, array in arrays.items() if array is not None}
    return {"n": population.n, "kind": population.kind, "layer": population.layer, **kept}


def _default(recording: NeuronRecording) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return spikes and potentials of the traced neurons of the middle layer, over all steps of all tokens."""
    layers = sorted({each.layer for each in recording.populations.values()})
    middle = [each for each in recording.populations.values() if each.layer == layers[len(layers) // 2]]
    time = recording.steps * len(recording.tokens)

    def in_time(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(array.transpose(1, 0, 2)).reshape(time, -1)

    spikes = [in_time(each.spikes()[:, :, each.trace_idx]) for each in middle]
    potentials = [in_time(each.membrane_potential) for each in middle]
    return np.concatenate(spikes, axis=1), np.concatenate(potentials, axis=1)


def _tensors(value: Any) -> Any:
    import torch

    if isinstance(value, dict):
        return {key: _tensors(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        # What was read cannot be written to, and PyTorch has no tensors of that kind.
        return torch.from_numpy(np.require(value, requirements=["C", "W"]))
    return value
