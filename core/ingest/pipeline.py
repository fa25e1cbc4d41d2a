"""The stages of a document, in order; each is durable before the next one begins, and what is done already is skipped.

| stage      | module            | documents        | run by                                    |
| ---------- | ----------------- | ---------------- | ----------------------------------------- |
| parse      | parse_and_chunk   | several together | ``prepare``                               |
| parse on   | slow_lane         | one, at leisure  | ``parse_slow``                            |
| recognise  | recognition/queue | all in turns     | ``recognise``, a picture at a time        |
| chunk      | parse_and_chunk   | several together | ``prepare``                               |
| keywords   | index_by_keyword  | several together | ``prepare``                               |
| show early | publish           | several together | ``prepare``                               |
| embed      | embed             | all in turns     | ``embed``, a round at a time              |
| publish    | publish           | several together | ``publish``; a long one alone             |

What is together shares transactions: a document costs a fraction of a statement of each stage, and not several commits.
``core.jobs.local_queue`` has threads for each: of small files, of large ones, and of embedding. A document that fails
drops out alone, with its error on its job.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.blobs.pinned import PinnedBlobs
from core.catalog.jobs.stage_run import StageRun, run_together
from core.indexes.active import ActiveIndex
from core.indexes.projector import Projector
from core.ingest.embed import EmbeddingQueue
from core.ingest.failures import Failures
from core.ingest.index_by_keyword import KeywordIndexing, Placed, Placing
from core.ingest.parse_and_chunk import Lanes, ParseAndChunk
from core.ingest.publish import Publisher
from core.ingest.recognition.queue import RecognitionQueue, Waiting
from core.ingest.slow_lane import has_stepped_aside
from core.model import Job
from core.ports import Parser

if TYPE_CHECKING:
    from core.catalog import Catalog


class IngestPipeline:
    """Takes jobs from their last finished stage to publication."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: PinnedBlobs,
        parser: Parser,
        active: ActiveIndex,
        projector: Projector,
        lanes: Lanes,
        scratch: Path,
        chunk_tokens: int,
    ) -> None:
        self._catalog = catalog
        self.slow = lanes.slow
        self._failures = Failures(catalog, blobs.unclaimed, projector)
        placing = Placing(catalog, projector)
        self.pictures = RecognitionQueue(catalog, blobs, lanes.recognition, self._failures)
        self._parse_and_chunk = ParseAndChunk(
            catalog, blobs, parser, scratch, chunk_tokens, self._failures, self.pictures, lanes.slow
        )
        self._keywords = KeywordIndexing(catalog, projector, placing, self._failures)
        self.queue = EmbeddingQueue(catalog, active, projector, self._failures)
        self._publisher = Publisher(catalog, projector, placing, self._failures)
        self._long: deque[StageRun] = deque()

    def prepare(self, jobs: Sequence[Job], stop: threading.Event) -> list[Job]:
        """Run the stages before embedding; what goes on waits for its turns of that. Return the other jobs.

        Once ``stop`` is set, jobs stay where they are for the next start.
        """
        owners = self._catalog.jobs.owners([job.id for job in jobs])
        runs = [StageRun(self._catalog.jobs, job, stop, owners[job.id]) for job in jobs]
        for run in runs:
            run.together = len(runs)
        going = self._prepare(runs)
        return [job for job in jobs if job.id not in going]

    def _prepare(self, runs: Sequence[StageRun]) -> set[str]:
        """Return the ids of the jobs that go on: in the lanes of embedding and of pictures, and in the slow one."""
        fresh = [run for run in runs if not has_stepped_aside(run)]
        parsed = run_together(self._parse_and_chunk.parse, runs)
        aside = {run.job.id for run in fresh if has_stepped_aside(run)}
        runs = run_together(self.pictures.take_out, parsed)
        pictured = {run.job.id for run in parsed} - {run.job.id for run in runs}
        runs = run_together(self._parse_and_chunk.chunk, runs)
        runs = run_together(self._keywords.index, runs)
        runs = run_together(self._publisher.show_early, runs)
        runs = run_together(self.queue.add, runs)
        return aside | pictured | {run.job.id for run in runs}

    def parse_slow(self, run: StageRun) -> list[Job]:
        """Prepare a document that has the slow lane; return its job if that has ended."""
        try:
            return [] if self._prepare([run]) else [run.job]
        finally:
            self.slow.release(run)

    def recognise(self, waiting: Waiting) -> list[Job]:
        """Recognise one picture of a document, and prepare it after its last one; return its job if that has ended."""
        run = waiting.run
        is_complete = self.pictures.turn(waiting)
        if is_complete is False:
            return []
        if is_complete:
            run.together = 1
            if self._prepare([run]):
                return []
        return [run.job]

    @property
    def has_texts(self) -> bool:
        """Tell whether documents wait for their turns of embedding."""
        return not self.queue.is_empty()

    def embed(self) -> list[StageRun]:
        """Embed one round; return the documents to publish now. Those that take long wait for ``next_long``."""
        complete = self.queue.step()
        soon = [run for run in complete if not self._is_long(run)]
        self._long.extend(run for run in complete if run not in soon)
        return soon

    def publish(self, runs: Sequence[StageRun]) -> None:
        """Publish versions that lack nothing any more, or keep them as drafts, and end their jobs."""
        run_together(self._publisher.publish, runs)

    @property
    def has_long(self) -> bool:
        """Tell whether a document waits whose publication takes so long that others should not wait for it."""
        return bool(self._long)

    def next_long(self) -> StageRun:
        return self._long.popleft()

    def close(self) -> None:
        """Let nothing be waited for that takes long; whoever has set ``stop`` before goes on with the rest later."""
        self._parse_and_chunk.close()
        self.slow.close()
        self.pictures.close()

    def discard(self, version_id: int) -> None:
        """Take a failed or cancelled version out of both indexes, except for what other versions share with it."""
        self._failures.discard(version_id)

    def _is_long(self, run: StageRun) -> bool:
        placed = run.result(Placed)
        if placed is None or not placed.takes_steps:
            return False
        return self._catalog.indexing.of(run.version_id).state == "stored"
