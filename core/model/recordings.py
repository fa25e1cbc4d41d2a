"""Recordings of a spiking model while it wrote an answer, and the small models that were trained here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Recording:
    """One kept file of spikes; ``trace_id`` is empty for an uploaded file and for an answer that was not kept.

    ``steps`` are those of the code per token; ``neurons`` are those recorded; ``truncated`` says in words what was left
    out to stay within the limit, empty for nothing; ``left_out`` says it for programs: ``currents`` (bool), ``thinned``
    (one in so many neurons was recorded), ``tokens`` and ``membranes`` (how many), ``absent`` (neurons without a
    potential in the file) and ``foreign`` (bool, another tool's file without tokens and thresholds).
    """

    id: str
    name: str
    created_at: datetime
    size_bytes: int
    model: str = ""
    code: str = ""
    steps: int = 0
    tokens: int = 0
    neurons: int = 0
    truncated: str = ""
    left_out: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    trace_id: str = ""
    is_uploaded: bool = False


@dataclass(frozen=True, slots=True)
class RecordingPart:
    """A part of a recording: populations of a layer, of a kind, and tokens from ``first`` to before ``end``.

    None and empty choose all; the layer −1 stands for what belongs to none.
    """

    layer: int | None = None
    kind: str = ""
    first: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A language model that was trained here; ``manifest`` is its ``artifact_manifest.json``."""

    name: str
    created_at: datetime
    size_bytes: int
    manifest: Mapping[str, Any] = field(default_factory=dict)
    is_spiking: bool = False
    is_chosen: bool = False
    """Whether the generator ``standard`` writes with it."""


class TrainingState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    """It can be resumed from its last checkpoint."""
    FAILED = "failed"
    """It can be resumed from its last checkpoint."""


@dataclass(frozen=True, slots=True)
class Training:
    """One training of a small language model; ``loss`` and ``held_out_loss`` are nats per token."""

    name: str
    state: TrainingState
    step: int = 0
    steps: int = 0
    loss: float | None = None
    held_out_loss: float | None = None
    tokens_per_s: float = 0.0
    seconds_left: float | None = None
    """About how long it still runs; None where it does not, and before its first step is told."""
    error: str = ""
    code: str = ""
    remedy: str = ""
    left_out: int = 0
    """Texts that it does not learn from because they were too much."""
