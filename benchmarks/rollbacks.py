"""How long a rollback takes for documents of very different sizes whose two versions differ in ten chunks.

The chunks are synthetic and short; they are written through the catalogue, the outbox and both real indexes (tantivy,
Milvus Lite behind the exact scan in memory). Timed is ``kb.rollback`` until it returns, which is when questions see
the other version, and until both indexes have followed.
"""

from __future__ import annotations

import random
import secrets
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.corpus import Floats, Vectors, Writer
from benchmarks.latency import TimedEmbedder, knowledge_base
from core import KnowledgeBase
from core.catalog import Decision, NewVersion
from core.indexes.readiness import wait_until_ready
from core.model import Chunk, JobState
from core.ports import Progress

DIFFERING = 10
REPEATS = 6
_WORDS = 30


class CountingEmbedder(TimedEmbedder):
    """The real embedder, which counts the passages that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded = 0

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Floats:
        self.embedded += len(texts)
        return super().embed_passages(texts, progress)


def run(sizes: Sequence[int] = (10, 1_000, 100_000), seed: int = 1) -> dict[str, Any]:
    """Return the times for each size, and what they are of those of the smallest."""
    embedder = CountingEmbedder()
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="evorag-rollback-") as folder, knowledge_base(Path(folder), embedder) as kb:
        wait_until_ready(kb)
        for size in sizes:
            key = f"document-{size}.txt"
            _two_versions(kb, embedder, key, size, size + seed - 1)
            report[f"{size}_chunks"] = _measure(kb, key)
            machine.note(f"rollback of {size:,} chunks: {report[f'{size}_chunks']['median_ms']:.1f} ms")
    smallest, largest = (report[f"{size}_chunks"]["median_ms"] for size in (sizes[0], sizes[-1]))
    return {
        "differing_chunks": DIFFERING,
        **report,
        "largest_to_smallest": largest / smallest,
        "embedded_by_rollback": embedder.embedded,
    }


def _measure(kb: KnowledgeBase, key: str) -> dict[str, float]:
    """Roll back from version 2 to 1 and from 1 to 2 by turns."""
    returned, followed = [], []
    for turn in range(REPEATS):
        started = time.perf_counter()
        kb.rollback(key, 1 + turn % 2)
        returned.append((time.perf_counter() - started) * 1000)
        kb._projector.flush()
        followed.append((time.perf_counter() - started) * 1000)
    return {
        "median_ms": statistics.median(returned),
        "slowest_ms": max(returned),
        "indexes_followed_ms": statistics.median(followed),
    }


def _two_versions(kb: KnowledgeBase, embedder: CountingEmbedder, key: str, size: int, seed: int) -> None:
    writer, chance = Writer("en", seed=seed), random.Random(seed)
    texts = [f"{number}. {writer.passage(_WORDS).text}" for number in range(size)]
    vectors = Vectors(embedder.dimension, seed=seed)
    for number in (1, 2):
        if number == 2:
            for place in chance.sample(range(size), DIFFERING):
                texts[place] = f"Changed: {texts[place]}"
        _add(kb, embedder, key, texts, vectors)


def _add(kb: KnowledgeBase, embedder: CountingEmbedder, key: str, texts: Sequence[str], vectors: Vectors) -> None:
    """Write a version with its chunks and made-up vectors, and publish it."""
    new = NewVersion(key, key, "txt", secrets.token_hex(32), secrets.token_hex(20), sum(map(len, texts)))
    claim = kb.catalog.documents.claim(new)
    kb.catalog.documents.update_version(claim.version_id, metadata={"title": key})
    kb.catalog.chunks.begin(claim.version_id)
    for at in range(0, len(texts), 500):
        few = [Chunk(at + place, text, 0, len(text)) for place, text in enumerate(texts[at : at + 500])]
        kb.catalog.chunks.add(claim.version_id, claim.doc_id, key, few)
    kb.catalog.chunks.finish(claim.version_id, claim.doc_id)
    hashes = [each.digest for each in kb.catalog.embeddings.missing(claim.version_id, embedder.id, -1, 10**7)]
    for at in range(0, len(hashes), 5_000):
        some = hashes[at : at + 5_000]
        kb.catalog.embeddings.add(embedder.id, some, np.asarray(vectors.draw(len(some))))
    kb.catalog.jobs.end(str(claim.job_id), JobState.DONE, version_state="ready")
    expected = kb.catalog.publications.prepare(claim.doc_id, claim.version_id)
    kb._projector.flush()
    kb.catalog.publications.commit(Decision(claim.doc_id, claim.version_id, "publish"), expected=expected)
    kb._projector.flush()
