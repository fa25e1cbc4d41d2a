"""A process that writes documents into a catalogue on PostgreSQL as a worker does, until nothing is left to do.

``python -m tests.servers.beside_process URL SEED``: it says ``writing`` on its output once it has its first jobs, and
tells no store of anything. Parts of its text are those of all documents, so that all of them embed the same contents.
"""

from __future__ import annotations

import random
import sys
import time
from secrets import token_hex

import numpy as np

from core.catalog import Catalog, Decision
from core.catalog.documents.chunks import CutVersion
from core.catalog.documents.publications import Finishing
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.leases import Lease
from core.catalog.jobs.ledger import Attempt, Step
from core.errors import Cancelled
from core.model import Chunk, JobFilter, JobState, Stage
from core.ports import Vector

MODEL = "hash-384"
LEASE_S = 2.0
_ACTIVE = JobFilter(states=(JobState.QUEUED, JobState.RUNNING))
_SHARED = 12


def chunks_of(doc_id: int, version_id: int) -> list[Chunk]:
    """Return what a version consists of: what all documents have, what its document keeps, and what is its own."""
    texts = [f"What every manual says in part {number}." for number in range(_SHARED)]
    texts += [f"What document {doc_id} keeps saying in part {number}." for number in range(6)]
    texts += [f"What version {version_id} alone says in part {number}." for number in range(6)]
    return [Chunk(at, text, at * 100, at * 100 + len(text), token_count=10) for at, text in enumerate(texts)]


def vectors(count: int) -> Vector:
    return np.full((count, 384), 1 / np.sqrt(384), dtype=np.float32)


class Writer:
    def __init__(self, catalog: Catalog, seed: int) -> None:
        self._catalog = catalog
        self._chance = random.Random(seed)
        self._lease = Lease(token_hex(8), LEASE_S)

    def work(self) -> None:
        jobs = self._catalog.jobs
        while any(jobs.counts(_ACTIVE).values()):
            jobs.requeue_lost(LEASE_S)
            taken = jobs.take(Choice(self._chance.randint(1, 6), 10**9), self._lease)
            print("writing", flush=True)
            owners = jobs.owners([job.id for job in taken])
            versions = [(*owners[job.id], Attempt(job.id, job.attempts)) for job in taken]
            kept = self._cut(versions) if len(versions) > 1 else set()
            for doc_id, version_id, attempt in versions:
                try:
                    self._write(doc_id, version_id, attempt, is_cut=version_id in kept)
                except Cancelled:
                    continue
            if not taken:
                time.sleep(0.1)

    def _cut(self, versions: list[tuple[int, int, Attempt]]) -> set[int]:
        return self._catalog.chunks.cut(
            [CutVersion(version, doc, "Manual", chunks_of(doc, version), attempt) for doc, version, attempt in versions]
        )

    def _write(self, doc_id: int, version_id: int, attempt: Attempt, *, is_cut: bool) -> None:
        catalog, chunks = self._catalog, chunks_of(doc_id, version_id)
        self._advance(attempt, Stage.CHUNKING)
        if not is_cut and catalog.indexing.of(version_id).state == "stored":
            catalog.chunks.begin(version_id, attempt)
            for at in range(0, len(chunks), 8):
                catalog.chunks.add(version_id, doc_id, "Manual", chunks[at : at + 8], attempt)
            catalog.chunks.finish(version_id, doc_id, attempt)
        showing = catalog.publications.prepare(doc_id, version_id)
        catalog.indexing.keywords_ready([version_id])
        self._advance(attempt, Stage.EMBEDDING)
        while missing := catalog.embeddings.missing(version_id, MODEL, -1, 8):
            catalog.embeddings.add(MODEL, [each.digest for each in missing], vectors(len(missing)))
            self._advance(attempt, Stage.EMBEDDING)
        finishing = Finishing(Step(attempt, Stage.PUBLISHED), version_id)
        while not catalog.publications.finish_settled(finishing):
            decision = Decision(doc_id, version_id, "publish")
            if catalog.publications.commit(decision, expected=showing, finishing=finishing) is not None:
                return
            showing = catalog.publications.prepare(doc_id, version_id)

    def _advance(self, attempt: Attempt, stage: Stage) -> None:
        if not self._catalog.jobs.advance([Step(attempt, stage)]):
            raise Cancelled("The job was cancelled.")


if __name__ == "__main__":
    opened = Catalog(sys.argv[1])
    Writer(opened, int(sys.argv[2])).work()
    opened.close()
