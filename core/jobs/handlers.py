"""Who carries out which kind of job, and what follows once jobs have been worked on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.model import Job

Handler = Callable[[Job, threading.Event], None]
"""Works on one job until it has ended, or until the event is set: then it stays for the next start."""


def _tidy_nothing() -> None:
    """Without handlers there is nothing to tidy."""


def _ignore(jobs: Sequence[Job]) -> None:
    """Nobody asked what was worked on."""


@dataclass(frozen=True, slots=True)
class JobHandlers:
    """The table of the job queue; jobs of other kinds are documents, which the ingest pipeline takes."""

    by_kind: Mapping[str, Handler] = field(default_factory=dict)
    """By ``JobKind``."""
    tidy: Callable[[], None] = _tidy_nothing
    """Clears up after ``reindex`` jobs that will not go on; called whenever such a job may have ended so."""
    after_job: Callable[[Sequence[Job]], None] = _ignore
    """Called with jobs whenever they have been worked on."""
