"""What the stages of a document cost on this machine: learnt from finished documents, told of unfinished ones.

Bytes parsed, chunks cut and indexed, tokens embedded; what is not counted yet is estimated from the file's size.
Small files are worked on together, so that only what a group took, divided among its files, says what one costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePath

from core.model import Job, JobKind, JobState, Stage
from core.model.weighted_median import weighted_median

_PICTURE_S = 5.0
"""What recognising a page takes before any of a document has been recognised."""
_STAGES = (Stage.PARSING, Stage.CHUNKING, Stage.KEYWORDS, Stage.EMBEDDING, Stage.INDEXING)
_BEFORE = (Stage.PARSING, Stage.CHUNKING, Stage.KEYWORDS)
_MOST_SHARE = 0.99
_KNOWN_FROM = 0.05
"""Share of a stage from which its own speed says more than that of earlier documents."""
_RECENT_S = 5.0
_PRIOR_S = 2.0
_BELIEVED_S = 2.0
"""Time of embedding that the cost with which a new knowledge base begins counts for."""
_BELIEVED_FILES = 4.0
"""Small files whose cost the default counts for."""
_TEXT_TOKENS = 25
"""Tokens that cost as much as a text by itself, however short it is."""
_SMALL_BYTES = 64 * 1024
"""Up to this size a file costs until its embedding what files of its kind do, rather than by its bytes."""
_TOGETHER_S = 5.0
"""Time that a stage of a group of small files takes without one of them being slow."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What the stages cost: seconds for a byte parsed, a chunk cut or indexed, a token embedded.

    Mappings go by the ending of the file; ``""`` stands for all others.
    """

    seconds: Mapping[Stage, float] = field(
        default_factory=lambda: {
            Stage.PARSING: 1e-6,
            Stage.CHUNKING: 0.0005,
            Stage.KEYWORDS: 0.0005,
            Stage.EMBEDDING: 0.00014,
            Stage.INDEXING: 0.0005,
        }
    )
    parsing: Mapping[str, float] = field(default_factory=lambda: {".pdf": 4e-6})
    small: Mapping[str, float] = field(default_factory=lambda: {"": 0.015})
    """Seconds for a small file until its embedding, whatever its size."""
    small_publishing: float = 0.002
    chunks: Mapping[str, float] = field(default_factory=lambda: {"": 1 / 1_200, ".pdf": 1 / 2_000})
    """Chunks of a byte."""
    tokens: Mapping[str, float] = field(default_factory=lambda: {"": 0.24, ".pdf": 0.18})
    """Tokens of a byte."""


DEFAULT_PACE = Pace()


@dataclass(frozen=True, slots=True)
class Embedding:
    """What the lane of embedding spent on texts, and how many tokens these count for."""

    seconds: float = 0.0
    tokens: float = 0.0

    def __add__(self, other: Embedding) -> Embedding:
        return Embedding(self.seconds + other.seconds, self.tokens + other.tokens)

    def __sub__(self, other: Embedding) -> Embedding:
        return Embedding(self.seconds - other.seconds, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class JobCost:
    """The cost of one job in seconds: of what is done, and of what is left before, in and after the embedding lane."""

    spent: float = 0.0
    preparing: float = 0.0
    embedding: float = 0.0
    publishing: float = 0.0

    @property
    def left(self) -> float:
        return self.preparing + self.embedding + self.publishing

    @property
    def share(self) -> float:
        whole = self.spent + self.left
        return self.spent / whole if whole > 0 else 0.0


class Recent:
    """A cost for one piece of work, as an exponential mean of about the last ten seconds of working."""

    def __init__(self, cost: float) -> None:
        self._seconds, self._count = _PRIOR_S, _PRIOR_S / max(cost, 1e-9)

    def add(self, seconds: float, count: float) -> None:
        kept = math.exp(-seconds / _RECENT_S)
        self._seconds = self._seconds * kept + seconds
        self._count = self._count * kept + count

    @property
    def cost(self) -> float:
        return self._seconds / max(self._count, 1e-9)


def pace_of(ended: Iterable[Job]) -> Pace:
    """Return what the stages of finished documents cost; what none of them had costs the default."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    cost = DEFAULT_PACE.seconds[Stage.EMBEDDING]
    seconds, tokens = _BELIEVED_S, _BELIEVED_S / cost
    for job in ended:
        used, spent = job.resources, embedding_of(job)
        if spent.tokens > 0:
            seconds, tokens = seconds + spent.seconds, tokens + spent.tokens
        endings = ("", ending_of(job))
        chunks = job.stage_counts.get(Stage.CHUNKING, 0)
        if chunks and job.size_bytes:
            _note(found, "chunks", endings, chunks / job.size_bytes, job.size_bytes)
        if chunks and job.size_bytes and used.get("tokens"):
            _note(found, "tokens", endings, used["tokens"] / job.size_bytes, job.size_bytes)
        if job.attempts > 1 or "preparing_s" not in used or "peak_aside_s" in used:
            continue
        if _is_small(job):
            for ending in endings:
                # The first file of all starts the parser and reads dictionaries, which no later one does.
                found.setdefault(("small", ending), [(DEFAULT_PACE.small[""], _BELIEVED_FILES)])
            _note(found, "small", endings, used["preparing_s"], 1.0)
            _note(found, "small_publishing", ("",), used.get("publishing_s", 0.0), 1.0)
            continue
        for stage in (*_BEFORE, Stage.INDEXING):
            count, took = job.stage_counts.get(stage, 0), job.stage_seconds.get(stage, 0.0)
            if count > 0 and took > 0:
                _note(found, stage, endings if stage is Stage.PARSING else ("",), took / count, count)
    # Small documents of one batch say less than a large one.
    costs = {key: weighted_median(values) for key, values in found.items()}

    def by_ending(name: str, default: Mapping[str, float]) -> Mapping[str, float]:
        return {**default, **{ending: cost for (of, ending), cost in costs.items() if of == name}}

    stages = {stage: costs[stage, ""] for stage in _STAGES if (stage, "") in costs}
    return Pace(
        {**DEFAULT_PACE.seconds, **stages, Stage.EMBEDDING: seconds / tokens},
        {ending: cost for ending, cost in by_ending(Stage.PARSING, DEFAULT_PACE.parsing).items() if ending},
        by_ending("small", DEFAULT_PACE.small),
        costs.get(("small_publishing", ""), DEFAULT_PACE.small_publishing),
        by_ending("chunks", DEFAULT_PACE.chunks),
        by_ending("tokens", DEFAULT_PACE.tokens),
    )


def embedding_of(job: Job) -> Embedding:
    """Return what of a job's texts was embedded so far, nothing where only their number was kept."""
    used = job.resources
    if "embedded_tokens" not in used:
        return Embedding()
    tokens = used["embedded_tokens"] + _TEXT_TOKENS * used.get("embedded_texts", 0.0)
    return Embedding(used.get("embedding_s", 0.0), tokens)


def ending_of(job: Job) -> str:
    return PurePath(job.name).suffix.lower()


def work_of(job: Job, pace: Pace, in_stage_s: float) -> JobCost:
    """Return what a job costs that has been ``in_stage_s`` in its stage."""
    if job.kind != JobKind.INGEST:
        return _counted(job, in_stage_s)
    chunks = _chunks(job, pace)
    texts = job.total if job.stage is Stage.EMBEDDING else job.stage_counts.get(Stage.EMBEDDING, chunks)
    costs = _prepared_for(job, pace, chunks)
    tokens = _tokens_of_chunk(job, pace, chunks) + _TEXT_TOKENS
    costs[Stage.EMBEDDING] = texts * tokens * pace.seconds[Stage.EMBEDDING]
    if job.state is not JobState.RUNNING or job.stage not in costs:
        is_over = job.state is JobState.RUNNING and job.stage is Stage.PUBLISHED
        return JobCost(sum(costs.values())) if is_over else _divided(costs, dict.fromkeys(costs, 0.0))
    if job.stage is Stage.PARSING and (pictures := job.resources.get("peak_pictures", 0)):
        part = job.done / pictures
        costs[Stage.PARSING] = in_stage_s / part if part >= _KNOWN_FROM else max(in_stage_s, pictures * _PICTURE_S)
        return _divided(costs, {**dict.fromkeys(costs, 0.0), Stage.PARSING: part})
    at = _STAGES.index(job.stage)
    done = {stage: 1.0 if _STAGES.index(stage) < at else 0.0 for stage in costs}
    total = chunks if job.stage is Stage.CHUNKING else job.total
    part = min(job.done / total, 1.0) if total > 0 else 0.0
    if is_aside := job.stage is Stage.PARSING and "peak_aside_s" in job.resources:
        # It takes longer than its size tells: as long again, where nobody counts how far it is.
        costs[job.stage] = max(costs[job.stage], 2 * in_stage_s)
    if _is_small(job) and job.stage is not Stage.EMBEDDING and not is_aside:
        # Small files are worked on together: the time that the stage has taken so far is not that of one of them.
        costs[job.stage] = max(costs[job.stage], in_stage_s - _TOGETHER_S)
        part = _by_time(in_stage_s, _TOGETHER_S)
    elif job.stage is not Stage.EMBEDDING:
        if part >= _KNOWN_FROM:
            costs[job.stage] = in_stage_s / part
        elif in_stage_s > 0 and costs[job.stage] > 0:
            part = max(part, _by_time(in_stage_s, costs[job.stage]))
            costs[job.stage] = max(costs[job.stage], in_stage_s / part)
    done[job.stage] = min(part, _MOST_SHARE) if job.stage is Stage.CHUNKING else part
    return _divided(costs, done)


def is_prepared(job: Job) -> bool:
    """Tell whether a document is being read now, which takes processors from the embedding lane."""
    return job.kind == JobKind.INGEST and job.state is JobState.RUNNING and job.stage in _BEFORE


def stage_begun(job: Job) -> datetime | None:
    """Return when the present stage of a first attempt began, as far as the ledger tells; None for other attempts."""
    if job.attempts != 1 or job.started_at is None:
        return None
    return job.started_at + timedelta(seconds=sum(job.stage_seconds.values()))


# ---- the parts of a cost


def _chunks(job: Job, pace: Pace) -> float:
    expected = job.size_bytes * pace.chunks.get(ending_of(job), pace.chunks[""])
    counted = job.stage_counts.get(Stage.CHUNKING, 0)
    if job.stage is Stage.CHUNKING and job.state is JobState.RUNNING:
        # More than was expected is to come, nobody knows how much.
        return max(expected, counted * 1.1, 1.0)
    return max(float(counted or expected), 1.0)


def _tokens_of_chunk(job: Job, pace: Pace, chunks: float) -> float:
    counted = job.stage_counts.get(Stage.CHUNKING, 0)
    if counted and "tokens" in job.resources:
        return job.resources["tokens"] / counted
    return job.size_bytes * pace.tokens.get(ending_of(job), pace.tokens[""]) / chunks


def _prepared_for(job: Job, pace: Pace, chunks: float) -> dict[Stage, float]:
    """Return the cost of all stages but embedding."""
    ending = ending_of(job)
    if _is_small(job):
        costs = dict.fromkeys(_STAGES, 0.0)
        costs[Stage.PARSING] = pace.small.get(ending, pace.small[""])
        costs[Stage.INDEXING] = pace.small_publishing
        return costs
    costs = {stage: chunks * pace.seconds[stage] for stage in _STAGES}
    costs[Stage.PARSING] = job.size_bytes * pace.parsing.get(ending, pace.seconds[Stage.PARSING])
    return costs


def _is_small(job: Job) -> bool:
    return job.size_bytes <= _SMALL_BYTES


def _by_time(passed_s: float, expected_s: float) -> float:
    """Return how far a stage is that counts nothing: evenly at first, then ever slower."""
    even = 0.8 * expected_s
    return passed_s / expected_s if passed_s <= even else 1.0 - 0.2 * even / passed_s


def _divided(costs: Mapping[Stage, float], done: Mapping[Stage, float]) -> JobCost:
    left = {stage: cost * (1.0 - done[stage]) for stage, cost in costs.items()}
    before = sum(left[stage] for stage in _BEFORE)
    spent = sum(costs.values()) - sum(left.values())
    return JobCost(spent, before, left[Stage.EMBEDDING], left[Stage.INDEXING])


def _counted(job: Job, in_stage_s: float) -> JobCost:
    """Return the work of a job that only counts: what is left goes on as fast as what is done."""
    if job.total <= 0 or job.done <= 0 or in_stage_s <= 0:
        return JobCost()
    part = min(job.done / job.total, 1.0)
    return JobCost(in_stage_s, in_stage_s * (1.0 - part) / part)


def _note(
    found: dict[tuple[str, str], list[tuple[float, float]]],
    name: str,
    endings: Iterable[str],
    value: float,
    weight: float,
) -> None:
    for ending in endings:
        found.setdefault((name, ending), []).append((value, weight))
