"""A question on its way: what was asked, what each leg found, how it was fused, and what was answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.model.consistency import Indexing, Refilling
from core.model.documents import Locator, PlacedChunk
from core.model.wording import Correction, Syntax


class AnswerType(StrEnum):
    EXTRACTIVE = "extractive"
    GENERATIVE = "generative"
    HALLUCINATION_FALLBACK = "hallucination_fallback"
    INSUFFICIENT = "insufficient"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents a question may be answered from; empty means all. Several values of a kind mean any of them."""

    doc_keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    updated_after: datetime | None = None
    updated_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class VersionRef:
    """A version of a document; written ``<doc_key>#v<version>``."""

    doc_key: str
    version: int

    def __str__(self) -> str:
        return f"{self.doc_key}#v{self.version}"


AsOf = int | datetime | VersionRef
"""A publication sequence number; a moment; or a version, which its document then shows while all others show theirs."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question and how to search for it.

    ``as_of`` None asks of now. ``versions`` is ``shown`` (what each document shows) or ``all``: everything that a
    document which is not deleted has ever shown.
    """

    text: str
    top_k: int = 5
    depth: int = 50
    filters: Filters = Filters()
    as_of: AsOf | None = None
    fusion: str = "rrf"
    alpha: float = 0.5
    per_document: int = 3
    versions: str = "shown"
    generator: str = ""
    """Which generator writes the answer; empty for the one of the settings."""
    rerank: str = ""
    """``none``, ``mix``, ``features`` or ``cross``; empty for the one of the settings."""
    recency: bool | None = None
    """Whether newer documents count for more; None for what the settings say."""
    read_filters: bool | None = None
    """Whether filters are read from the question's words; None for what the settings say."""
    dismissed: tuple[str, ...] = ()
    """Ids of read filters that the asker took away."""
    syntax: str = "plain"
    """``plain`` (literal text) or ``advanced`` (phrases, ``-word``, ``field:value``)."""
    fresh: bool = False
    """Not answered from the cache."""
    conversation_id: str = ""
    zone: str = ""
    """The time zone of the days that the question names, such as ``Asia/Tokyo``; empty for this machine's."""
    record: bool = False
    """Written by spiking neurons that are recorded; not answered from the cache."""


class Intent(StrEnum):
    """What a question is about."""

    DOCUMENTS = "documents"
    KNOWLEDGE_BASE = "knowledge_base"
    SMALL_TALK = "small_talk"


@dataclass(frozen=True, slots=True)
class ReadFilter:
    """A filter that was read from the words of a question; ``id`` is the same for the same filter."""

    id: str
    kind: str
    """``updated``, ``document`` or ``extension``."""
    words: str
    filters: Filters
    is_applied: bool = True
    """False where it would have left nothing to search, so that it was left out."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the question was understood as, before any search."""

    language: str
    normalised: str
    keywords: tuple[str, ...]
    prompt_type: str
    standalone: str = ""
    """The question as it stands without its conversation, where that differs from what was asked."""
    standalone_by: str = ""
    """What made it so: ``rules`` or the name of a generator."""
    standalone_other: str = ""
    """What else the question may mean, where that was searched, too, and answered less surely."""
    intent: Intent = Intent.DOCUMENTS
    read_filters: tuple[ReadFilter, ...] = ()
    syntax: Syntax | None = None
    searched: str = ""
    """What was searched for, where that is not the question as it is: without words that only say a date, or typos."""
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one term added to a BM25 score: ``score = idf · tf_part`` (boost 1).

    ``idf``, ``tf`` and ``document_frequency`` count all that is indexed: they are 0 for somebody from whom documents
    are hidden.
    """

    term: str
    score: float
    idf: float = 0.0
    tf: float = 0.0
    document_frequency: int = 0
    stands_for: str = ""
    """The word of the question whose synonym or translation the term is; empty for a term of the question itself.

    For a translation it is an index term, as ``term`` is.
    """


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
class RerankScore:
    """What reranking made of a hit; ``score`` is the sum of ``parts`` (times ``recency`` where that is switched on)."""

    fused_rank: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    recency: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A visible chunk in its final order, with the account of why it stands there; ``score`` is that of the fusion."""

    rank: int
    placed: PlacedChunk
    score: float
    vector: LegRank | None = None
    keyword: LegRank | None = None
    merged: tuple[int, ...] = ()
    """Ids of identical passages that were merged into this one."""
    rerank: RerankScore | None = None

    def at(self, rank: int) -> Hit:
        """Return the hit at a rank."""
        if rank == self.rank:
            return self
        return Hit(rank, self.placed, self.score, self.vector, self.keyword, self.merged, self.rerank)


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
    reading: int = 1
    """The reading of the version in which the sentence stands there."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer and what supports it; ``start`` and ``end`` count in the answer's text.

    ``overlap`` is the share of its content words in the passage of ``number``, the citation that supports it best;
    ``similarity`` is their cosine. ``foreign_figures`` are figures that this passage does not hold.
    """

    start: int
    end: int
    is_supported: bool
    number: int | None = None
    overlap: float = 0.0
    similarity: float | None = None
    foreign_figures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratorFailure:
    """Why the chosen generator wrote no answer, or none that is whole: which one it was, its error, what to do next.

    ``message`` and ``remedy`` are sentences; ``reason`` names the page's texts that say the same, ``values`` fill them.
    """

    generator: str
    code: str
    message: str
    remedy: str
    reason: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got. ``text`` carries ``[n]`` marks that match ``citations``.

    ``generator_failure`` is null unless a generator was to write the answer and is down, failed, wrote nothing or took
    too long: ``text`` is then extracted, or, with the type ``generative``, what it wrote within its time.
    """

    text: str
    type: AnswerType
    citations: tuple[Citation, ...] = ()
    confidence: float = 0.0
    reason: str = ""
    sentences: tuple[Sentence, ...] = ()
    """Empty for extracted answers: they are words of the passages themselves."""
    generator: str = "none"
    """What wrote it: ``none`` for extraction, else the generator and its model, as ``huggingface: SmolLM2``."""
    dropped: tuple[str, ...] = ()
    """Sentences that were written and not shown, because nothing supports them."""
    generator_failure: GeneratorFailure | None = None
    marked: tuple[tuple[int, int], ...] = ()
    """Characters of ``text`` that decide, as far as a reader found them."""
    other: Answer | None = None
    """What was extracted beside a written answer, or the reverse, where the two disagree; this has more support."""
    is_tentative: bool = False
    """Whether it was extracted at a confidence at which fewer than nine of ten answers were right."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """What the reranking stage did: its method, its weights, how many candidates it ordered, or its error."""

    method: str
    weights: Mapping[str, float] = field(default_factory=dict)
    candidates: int = 0
    recency: bool = False
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CacheUse:
    """From which kept question an answer was taken: ``exact`` (the same words) or ``semantic`` (the same meaning)."""

    kind: str
    trace_id: str
    question: str
    asked_at: datetime
    similarity: float = 1.0


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
    refilling: Refilling | None = None
    """Set where the store was still being filled again, so that hits may be missing."""


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
    rerank: Reranking | None = None
    cache: CacheUse | None = None
    indexing: Indexing | None = None
    """Documents that the question could see and that were found by their words alone, in whole or in part."""


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One line of the question history."""

    id: str
    asked_at: datetime
    question: str
    answer_type: AnswerType
    answer: str
    total_ms: float
    as_of: str = ""
    """Which moment was asked of, as ``format_as_of`` writes it; empty for the moment of asking."""
    versions: str = "shown"
    is_tentative: bool = False
    """As in ``Answer``; false, too, of answers that were kept before the history told it."""


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question that people want to see answered alike, or better, by every version."""

    id: str
    text: str
    created_at: datetime
    owner: str = ""
    """Whose it is; empty where it is nobody's."""
    is_shared: bool = True
    """Everybody sees it, not its owner alone."""
