"""Background work, and the state of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Stage(StrEnum):
    """The stages of an ingest job, in order."""

    STORED = "stored"
    PARSING = "parsing"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of background work, as the ledger holds it; ``done`` of ``total`` counts within the stage."""

    id: str
    kind: str
    state: JobState
    stage: Stage
    done: int
    total: int
    doc_key: str
    version: int
    name: str
    attempts: int
    created_at: datetime
    updated_at: datetime
    error: Mapping[str, Any] | None = None
    stage_seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoreHealth:
    name: str
    engine: str
    state: str
    """``ok``, ``loading``, ``waiting`` (writes in the outbox) or ``down``."""
    rows: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    stores: tuple[StoreHealth, ...]
    outbox: int
    models_ready: bool


@dataclass(frozen=True, slots=True)
class Counts:
    documents: int
    versions: int
    chunks: int
    questions: int
    running_jobs: int
    size_bytes: int
    sequence: int
