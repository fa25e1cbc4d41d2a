"""How long documents take that wait for one another: their costs, followed through the lanes that they share."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from core.catalog.jobs.job_scheduler import LARGE_BYTES, Rotation
from core.jobs.pace import JobCost
from core.model import Job, JobKind, JobState

_FOLLOWED_S = 1.5
_DETAILED = 200
"""Jobs that are followed one by one through their lanes; of more, neighbours count as one."""


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """One unfinished job on its way through the lanes."""

    id: str
    user: str
    priority: int
    is_large: bool
    is_running: bool
    work: JobCost
    is_aside: bool = False
    """It is, or has been, in the lane of files that take their parser long."""


def ends(tasks: Sequence[QueuedWork], workers: int, beside: float = 1.0) -> dict[str, float]:
    """Return in how many seconds each task ends, in the order of the queue; small files have workers.

    ``beside`` is the part of the processors that embedding has while documents are prepared.
    """
    step = max(1, math.ceil(len(tasks) / _DETAILED))
    groups = [tasks[at : at + step] for at in range(0, len(tasks), step)]
    merged = [_merged(group) for group in groups]
    ready = _prepared(merged, max(workers, 1))
    embedded = _embedded(merged, ready, beside)
    return {
        task.id: end + whole.work.publishing
        for group, whole, end in zip(groups, merged, embedded, strict=True)
        for task in group
    }


def smoothed(shown: float, shown_s_ago: float, found: float) -> float:
    """Return the time left to show after ``shown`` was, so that a new estimate is followed within a few seconds."""
    expected = max(shown - shown_s_ago, 0.0)
    return expected + (found - expected) * (1.0 - math.exp(-shown_s_ago / _FOLLOWED_S))


def advanced(shown: float, former: float, found: float) -> float:
    """Return the share to show after ``shown`` was, when the estimate ``former`` has become ``found``.

    A bar that was shown too far does not go back: what was left of it passes as what is left in truth does.
    """
    if found >= shown or former >= 1.0:
        return max(shown, found)
    return shown + (1.0 - shown) * max(found - former, 0.0) / (1.0 - former)


def in_turns(tasks: Iterable[QueuedWork]) -> list[QueuedWork]:
    """Return tasks in the order in which they are taken: running ones, then one of each user by priority and age."""
    running: list[QueuedWork] = []
    waiting: dict[str, list[QueuedWork]] = {}
    for task in tasks:
        (running if task.is_running else waiting.setdefault(task.user, [])).append(task)
    lines = {user: deque(sorted(line, key=lambda task: -task.priority)) for user, line in sorted(waiting.items())}
    rotation, found = Rotation(), running
    while lines:
        user = rotation.next(lines)
        rotation.had_turn(user)
        found.append(lines[user].popleft())
        if not lines[user]:
            del lines[user]
    return found


def task_of(job: Job, work: JobCost) -> QueuedWork:
    is_large = job.size_bytes > LARGE_BYTES or job.kind != JobKind.INGEST
    is_running, is_aside = job.state is JobState.RUNNING, "peak_aside_s" in job.resources
    return QueuedWork(job.id, job.actor, job.priority, is_large, is_running, work, is_aside)


def _merged(tasks: Sequence[QueuedWork]) -> QueuedWork:
    first = tasks[0]
    works = [task.work for task in tasks]
    work = JobCost(
        preparing=sum(work.preparing for work in works),
        embedding=sum(work.embedding for work in works),
        publishing=sum(work.publishing for work in works),
    )
    return replace(first, work=work) if len(tasks) > 1 else first


def _prepared(tasks: Sequence[QueuedWork], workers: int) -> list[float]:
    """Return when each task gets to the embedding lane: small ones with so many workers, others one by one."""
    large = aside = 0.0
    small = [0.0] * workers
    ready = []
    for task in tasks:
        if task.is_aside:
            aside += task.work.preparing
            ready.append(aside)
        elif task.is_large:
            large += task.work.preparing
            ready.append(large)
        else:
            begun = heappop(small)
            heappush(small, begun + task.work.preparing)
            ready.append(begun + task.work.preparing)
    return ready


def _embedded(tasks: Sequence[QueuedWork], ready: Sequence[float], beside: float) -> list[float]:
    """Return when each task leaves the embedding lane, which users share evenly."""
    ends = list(ready)
    left = [task.work.embedding for task in tasks]
    waiting = deque(sorted((at for at in range(len(tasks)) if left[at] > 0), key=ready.__getitem__))
    inside: set[int] = set()
    now = 0.0
    while waiting or inside:
        if not inside:
            now = max(now, ready[waiting[0]])
        while waiting and ready[waiting[0]] <= now:
            inside.add(waiting.popleft())
        pace = beside if waiting else 1.0
        speeds = {at: pace * part for at, part in _speeds(tasks, inside).items()}
        passed = min(left[at] / speed for at, speed in speeds.items())
        if waiting:
            passed = min(passed, ready[waiting[0]] - now)
        now += passed
        for at, speed in speeds.items():
            left[at] -= passed * speed
            if left[at] <= 1e-9:
                inside.discard(at)
                ends[at] = now
    return ends


def _speeds(tasks: Sequence[QueuedWork], inside: Collection[int]) -> dict[int, float]:
    """Return which part of the lane each task has; those of their users' lower priorities have none."""
    foremost: dict[str, int] = {}
    for at in inside:
        user, priority = tasks[at].user, tasks[at].priority
        foremost[user] = max(foremost.get(user, priority), priority)
    active = [at for at in inside if tasks[at].priority == foremost[tasks[at].user]]
    beside = Counter(tasks[at].user for at in active)
    return {at: 1.0 / len(foremost) / beside[tasks[at].user] for at in active}
