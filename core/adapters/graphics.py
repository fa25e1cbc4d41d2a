"""Where PyTorch runs models: on a graphics processor where there is one, and without it when its memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import ModelUnavailable

log = logging.getLogger(__name__)

MOST_TEXTS = 256
"""Of one batch on a graphics processor: more are no faster."""
_COPIES = 24
"""How many times its states a layer holds at once, with attention and the wide half."""

T = TypeVar("T")


def chosen_device(setting: str, variable: str = "EVORAG_DEVICE") -> str:
    """Return the device that PyTorch is told: ``auto`` is ``cuda`` where it can be used, else ``cpu``.

    Raises: ``ModelUnavailable`` where ``cuda`` is asked for and there is none.
    """
    if setting == "cpu":
        return setting
    import torch

    if torch.cuda.is_available():
        return "cuda" if setting == "auto" else setting
    if setting == "auto":
        return "cpu"
    raise ModelUnavailable(
        "There is no graphics processor that PyTorch can use.",
        remedy=f"Set {variable}=cpu, or install PyTorch for your processor.",
        reason="llm_device",
    )


def texts_together(device: str, on_processor: int, tokens: int, hidden: int) -> int:
    """Return how many texts of so many tokens a batch takes; on a graphics processor, what half its free room holds."""
    if device == "cpu":
        return on_processor
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    return fitting(free, tokens, hidden)


def fitting(free_bytes: int, tokens: int, hidden: int) -> int:
    """Return how many texts half of the free memory holds, from 1 to ``MOST_TEXTS``."""
    return max(1, min(MOST_TEXTS, free_bytes // 2 // (tokens * hidden * 4 * _COPIES)))


def within_memory(run: Callable[[int], T], together: int, to_processor: Callable[[], object]) -> T:
    """Run with so many texts a batch; with half as many as long as memory runs out, and at last on the processor."""
    import torch

    tried = together
    while tried:
        try:
            return run(tried)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        tried //= 2
    log.warning("the memory of the graphics processor ran out; the model goes on on the processor")
    to_processor()
    return run(together)


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether a graphics processor had no memory left."""
    import torch

    return isinstance(error, torch.OutOfMemoryError)


def moved_to_processor(model: Any) -> Any:
    """Return ``model`` on the processor, in 32-bit floats."""
    return model.to("cpu").float()
