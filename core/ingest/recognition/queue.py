"""The lane of pictures: documents that wait for their pages to be recognised have turns of one picture each.

It is the last of all lanes: a scan of three hundred pages keeps nobody waiting but those with scans of their own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.blobs.pinned import PinnedBlobs
from core.catalog.jobs.stage_run import JobEndings, StageResult, StageRun, run_stage, write_all
from core.ingest.fair_queue import FairQueue
from core.ingest.recognition.kept_pictures import Recognition
from core.model import Stage
from core.platform.failpoints import failpoint

if TYPE_CHECKING:
    from core.catalog import Catalog


MOST_SECONDS = 900.0
"""That pictures within one document may take; pages that are pictures have no such limit."""


@dataclass(frozen=True, slots=True)
class Pictures(StageResult):
    """The pictures of a version whose text its parser needs; none once they have been recognised."""

    names: tuple[str, ...] = ()
    sha256: str = ""
    """Of the original; the catalogue tells it no more once the version is purged."""
    embedded: bool = False
    """They stand within a document that has text besides."""
    spent_s: float = 0.0


@dataclass(slots=True)
class Waiting:
    """A document in the lane, and the priority that its turns have."""

    run: StageRun
    priority: int


class RecognitionQueue:
    """Documents with pictures that have yet to be recognised."""

    def __init__(self, catalog: Catalog, blobs: PinnedBlobs, recognition: Recognition, endings: JobEndings) -> None:
        self._catalog = catalog
        self._blobs = blobs.store
        self.recognition = recognition
        self._endings = endings
        self._queue: FairQueue[Waiting] = FairQueue()

    def take_out(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Let those wait here that have pictures; return the others."""
        waiting = [run for run in runs if waits_for_pictures(run)]
        for run in waiting:
            run.begin(Stage.PARSING, len(_names(run)))
            run.spend({"peak_pictures": len(_names(run))})
            run.note("recognising", count=len(_names(run)))
        entered = write_all(self._catalog.jobs, waiting, self._endings.cancelled) if waiting else []
        for run in waiting:
            if run not in entered:
                self.forget(run)
        for run in entered:
            self._put(Waiting(run, run.job.priority))
        return [run for run in runs if run not in waiting]

    @property
    def is_idle(self) -> bool:
        """Tell whether no document waits here."""
        return self._queue.is_empty()

    def next(self) -> Waiting | None:
        """Return the document that has the next turn."""
        return self._queue.next()

    def turn(self, waiting: Waiting) -> bool | None:
        """Recognise one picture of a document; tell whether that was the last one, None where the job has ended."""
        run = waiting.run
        goes_on = run_stage(self._recognise, run, self._endings)
        if self._queue.is_empty() and not (goes_on and waits_for_pictures(run)):
            self.recognition.rest()
        if not goes_on:
            if not run.is_stopped:
                self.forget(run)
            return None
        if run.is_stopped:
            return None
        if waits_for_pictures(run):
            self._put(waiting)
            return False
        run.rest()
        return True

    def forget(self, run: StageRun) -> None:
        """Remove what was recognised of a document that was read, or will not be."""
        if (pictures := run.result(Pictures)) is not None:
            self.recognition.forget(pictures.sha256)

    def drop(self, job_id: str) -> bool:
        """Take a document out of the lane whose job has ended; tell whether it waited there."""
        waiting = self._queue.remove(lambda each: each.run.job.id == job_id and not each.run.is_running)
        if waiting is not None:
            self.forget(waiting.run)
        return waiting is not None

    def prioritise(self, job_id: str, priority: int) -> None:
        """Have a document's turns come earlier or later than those of its user's others."""
        waiting = self._queue.remove(lambda each: each.run.job.id == job_id)
        if waiting is not None:
            waiting.priority = priority
            self._put(waiting)

    def _put(self, waiting: Waiting) -> None:
        self._queue.put(waiting.run.job.actor, waiting.priority, waiting)

    def tidy(self) -> None:
        """Remove what was recognised of documents that nobody works on any more."""
        self.recognition.keep_only(self._catalog.indexing.being_read())

    def close(self) -> None:
        """End the recognition of the picture that is being read; the next start goes on with it."""
        self.recognition.close()

    def _recognise(self, run: StageRun) -> StageResult:
        run.check()
        version = self._catalog.indexing.stored([run.version_id])[run.version_id]
        source = run.wait_for_store(lambda: self._blobs.path(version.sha256))
        waiting = run.result(Pictures)
        if waiting is None or not self.recognition.is_there(version.sha256, waiting.names[0]):
            # Its parser brings it back, and asks again.
            return Pictures(None, {}, (), version.sha256)
        name, *left = waiting.names
        began = time.monotonic()
        failpoint("ingest.picture.begun")
        if waiting.embedded and waiting.spent_s > MOST_SECONDS:
            self.recognition.leave(version.sha256, name)
        else:
            self.recognition.recognise(version.sha256, source, version.extension, name)
        failpoint("ingest.picture.kept")
        run.advance(run.total - len(left), run.total)
        took = time.monotonic() - began
        spent = waiting.spent_s + took
        return Pictures(None, {"recognition_s": took}, tuple(left), version.sha256, waiting.embedded, spent)


def waits_for_pictures(run: StageRun) -> bool:
    """Tell whether a document lacks the text of some of its pictures."""
    return bool(_names(run))


def _names(run: StageRun) -> tuple[str, ...]:
    found = run.result(Pictures)
    return () if found is None else found.names
