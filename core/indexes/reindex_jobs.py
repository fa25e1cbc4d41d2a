"""The job that builds the keyword index anew with another vocabulary, a slice of its rows at a time.

Until its end questions go by the former vocabulary, which finds the rows of both: a vocabulary only adds terms. What is
indexed meanwhile is written with the new one. A job that ends early has the rows written back.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from core.catalog.jobs.ledger import Attempt, Step
from core.catalog.jobs.stage_run import StageResult, StageRun, run_stage
from core.catalog.outbox import KEYWORD
from core.errors import Cancelled, EvoRAGError
from core.indexes.active_vocabulary import words_of
from core.model import Job, JobState, Stage
from core.platform.failpoints import failpoint
from core.platform.retrying import Stopped

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.indexes.active_vocabulary import ActiveVocabulary
    from core.indexes.projector import Projector

SLICE = 4_000
"""Rows between which others may write, and after which the job can stop."""


class ReindexJobs:
    """Runs jobs of kind ``reindex``; one that was interrupted goes on behind its last slice."""

    work = ""

    def __init__(self, catalog: Catalog, projector: Projector, active: ActiveVocabulary) -> None:
        self._catalog = catalog
        self._projector = projector
        self._active = active

    def tidy(self) -> None:
        """Have rows written back that a job has left which will not go on."""
        with self._active.lock:
            begun = self._catalog.vocabulary.begun()
            if begun is None or self._active.is_active(begun[0]):
                return
            indexed = words_of(self._catalog.vocabulary.indexed())
            self._active.use(indexed, indexed)
            self._catalog.outbox.add_everything(KEYWORD)
            self._catalog.vocabulary.give_up(begun[0])
        self._projector.flush_soon()

    def run(self, job: Job, stop: threading.Event) -> None:
        """Work on a job until it has ended, or until ``stop`` is set: then it stays for the next start.

        Whoever ends a job after another error calls ``tidy``.
        """
        if run_stage(self._reindex, StageRun(self._catalog.jobs, job, stop), self):
            failpoint("vocabulary.used")

    def _reindex(self, run: StageRun) -> StageResult:
        self._write_rows(run)
        with self._active.lock:
            done = words_of(self._catalog.vocabulary.finish(run.attempt))
            self._active.use(done, done)
        return StageResult()

    def cancelled(self, run: StageRun) -> None:
        number = run.attempt.number
        self._catalog.jobs.end(run.job.id, JobState.CANCELLED, version_state="cancelled", attempt=number)
        self.tidy()

    def failed(self, run: StageRun, error: EvoRAGError) -> None:
        told, number = error.as_dict(), run.attempt.number
        self._catalog.jobs.end(run.job.id, JobState.FAILED, error=told, version_state="failed", attempt=number)
        self.tidy()

    def _write_rows(self, run: StageRun) -> None:
        """Write every row with the vocabulary that people wrote. Raises: ``Stopped``, ``Cancelled``."""
        job, attempt = run.job, run.attempt
        with self._active.lock:
            # Where a job has begun before, some rows may be written as neither of the two vocabularies says.
            is_first = self._catalog.vocabulary.begun() is None
            indexed, wanted = self._catalog.vocabulary.indexed(), self._catalog.vocabulary.begin(attempt)
            if is_first and [word for word, _ in indexed.words] == [word for word, _ in wanted.words]:
                return
            self._active.use(words_of(wanted), words_of(indexed))
        place = self._catalog.jobs.payload(job.id)
        after, done = place.get("after", -1), place.get("done", 0)
        started = time.monotonic() - job.stage_seconds.get(Stage.KEYWORDS, 0.0)
        while True:
            self._tell(attempt, done, started)
            if run.is_stopped:
                raise Stopped
            added = self._catalog.outbox.add_some(KEYWORD, after, SLICE)
            if added is None:
                self._tell(attempt, done, started, finished=Stage.KEYWORDS)
                return
            failpoint("vocabulary.slice.asked")
            self._projector.flush_keywords()
            after, done = added[0], done + added[1]
            self._catalog.jobs.set_payload(attempt, {"after": after, "done": done})
            failpoint("vocabulary.slice.written")

    def _tell(self, attempt: Attempt, done: int, started: float, finished: Stage | None = None) -> None:
        total = max(done, self._catalog.chunk_rows())
        seconds = {Stage.KEYWORDS.value: round(time.monotonic() - started, 4)}
        step = Step(attempt, Stage.KEYWORDS, done, total, seconds, {Stage.KEYWORDS.value: done}, finished=finished)
        if not self._catalog.jobs.advance([step]):
            raise Cancelled("The job was cancelled.")
