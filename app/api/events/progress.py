"""What there is to tell somebody who follows jobs: each change of one, or of all that they see, and its end.

While a job runs it is told again every second, as its share and its time left move without a change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from app.components.shared.states import error_words
from core.errors import EvoRAGError
from core.model import Job, JobFilter, JobState, to_dict

if TYPE_CHECKING:
    from core import KnowledgeBase

HEARTBEAT_S = 15.0
"""Time after which a client that hears nothing else hears that the line is still there."""
MOVING_S = 1.0
"""Time after which jobs that run are told again."""
MOST_AGAIN = 50
LONGEST_S = 900.0
"""Then the client connects again, and shows anew who it is."""
ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
MOST_AT_ONCE = 500


Moved = tuple[float, float | None]
_NOTHING: Moved = (-1.0, None)
_RUNNING = JobFilter(states=(JobState.RUNNING,))


class Event(NamedTuple):
    """One thing to tell: ``id`` is what a client names when it comes back (``Last-Event-ID``)."""

    id: int | None
    name: str
    data: Any


class JobFollower:
    """Tells what becomes of one job since the change ``seen``, as whoever acts sees it."""

    def __init__(self, kb: KnowledgeBase, job_id: str, seen: int = -1) -> None:
        self._kb = kb
        self.job_id = job_id
        self.seen = seen
        self.has_ended = False
        self.is_moving = True
        """Whether there may be news without a change."""
        self._told = _NOTHING

    def news(self) -> list[Event]:
        """Return what is new; the last event is ``end``. Raises: ``NotFound``."""
        job = self._kb.job(self.job_id)
        is_new = job.change > self.seen or (job.state is JobState.RUNNING and moved(job) != self._told)
        found = [Event(job.change, "job", shown(job))] if is_new else []
        self.seen, self._told = max(self.seen, job.change), moved(job)
        self.is_moving = job.state is JobState.RUNNING
        if job.state in ENDED:
            self.has_ended = True
            found.append(Event(job.change, "end", {"id": job.id, "state": job.state.value}))
        return found


class AllFollower:
    """Tells the changes of every job that whoever acts sees; where there are too many, to read the list again."""

    has_ended = False

    def __init__(self, kb: KnowledgeBase, seen: int | None = None) -> None:
        self._kb = kb
        self.seen = kb.jobs_changed(0, 0.0) if seen is None else seen
        self.is_moving = True
        self._told: dict[str, Moved] = {}

    def news(self) -> list[Event]:
        """Return what is new, oldest change first, and the jobs that run where these have moved."""
        newest = self._kb.jobs_changed(self.seen, 0.0)
        jobs = self._kb.jobs(changed_since=self.seen, limit=MOST_AT_ONCE + 1) if newest > self.seen else []
        if len(jobs) > MOST_AT_ONCE:
            self.seen = newest
            return [Event(newest, "reload", {"change": newest})]
        self.seen = max([newest, *(job.change for job in jobs)])
        changed = {job.id for job in jobs}
        running = self._kb.jobs(_RUNNING, limit=MOST_AGAIN)
        again = [job for job in running if job.id not in changed and moved(job) != self._told.get(job.id)]
        self._told = {job.id: moved(job) for job in running}
        self.is_moving = bool(running)
        return [Event(self.seen, "job", shown(job)) for job in again] + [
            Event(job.change, "job", shown(job)) for job in sorted(jobs, key=lambda job: job.change)
        ]


Follower = JobFollower | AllFollower


def new_events(follower: Follower) -> list[Event]:
    """Return what is new; an error is the last thing that is told."""
    try:
        return follower.news()
    except EvoRAGError as error:
        follower.has_ended = True
        return [Event(None, "error", {**error_words(error), "status": error.status})]


def follow(kb: KnowledgeBase, follower: Follower) -> Iterator[bytes]:
    """Yield server-sent events until the job has ended; holds the thread that asks."""
    yield written(new_events(follower))
    while not follower.has_ended:
        kb.jobs_changed(follower.seen, MOVING_S if follower.is_moving else HEARTBEAT_S)
        yield written(new_events(follower)) or HEARTBEAT


def written(events: list[Event]) -> bytes:
    """Return events in the form of ``text/event-stream``."""
    return b"".join(
        (f"id: {event.id}\n" if event.id is not None else "").encode()
        + f"event: {event.name}\ndata: {json.dumps(event.data, ensure_ascii=False)}\n\n".encode()
        for event in events
    )


HEARTBEAT = b": \n\n"


def shown(job: Job) -> dict[str, Any]:
    """Return a job as data, with its ``progress`` from 0 to 1, and its error in the language of the request."""
    found: dict[str, Any] = {**to_dict(job), "progress": share_of(job)}
    if job.error:
        found["error"] = error_words(job.error)
    return found


def share_of(job: Job) -> float:
    """Return how much of a job is done, from 0 to 1; 1 only for one that is done."""
    return 1.0 if job.state is JobState.DONE else min(job.share, 0.99)


def moved(job: Job) -> Moved:
    """Return what moves of a job that runs, as exactly as anybody sees it."""
    left = job.seconds_left
    return round(job.share, 3), None if left is None else round(left)
