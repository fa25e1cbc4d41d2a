"""Whether questions as of any moment find what was shown then, in a large collection of which a part has changed.

The collection is that of ``benchmarks.latency``. Of one document in ``--every`` all chunks then get a next version, of
whose text a word is new; every third of these documents is rolled back afterwards, and another third deleted. What
each document shows at each sequence number is kept beside it. ``--questions`` are asked as of numbers drawn from all
of that, each in the words of a passage of a changed document with a vector near its own:

- ``wrong`` are those with a hit that was not shown then;
- ``missed`` those whose own passage was shown then and is not among the hits;
- ``p50_ms`` and ``p95_ms`` are of the search with its trace, vectors at hand.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.latency import (
    CHUNKS_A_DOCUMENT,
    DOCUMENTS_TOGETHER,
    TimedEmbedder,
    knowledge_base,
    publish,
    write,
    write_document,
)
from core import EvoRAG, KnowledgeBase
from core.indexes.readiness import wait_until_ready
from core.model import PlacedChunk, Query, VersionRef

WORDS = 10
"""Words of a passage that a question takes; of Japanese ones, which have no blanks, four times as many signs."""
NOISE = 0.2


@dataclass
class Past:
    """What the changed documents show: ``shown[key]`` are sequence numbers with the version from then on."""

    shown: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)

    def note(self, key: str, sequence: int, version: int | None) -> None:
        self.shown.setdefault(key, []).append((sequence, version))

    def version(self, key: str, sequence: int) -> int | None:
        """Return which version a document showed; one that was never changed shows its first from the beginning."""
        known = [version for since, version in self.shown.get(key, [(0, 1)]) if since <= sequence]
        return known[-1] if known else None


def changed(kb: KnowledgeBase, model: str, keys: Sequence[str], past: Past) -> list[PlacedChunk]:
    """Give the documents a next version, roll some back and delete others; return all passages of both versions."""
    first = kb.sequence()
    passages: list[PlacedChunk] = []
    for key in keys:
        past.note(key, 0, 1)
    for some in _together(keys):
        before = [_passages(kb, key, 1) for key in some]
        _write(kb, model, some, before)
        passages += [placed for each in before for placed in each]
        for key in some:
            past.note(key, kb.publications(key)[0].seq, 2)
            passages += _passages(kb, key, 2)
        machine.note(f"{kb.sequence() - first:,} documents changed")
    for key in keys[::3]:
        past.note(key, kb.rollback(key).seq, 1)
    for key in keys[1::3]:
        past.note(key, kb.delete(key).seq, None)
    kb._projector.flush()
    return passages


def _together(keys: Sequence[str]) -> Iterator[list[str]]:
    remaining = iter(keys)
    while some := list(islice(remaining, DOCUMENTS_TOGETHER)):
        yield some


def _passages(kb: KnowledgeBase, key: str, version: int) -> list[PlacedChunk]:
    _, version_id, _ = kb.catalog.visibility.version_of(VersionRef(key, version))
    return list(kb.catalog.visibility.preview(key, version_id, version, 0, CHUNKS_A_DOCUMENT).chunks)


def _write(kb: KnowledgeBase, model: str, keys: Sequence[str], before: Sequence[Sequence[PlacedChunk]]) -> None:
    """Keep, index and show the next version of some documents, whose passages have the vectors that they had."""
    walkers = []
    for key, passages in zip(keys, before, strict=True):
        had = kb.catalog.embeddings.of_hashes({placed.content_hash for placed in passages}, model)
        vectors = np.stack([had[placed.content_hash] for placed in passages])
        texts = [f"{placed.chunk.text} revised" for placed in passages]
        walkers.append(write_document(kb, model, key, f"{passages[0].id:064x}", texts, vectors))
    publish(kb, walkers)


def asked(
    kb: KnowledgeBase, embedder: TimedEmbedder, past: Past, passages: Sequence[PlacedChunk], count: int, seed: int
) -> dict[str, Any]:
    """Ask as of drawn numbers, and hold each answer against what was shown then."""
    rag, drawn, noise = EvoRAG(kb=kb), random.Random(seed), np.random.default_rng(seed)
    size = NOISE / np.sqrt(embedder.dimension)
    newest, oldest = kb.sequence(), min(since for shown in past.shown.values() for since, _ in shown[1:2]) - 1
    vectors = kb.catalog.embeddings.of_hashes({placed.content_hash for placed in passages}, embedder.id)
    wrong = missed = hits = 0
    times = []
    for number in range(count):
        own = drawn.choice(passages)
        sequence = drawn.randint(oldest, newest)
        question = _question(own.chunk.text, number)
        vector = vectors[own.content_hash] + noise.normal(0, size, embedder.dimension)
        embedder.known = {question: (vector / np.linalg.norm(vector)).astype(np.float32)}
        started = time.perf_counter()
        trace = rag.search(Query(question, as_of=sequence))
        times.append((time.perf_counter() - started) * 1000)
        found = {(hit.placed.doc_key, hit.placed.version) for hit in (*trace.candidates, *trace.hits)}
        hits += len(found)
        wrong += any(past.version(key, sequence) != version for key, version in found)
        is_shown = past.version(own.doc_key, sequence) == own.version
        missed += is_shown and own.id not in {hit.placed.id for hit in trace.candidates}
        if (number + 1) % 500 == 0:
            machine.note(f"{number + 1:,} of {count:,} questions, {wrong} wrong, {missed} missed")
    return {
        "questions": count,
        "wrong": wrong,
        "missed": missed,
        "documents_a_question": hits / count,
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
        "engine": trace.vector.engine,
    }


def _question(text: str, number: int) -> str:
    """Return some words of a passage, and a number that makes the question one of its own."""
    words = text.split()
    taken = " ".join(words[:WORDS]) if len(words) > 2 * WORDS else text[: 4 * WORDS]
    return f"{taken} {number}"


def figures(context: Context) -> dict[str, Any]:
    options, embedder = context.options, TimedEmbedder()
    embedder.works = False
    folder: Path = options.folder or context.workspace
    kept = folder / f"questions-{options.chunks}-{context.seed}.npz"
    if not kept.exists():
        write(folder, kept, embedder, options.chunks, context.seed)
    past = Past()
    with knowledge_base(folder, embedder) as kb:
        wait_until_ready(kb)
        documents = range(0, options.chunks, CHUNKS_A_DOCUMENT * options.every)
        keys = [f"synthetic-{number:07}.txt" for number in documents]
        passages = changed(kb, embedder.id, keys, past)
        report = asked(kb, embedder, past, passages, options.questions, context.seed)
    return {
        "measured_on": f"{options.chunks:,} synthetic chunks, {len(keys)} of their documents changed, a third of these "
        "rolled back and another third deleted; one thread",
        "chunks": options.chunks,
        "changed": len(passages) // 2,
        **report,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=100, help="one document in so many is changed (default: 100)")
    parser.add_argument("--folder", type=Path, help="a collection that was kept; it is changed for good")


BENCHMARK = Benchmark(
    "as_of",
    figures,
    add_options,
    smallest={"chunks": 160, "questions": 40, "every": 1},
    small={"chunks": 2_000, "questions": 500, "every": 5},
    scale="chunks",
    seed=7,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
