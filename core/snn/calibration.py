"""Measures how large each channel of a model becomes, once for its weights, and keeps that beside the model.

A neuron's step size grows with the root of its channel's maximum, so that quiet channels are not drowned by loud ones.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.snn.calibration_texts import CALIBRATION_TEXTS
from core.snn.convert import attach
from core.snn.populations import sizes

STEM = "spiking-calibration"
LEAST_SHARE = 1e-3
"""A channel's maximum is at least this share of the largest of its population, so that no silent one divides by 0."""
LEAST_MAXIMUM = 1e-6
_CHUNK = 1 << 20


class _Maximum(nn.Module):
    """Lets everything through and remembers the largest size of each channel."""

    largest: Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("largest", torch.zeros(n), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.largest = torch.maximum(self.largest, x.detach().float().abs().flatten(0, -2).amax(0))
        return x

    def result(self) -> Tensor:
        return _raised(self.largest.cpu())


def calibrate(model: Any, tokenizer: Any, texts: Sequence[str] = CALIBRATION_TEXTS) -> dict[str, Tensor]:
    """Return the maximum of each channel that enters a linear layer while a model that does not spike yet reads texts.

    Shapes: for each population ``[n]`` float32, above zero.
    Raises: ``ValueError`` for a model that cannot be converted.
    """
    watched = {name: _Maximum(n).to(model.device) for name, n in sizes(model.config).items()}
    detach = attach(model, watched)
    try:
        with torch.inference_mode():
            for text in texts:
                ids = tokenizer(text, return_tensors="pt")["input_ids"].to(model.device)
                model.base_model(input_ids=ids, use_cache=False)
    finally:
        detach()
    return {name: module.result() for name, module in watched.items()}


def of_folder(folder: Path, fallback_folder: Path, model: Any, tokenizer: Any) -> dict[str, Tensor]:
    """Return the channel maxima of the model that was loaded from a folder, measuring them only the first time.

    They are kept beside the model, or in the other folder where the model's cannot be written to.
    """
    ties = _ties(folder)
    places = (folder / f"{STEM}.safetensors", fallback_folder / f"{STEM}-{ties['weights'][:16]}.safetensors")
    expected = sizes(model.config)
    for place in places:
        kept = _read(place, ties, expected)
        if kept is not None:
            return kept
    maxima = calibrate(model, tokenizer)
    for place in places:
        with suppress(OSError):
            _write(place, maxima, ties)
            break
    return maxima


def keep(folder: Path, maxima: Mapping[str, Tensor]) -> None:
    """Write maxima that a model learnt while it was trained as the calibration of its folder. Raises: ``OSError``."""
    raised = {name: _raised(largest) for name, largest in maxima.items()}
    _write(folder / f"{STEM}.safetensors", raised, _ties(folder))


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of the weights in a model's folder, as hexadecimal digits."""
    state = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        if not path.name.startswith(STEM):
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    state.update(chunk)
    return state.hexdigest()


def _ties(folder: Path) -> dict[str, str]:
    return {"weights": weights_digest(folder), "texts": _digest(*(text.encode() for text in CALIBRATION_TEXTS))}


def _raised(largest: Tensor) -> Tensor:
    return largest.clamp_min(max(float(largest.max()) * LEAST_SHARE, LEAST_MAXIMUM))


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _read(path: Path, ties: Mapping[str, str], expected: Mapping[str, int]) -> dict[str, Tensor] | None:
    """Return what a file keeps, or nothing where there is none, it is of other weights, or it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            if file.metadata() != ties or set(file.keys()) != set(expected):
                return None
            maxima = {name: file.get_tensor(name) for name in expected}
    except (OSError, SafetensorError):
        return None
    is_whole = all(
        maxima[name].shape == (n,) and bool((maxima[name] > 0).all() and maxima[name].isfinite().all())
        for name, n in expected.items()
    )
    return maxima if is_whole else None


def _write(path: Path, maxima: dict[str, Tensor], ties: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        save_file(maxima, begun, metadata=ties)
        os.replace(begun, path)
    except SafetensorError as error:
        raise OSError(f"{path.name} could not be written") from error
    finally:
        begun.unlink(missing_ok=True)
