"""Generations: the pairs of indexes that were built by one embedder and one analyser, one of which serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class GenerationState(StrEnum):
    BUILDING = "building"
    READY = "ready"
    """It holds everything and is kept up, so that it can be switched to."""
    SERVING = "serving"
    REMOVING = "removing"
    """Its stores are being emptied; it is gone once they are."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation; ``done`` of ``total`` counts the chunks that it was built with so far."""

    number: int
    embedder: str
    """As the setting ``embedder`` names it."""
    model: str
    """The id of its vectors' space."""
    dimension: int
    analyser: str
    state: GenerationState
    created_at: datetime
    done: int = 0
    total: int = 0
    waiting: int = 0
    """Rows that its stores have not written yet."""
    switches: bool = False
    """It serves by itself once it is ready."""
    error: Mapping[str, Any] | None = None
    """What keeps it from going on; it is tried again."""
