"""What there is to tell somebody who follows jobs: each change of one, or of all that they see, and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from app.components.shared.states import error_words
from core.errors import EvoRAGError
from core.model import Job, JobState, to_dict

if TYPE_CHECKING:
    from core import KnowledgeBase

HEARTBEAT_S = 15.0
"""Time after which a client that hears nothing else hears that the line is still there."""
LONGEST_S = 900.0
"""Then the client connects again, and shows anew who it is."""
ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
MOST_AT_ONCE = 500


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

    def news(self) -> list[Event]:
        """Return what is new; the last event is ``end``. Raises: ``NotFound``."""
        job = self._kb.job(self.job_id)
        found = [Event(job.change, "job", shown(job))] if job.change > self.seen else []
        self.seen = max(self.seen, job.change)
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

    def news(self) -> list[Event]:
        """Return what is new, oldest change first."""
        newest = self._kb.jobs_changed(self.seen, 0.0)
        if newest <= self.seen:
            return []
        jobs = self._kb.jobs(changed_since=self.seen, limit=MOST_AT_ONCE + 1)
        if len(jobs) > MOST_AT_ONCE:
            self.seen = newest
            return [Event(newest, "reload", {"change": newest})]
        self.seen = max([newest, *(job.change for job in jobs)])
        return [Event(job.change, "job", shown(job)) for job in sorted(jobs, key=lambda job: job.change)]


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
        kb.jobs_changed(follower.seen, HEARTBEAT_S)
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
