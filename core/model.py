"""The values that flow through EvoRAG, all frozen; the words are those of the design.

A file becomes blocks, blocks become chunks; a question becomes a query, a query becomes hits, hits become an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.codec import to_dict as to_dict

BLOCK_JOINT = "\n\n"
"""What stands between two blocks in the parsed text of a version; spans count it."""


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    LIST = "list"
    CODE = "code"


class Part(StrEnum):
    """Which part of an index holds a chunk: head for published versions, history for all other kept ones."""

    HEAD = "head"
    HISTORY = "history"


class AnswerType(StrEnum):
    EXTRACTIVE = "extractive"
    GENERATIVE = "generative"
    HALLUCINATION_FALLBACK = "hallucination_fallback"
    INSUFFICIENT = "insufficient"


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


class UploadOutcome(StrEnum):
    NEW = "new"
    UNCHANGED = "unchanged"
    RESTORED = "restored"


# ---- documents ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Locator:
    """Where in the original a piece of text stands. Pages and slides count from 1."""

    page: int | None = None
    page_end: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """What a parser yields. A table's text is one row a line, cells joined by `` | ``.

    ``header`` holds the header row of a table whenever it is *not* the first line of ``text`` (row groups after
    the first), so that every group can be read alone. ``level`` is 1 to 6 for headings, 0 otherwise.
    """

    text: str
    kind: BlockKind = BlockKind.PARAGRAPH
    locator: Locator = Locator()
    level: int = 0
    header: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of consecutive block text; ``parsed_text[start:end] == text`` holds exactly.

    ``header`` repeats the header row of a table that was cut; it is indexed and shown, but is no part of the span.
    """

    position: int
    text: str
    start: int
    end: int
    kind: BlockKind = BlockKind.PARAGRAPH
    locator: Locator = Locator()
    header: str = ""
    token_count: int = 0

    def indexed_text(self, title: str) -> str:
        """The text that both indexes read: title, heading path, repeated table header and the chunk itself."""
        lines = [title, " › ".join(self.locator.heading_path), self.header, self.text]
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class Document:
    """What a ``doc_key`` names, as a list shows it."""

    id: int
    doc_key: str
    name: str
    title: str
    tags: tuple[str, ...]
    extension: str
    language: str
    size_bytes: int
    state: str
    """``published``, ``indexing``, ``failed`` or ``deleted``."""
    published_version: int | None
    latest_version: int
    version_count: int
    chunk_count: int
    created_at: datetime
    updated_at: datetime
    is_text_entry: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable upload of a document."""

    id: int
    doc_key: str
    number: int
    file_name: str
    extension: str
    sha256: str
    sha1: str
    size_bytes: int
    state: str
    """``stored`` (being indexed), ``ready``, ``failed`` or ``cancelled``."""
    created_at: datetime
    chunk_count: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    is_published: bool = False
    note: str = ""
    actor: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Publication:
    """From sequence number ``seq`` on, the document shows ``version`` (or nothing: deleted)."""

    seq: int
    doc_key: str
    version: int | None
    action: str
    at: datetime
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """The receipt of an upload: the bytes are on disk and the version is claimed."""

    outcome: UploadOutcome
    doc_key: str
    version: int
    checksum: str
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedChunk:
    """A stored chunk at its place in one version."""

    id: int
    doc_id: int
    doc_key: str
    name: str
    title: str
    version: int
    chunk: Chunk
    content_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class Preview:
    """A stretch of a version's text, cut where its chunks are cut."""

    doc_key: str
    version: int
    total_chunks: int
    chunks: tuple[PlacedChunk, ...]


# ---- jobs -----------------------------------------------------------------------------------------------------------


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


# ---- questions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents a question may be answered from; empty means all. Several values of a kind mean any of them."""

    doc_keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    updated_after: datetime | None = None
    updated_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question and how to search for it. ``as_of`` is a publication sequence number or a moment."""

    text: str
    top_k: int = 5
    depth: int = 50
    filters: Filters = Filters()
    as_of: int | datetime | None = None
    fusion: str = "rrf"
    alpha: float = 0.5
    per_document: int = 3


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the question was understood as, before any search."""

    language: str
    normalised: str
    keywords: tuple[str, ...]
    prompt_type: str


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one term added to a BM25 score: ``score = idf · tf_part`` (boost 1)."""

    term: str
    score: float
    idf: float = 0.0
    tf: float = 0.0
    document_frequency: int = 0


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One row that a leg returned: L2 distance (smaller is closer) or BM25 (larger is better)."""

    chunk_id: int
    score: float
    terms: tuple[TermScore, ...] = ()


@dataclass(frozen=True, slots=True)
class LegRank:
    """A chunk's place in one leg; ``contribution`` is its share of the fused score, ``1 / (k + rank)`` for RRF."""

    rank: int
    score: float
    contribution: float
    terms: tuple[TermScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A visible chunk in the fused order, with the account of why it stands there."""

    rank: int
    placed: PlacedChunk
    score: float
    vector: LegRank | None = None
    keyword: LegRank | None = None
    merged: tuple[int, ...] = ()
    """Ids of identical passages that were merged into this one."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered reference of an answer to an immutable version; ``start``/``end`` span the cited sentence."""

    number: int
    doc_key: str
    version: int
    chunk_id: int
    position: int
    name: str
    text: str
    start: int
    end: int
    locator: Locator = Locator()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got. ``text`` carries ``[n]`` marks that match ``citations``."""

    text: str
    type: AnswerType
    citations: tuple[Citation, ...] = ()
    confidence: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """What one leg of a query did: its visible hits in order, its engine, its time, or its error."""

    name: str
    engine: str
    hits: tuple[IndexHit, ...] = ()
    read: int = 0
    hidden: int = 0
    duration_ms: float = 0.0
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened while a question was answered, as data."""

    id: str
    asked_at: datetime
    query: Query
    sequence: int
    analysis: Analysis
    vector: Leg
    keyword: Leg
    hits: tuple[Hit, ...]
    candidates: tuple[Hit, ...]
    context: str
    prompt: str
    answer: Answer
    timings_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    generation: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One line of the question history."""

    id: str
    asked_at: datetime
    question: str
    answer_type: AnswerType
    answer: str
    total_ms: float


# ---- state of the whole ---------------------------------------------------------------------------------------------


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
