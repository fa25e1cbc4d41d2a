"""The time that jobs take, told to whoever reads them: costs from finished jobs, speeds from what is read meanwhile.

Any process that reads the ledger can tell; what it has shown before keeps a bar from going backwards.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core.access import PROCESS, acting
from core.jobs.pace import (
    DEFAULT_PACE,
    Embedding,
    JobCost,
    Recent,
    embedding_of,
    is_prepared,
    pace_of,
    stage_begun,
    work_of,
)
from core.jobs.time_left import advanced, ends, in_turns, smoothed, task_of
from core.model import Job, JobFilter, JobKind, JobState, Stage
from core.platform.processors import usable_processors

if TYPE_CHECKING:
    from core.catalog import Catalog

_LEARNT = JobFilter(states=(JobState.DONE,), kinds=(JobKind.INGEST,))
_LEARNT_FROM = 50
_LEARN_EVERY_S = 5.0
_FRESH_S = 0.25
_READ_FOR_S = 10
"""The estimate is used so many times as long as making it took."""
_MOST_ACTIVE = 5_000
_MOST_ENDED = 1_000
_REMEMBERED = 20_000
_MOST_SHARE = 0.99
BESIDE = max(0.5, 1.0 - 1.0 / usable_processors())
"""Part of the processors that embedding has while documents are read: its threads give way to those."""


@dataclass(slots=True)
class _Shown:
    """What was said last of one attempt at a job, and since when its stage is known to be the present one."""

    attempts: int
    stage: Stage
    since: float
    share: float = 0.0
    estimated: float = 0.0
    left: float | None = None
    left_at: float = 0.0
    embedded: Embedding = field(default_factory=Embedding)


@dataclass(slots=True)
class _Outlook:
    """When the active jobs end, counted from ``at``."""

    at: float = -math.inf
    until: float = -math.inf
    ends: dict[str, float] = field(default_factory=dict)


class Estimates:
    """Adds to jobs how much of them is done and how long they will take."""

    def __init__(self, catalog: Catalog, workers: int, clock: Callable[[], float] = time.time) -> None:
        self._catalog = catalog
        self._workers = workers
        self._clock = clock
        self._lock = threading.Lock()
        self._pace, self._learnt_at = DEFAULT_PACE, -math.inf
        self._embedding: Recent | None = None
        self._seen = 0
        self._shown: OrderedDict[str, _Shown] = OrderedDict()
        self._outlook = _Outlook()

    def told(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs with their ``share`` and ``seconds_left``."""
        if all(_has_ended(job) for job in jobs):
            return [_ended(job) for job in jobs]
        with self._lock:
            self._look_ahead()
            return [_ended(job) if _has_ended(job) else self._active(job) for job in jobs]

    def _active(self, job: Job) -> Job:
        now = self._clock()
        shown = self._known(job, now)
        work = self._work(job, shown, now)
        shown.share = min(advanced(shown.share, shown.estimated, work.share), _MOST_SHARE)
        shown.estimated, share = work.share, round(shown.share, 4)
        end = self._outlook.ends.get(job.id)
        if end is None and shown.left is None:
            return replace(job, share=share, seconds_left=None)
        # A job that was foreseen once and is not any more has ended since it was read.
        left = max((end or 0.0) - (now - self._outlook.at), 0.0)
        shown.left = left if shown.left is None else smoothed(shown.left, now - shown.left_at, left)
        shown.left_at = now
        return replace(job, share=share, seconds_left=round(shown.left, 1))

    # ---- what is known

    def _known(self, job: Job, now: float) -> _Shown:
        shown = self._shown.get(job.id)
        if shown is None or shown.attempts != job.attempts:
            share = shown.share if shown is not None and job.attempts > shown.attempts > 0 else 0.0
            shown = self._shown[job.id] = _Shown(job.attempts, job.stage, now, share)
        elif shown.stage is not job.stage:
            shown.stage, shown.since = job.stage, now
        self._shown.move_to_end(job.id)
        while len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        return shown

    def _work(self, job: Job, shown: _Shown, now: float) -> JobCost:
        begun = stage_begun(job) if job.kind == JobKind.INGEST else job.started_at
        since = shown.since if begun is None else begun.timestamp()
        return work_of(job, self._pace, max(now - since, 0.0))

    def _look_ahead(self) -> None:
        """Estimate anew when every active job ends, where the last estimate is not fresh any more."""
        began = self._clock()
        if began < self._outlook.until:
            return
        with acting(PROCESS):
            if began - self._learnt_at >= _LEARN_EVERY_S:
                self._learn(began)
            active = self._catalog.jobs.recent(active=True, limit=_MOST_ACTIVE)
            self._measure([*active, *self._ended_since()])
        works = {job.id: self._work(job, self._known(job, began), began) for job in active}
        # The ledger lists the newest first; the oldest is taken first.
        tasks = in_turns(task_of(job, works[job.id]) for job in reversed(active))
        found = ends([task for task in tasks if _is_known(task.work)], self._workers, BESIDE)
        done = self._clock()
        self._outlook = _Outlook(began, done + max(_FRESH_S, (done - began) * _READ_FOR_S), found)

    def _learn(self, now: float) -> None:
        self._pace = pace_of(self._catalog.jobs.recent(_LEARNT, limit=_LEARNT_FROM))
        self._learnt_at = now
        if self._embedding is None:
            self._embedding = Recent(self._pace.seconds[Stage.EMBEDDING])

    def _ended_since(self) -> list[Job]:
        """Return jobs that have ended since this was asked last; of small ones most end between two looks."""
        seen, self._seen = self._seen, self._catalog.jobs.newest_change()
        return self._catalog.jobs.recent(_LEARNT, changed_since=seen, limit=_MOST_ENDED) if seen else []

    def _measure(self, jobs: Sequence[Job]) -> None:
        """Follow how fast the embedding lane is now, by what it spent on documents since they were read last."""
        assert self._embedding is not None
        spent = Embedding()
        for job in jobs:
            now = embedding_of(job)
            if now.tokens > 0:
                shown = self._known(job, self._clock())
                if now.tokens > shown.embedded.tokens:
                    spent, shown.embedded = spent + (now - shown.embedded), now
        if spent.tokens > 0:
            beside = BESIDE if any(is_prepared(job) for job in jobs) else 1.0
            self._embedding.add(spent.seconds * beside, spent.tokens)
        seconds = {**self._pace.seconds, Stage.EMBEDDING: self._embedding.cost}
        self._pace = replace(self._pace, seconds=seconds)


def _ended(job: Job) -> Job:
    return replace(job, share=1.0, seconds_left=0.0) if job.state is JobState.DONE else job


def _has_ended(job: Job) -> bool:
    return job.state not in (JobState.QUEUED, JobState.RUNNING)


def _is_known(work: JobCost) -> bool:
    """Tell whether anything is known of a job's work; of one that only counts, nothing is until it has begun."""
    return work.left > 0 or work.spent > 0
