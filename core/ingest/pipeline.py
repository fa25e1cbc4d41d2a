"""The way of a document: parse, chunk, index by keyword, embed, publish; what is done already is skipped.

Several small documents walk together, so that they share commits and batches; a document that fails drops out alone,
with its error on its job.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.blobs.pinned import PinnedBlobs
from core.indexes.active import Serving
from core.indexes.projector import Projector
from core.ingest.embed import EmbeddingLane
from core.ingest.failures import Endings
from core.ingest.job_run import JobProgress
from core.ingest.parse_and_chunk import Preparing
from core.ingest.publish import Publisher
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
        serving: Serving,
        projector: Projector,
        scratch: Path,
        chunk_tokens: int,
    ) -> None:
        self._catalog = catalog
        self._endings = Endings(catalog, blobs.unclaimed, projector)
        self._preparing = Preparing(catalog, blobs.store, blobs.pins, parser, scratch, chunk_tokens)
        self._publisher = Publisher(catalog, projector, self._endings)
        self.lane = EmbeddingLane(catalog, serving, projector, self._endings)

    def prepare(self, jobs: Sequence[Job], stop: threading.Event) -> list[Job]:
        """Parse, chunk and index by keyword; what goes on waits in the lane of embedding. Return the other jobs.

        Once ``stop`` is set, jobs stay where they are for the next start.
        """
        walkers = [JobProgress(self._catalog, job) for job in jobs]
        for stage in (self._preparing.parse, self._preparing.chunk):
            walkers = self._going(partial(stage, stop=stop), walkers, stop)
        if walkers and not stop.is_set():
            walkers = self._publisher.keywords(walkers, stop)
            self.lane.add(walkers)
        going = {walker.job.id for walker in walkers}
        return [job for job in jobs if job.id not in going]

    def _going(
        self, stage: Callable[[JobProgress], None], walkers: Sequence[JobProgress], stop: threading.Event
    ) -> list[JobProgress]:
        return [walker for walker in walkers if not stop.is_set() and self._endings.guarded(stage, walker)]

    def close(self) -> None:
        """Let nothing be waited for that takes long; whoever has set ``stop`` before goes on with the rest later."""
        self._preparing.close()

    def is_long(self, walker: JobProgress) -> bool:
        """Tell whether publishing the version takes so long that others should not wait for it."""
        return self._publisher.is_long(walker)

    def finish(self, walkers: Sequence[JobProgress], stop: threading.Event) -> None:
        """Publish versions that lack nothing any more, or keep them as drafts, and end their jobs."""
        self._publisher.finish(walkers, stop)

    def discard(self, version_id: int) -> None:
        """Take a failed or cancelled version out of both indexes, except for what other versions share with it."""
        self._endings.discard(version_id)
