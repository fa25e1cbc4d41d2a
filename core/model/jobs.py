"""Background work, and the state of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


class JobKind(StrEnum):
    INGEST = "ingest"
    UNPACK = "unpack"
    """An archive becomes documents, each with a job of its own."""
    REINDEX = "reindex"
    """The keyword index is built anew with another vocabulary; its one stage is ``keywords``."""
    REPAIR = "repair"
    """The rows of a store are brought to what the catalogue says, or all written anew."""


class Stage(StrEnum):
    """The stages of a job, in order."""

    STORED = "stored"
    UNPACKING = "unpacking"
    """The one stage of an archive's own job; its documents have jobs of their own."""
    PARSING = "parsing"
    CHUNKING = "chunking"
    KEYWORDS = "keywords"
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
    stage_counts: Mapping[str, int] = field(default_factory=dict)
    """What each finished stage has done: bytes parsed, chunks cut, texts embedded, rows indexed, members unpacked."""
    actor: str = ""
    priority: int = 0
    parent_id: str | None = None
    """The job of the archive that the document came in."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    keyword_ready: bool = False
    """The version can be found by its words."""
    size_bytes: int = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    """What it took so far: ``cpu_s`` and ``peak_bytes`` of its parser, its part of what documents that were worked on
    together took (``preparing_s``, ``embedding_s``, ``publishing_s``), ``tokens`` of its text, ``embedded_texts`` and
    ``embedded_tokens``; ``peak_aside_s``, what its parser had taken when it stepped aside for short files."""
    change: int = 0
    """Grows with every change of any job: what a reader has seen up to."""
    share: float = 0.0
    """How much of the whole job is done, from 0 to 1, stages weighted by cost; 1 once it is done, 0 where it failed."""
    seconds_left: float | None = None
    """About how long it will take to its end, with what comes before it; None where nobody knows or it was ended."""


def together(jobs: Sequence[Job]) -> tuple[float, float | None]:
    """Return how much of several jobs is done, weighted by their sizes, and the time until the last one ends."""
    sizes = [job.size_bytes + 4_096 for job in jobs]
    over = (JobState.FAILED, JobState.CANCELLED)
    shares = (1.0 if job.state in over else job.share for job in jobs)
    share = sum(size * each for size, each in zip(sizes, shares, strict=True)) / sum(sizes) if jobs else 0.0
    active = [job for job in jobs if job.state in (JobState.QUEUED, JobState.RUNNING)]
    known = [job.seconds_left for job in active if job.seconds_left is not None]
    return share, (max(known) if len(known) == len(active) and known else None)


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A line of a job's log: what happened, in words of ours and numbers; never text of a document."""

    seq: int
    at: datetime
    level: str
    """``info``, ``warning`` or ``error``."""
    stage: Stage
    code: str
    """What happened, as a name that pages translate: ``queued``, ``started``, ``stage``, ``retried``, ``failed``, …"""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs a list shows; empty fields allow all."""

    states: tuple[JobState, ...] = ()
    kinds: tuple[str, ...] = ()
    actor: str = ""
    search: str = ""
    """Literal text in the document's name."""
    doc_key: str = ""
    parent_id: str = ""
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StoreHealth:
    name: str
    engine: str
    state: str
    """``ok``, ``loading``, ``waiting`` (writes in the outbox), ``damaged`` (some of it is), ``earlier`` (the catalogue
    of an earlier day), ``low`` or ``full`` (the disk), ``open`` (what reads files is not confined), or ``down``."""
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
