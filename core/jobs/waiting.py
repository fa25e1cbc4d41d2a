"""Waiting for jobs: the ledger's changes say when to look, and of many jobs only those are read that have ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.catalog.jobs.listing import ACTIVE
from core.model import Job

if TYPE_CHECKING:
    from core.catalog.jobs.ledger import Jobs

LOOKED_AGAIN_S = 0.5
_POLLED = 100


def wait_for(jobs: Jobs, job_ids: Sequence[str], timeout_s: float | None) -> list[Job]:
    """Return the jobs once all have ended, or as they are when the time is over. Raises: ``NotFound``."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    seen = jobs.newest_change()
    known: dict[str, Job] = {}
    _read(jobs, job_ids, known)
    active = [job_id for job_id in job_ids if known[job_id].state in ACTIVE]
    while active:
        left = LOOKED_AGAIN_S if deadline is None else min(deadline - time.monotonic(), LOOKED_AGAIN_S)
        if left <= 0:
            _read(jobs, active, known)
            break
        seen = jobs.changes.wait(seen, left)
        few = active[:_POLLED]
        # Of many jobs one changes at every moment: their rows are read when they have ended.
        ended = set(few) - jobs.active_among(few)
        if ended:
            _read(jobs, sorted(ended), known)
            active = [job_id for job_id in active if job_id not in ended]
    return [known[job_id] for job_id in job_ids]


def _read(jobs: Jobs, job_ids: Sequence[str], known: dict[str, Job]) -> None:
    """Read jobs as they are. Raises: ``NotFound``."""
    for at in range(0, len(job_ids), _POLLED):
        few = job_ids[at : at + _POLLED]
        known |= {job.id: job for job in jobs.recent(ids=few, limit=len(few))}
        for job_id in few:
            if job_id not in known:
                known[job_id] = jobs.get(job_id)
