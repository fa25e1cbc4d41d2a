"""Checkpoints of a training: weights, the state of the optimiser and what neurons learnt, in one safetensors file.

Nothing is pickled. Batches depend on seed and step alone, so a training that goes on from a checkpoint sees what it
would have seen: it ends with the same weights as one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.errors import Conflict
from core.snn.artifacts import written

STATES = ("exp_avg", "exp_avg_sq")


def save_checkpoint(
    file: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    maxima: Mapping[str, Tensor],
    *,
    step: int,
    config_hash: str,
    held_out_loss: float | None = None,
) -> None:
    """Write a checkpoint in one step; ``step`` counts those that are done. The loss stands with the best one alone."""
    kept: dict[str, Tensor] = {f"largest/{name}": tensor for name, tensor in maxima.items()}
    for name, parameter in model.named_parameters():
        kept[f"weight/{name}"] = parameter.detach()
        for state in STATES:
            if state in optimiser.state[parameter]:
                kept[f"{state}/{name}"] = optimiser.state[parameter][state]
    kept = {name: tensor.contiguous() for name, tensor in kept.items()}
    told = {"step": str(step), "config": config_hash}
    if held_out_loss is not None:
        told["held_out_loss"] = repr(held_out_loss)
    written(file, lambda begun: save_file(kept, begun, told))


def best_known(file: Path, config_hash: str) -> tuple[int, float] | None:
    """Return step and loss of the best checkpoint so far, None where none is kept that can be read."""
    try:
        with safe_open(file, "pt") as opened:
            told = opened.metadata() or {}
        return (int(told["step"]), float(told["held_out_loss"])) if told.get("config") == config_hash else None
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


def load_checkpoint(
    file: Path, model: nn.Module, optimiser: torch.optim.Optimizer, maxima: Mapping[str, Tensor], *, config_hash: str
) -> int:
    """Put a checkpoint into a model, its optimiser and its neurons; return how many steps are done.

    Raises: ``Conflict`` for a checkpoint of another training, and for a file that is none.
    """
    try:
        with safe_open(file, "pt") as opened:
            told = opened.metadata() or {}
            kept: dict[str, Any] = {name: opened.get_tensor(name) for name in list(opened.keys())}
        if told.get("config") != config_hash:
            raise Conflict(
                "The checkpoint is of a training with other settings or texts.",
                remedy="Resume with the same settings, or discard it and train anew.",
            )
        step = int(told["step"])
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(kept[f"weight/{name}"])
                states = {state: kept[f"{state}/{name}"] for state in STATES if f"{state}/{name}" in kept}
                if states:
                    optimiser.state[parameter] = {"step": torch.tensor(float(step)), **states}
            for name, tensor in maxima.items():
                tensor.copy_(kept[f"largest/{name}"])
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise Conflict("The checkpoint cannot be read.", remedy="Discard it and train anew.") from error
    return step
