"""How many chunks a second are written durably, catalogue, fingerprints and both stores, without parsing or embedding.

The collection is that of ``latency``, text and vectors at hand, in documents of 50 chunks, 20 of them together, in the
transactions in which the stages of an upload write small documents: claimed, taken, cut, indexed by keyword, embedded,
indexed, published. What was written is acknowledged: it survives the end of the process.

- ``chunks_a_second`` by the clock, and ``chunks_a_processor_second`` by the time of all threads, which other work on
  the machine changes less;
- ``catalogue``, ``analysis``, ``keyword_store``, ``vector_store``: seconds of each on its thread (``processor_s``) and
  by the clock (``clock_s``, which holds what the disk takes); ``background`` is what else the process computed, such as
  clusters of vectors and segments of words;
- ``settling``: until the stores have ended what they do afterwards;
- ``edit``: one document of a hundred, all of its chunks, gets a next version, until that is shown (``seconds``);
  ``durable_s`` of it until the catalogue has all of it, from where a killed process goes on without its file;
  ``stages_s`` are the seconds of each part by the clock, of which ``claimed`` and ``cut`` make ``durable_s``;
  ``tidying`` brings what it replaces to history, in the background of a knowledge base.

The reference ``direct`` is tantivy and FAISS called directly: two indexes, the first committed once, without a
catalogue; of it ``edit`` is deletion and addition, the first committed and the second written to a file.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import libraries, machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.corpus import Floats, Passage, Vectors, Writer, passages
from benchmarks.latency import TimedEmbedder, knowledge_base
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.catalog import Decision, NewVersion
from core.catalog.documents.cutting import CutVersion
from core.catalog.documents.group_publishing import GroupMember
from core.catalog.documents.publications import Finishing
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.ledger import Attempt, Step
from core.knowledge_base import KnowledgeBase
from core.model import Chunk, Stage

CHUNKS_A_DOCUMENT = 50
DOCUMENTS_TOGETHER = 20
EDITED = 0.01
"""The share of the documents that get a next version."""


@dataclass
class Text:
    """A document: its name, its passages and their vectors."""

    name: str
    passages: Sequence[Passage]
    vectors: Floats


@dataclass
class Clock:
    """Seconds of the writing thread and by the clock, by what they were spent on; an inner part is not the outer's."""

    processor_s: dict[str, float] = field(default_factory=dict)
    clock_s: dict[str, float] = field(default_factory=dict)
    _of_threads: threading.local = field(default_factory=threading.local)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        stack: list[list[float]] = vars(self._of_threads).setdefault("stack", [])
        own, started, inner = time.thread_time(), time.perf_counter(), [0.0, 0.0]
        stack.append(inner)
        try:
            yield
        finally:
            stack.pop()
            spent = time.thread_time() - own, time.perf_counter() - started
            self.processor_s[name] = self.processor_s.get(name, 0.0) + spent[0] - inner[0]
            self.clock_s[name] = self.clock_s.get(name, 0.0) + spent[1] - inner[1]
            if stack:
                stack[-1][0] += spent[0]
                stack[-1][1] += spent[1]

    def watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call with its time counted."""

        def timed(*given: Any, **named: Any) -> Any:
            with self.of(name):
                return call(*given, **named)

        return timed


def texts(count: int, seed: int, dimension: int) -> Iterator[list[Text]]:
    """Yield the documents of the collection, as many as are written together."""
    written, vectors = passages((Writer("en", seed), Writer("ja", seed)), count), Vectors(dimension, seed)
    number = 0
    while True:
        some = []
        for _ in range(DOCUMENTS_TOGETHER):
            if few := list(islice(written, CHUNKS_A_DOCUMENT)):
                some.append(Text(f"synthetic-{number:07}.txt", few, vectors.draw(len(few))))
                number += len(few)
        if not some:
            return
        yield some


class Writing:
    """Writes documents into a knowledge base as the stages of an upload do, and keeps the time."""

    def __init__(self, kb: KnowledgeBase, model: str, clock: Clock) -> None:
        self._kb = kb
        self._model = model
        self._clock = clock
        self._uploads = 0
        self.stages: dict[str, float] = {}
        """Seconds by the clock of what was written last, of each part."""

    def write(self, some: Sequence[Text]) -> None:
        """Write documents, new ones together, and show them."""
        catalog, self.stages, since = self._kb.catalog, {}, time.perf_counter()

        def ended(stage: str) -> None:
            nonlocal since
            self.stages[stage], since = time.perf_counter() - since, time.perf_counter()

        with self._clock.of("catalogue"):
            attempts = self._claimed(some)
            ended("claimed")
            cuts = [
                CutVersion(version_id, doc_id, text.name, _chunks(text), attempt)
                for text, (doc_id, version_id, attempt) in zip(some, attempts, strict=True)
            ]
            kept = catalog.chunks.cut(cuts)
            for cut in cuts:
                if cut.version_id not in kept:
                    self._keep(cut)
            ended("cut")
            showing = catalog.group_publishing.prepare({cut.version_id: cut.doc_id for cut in cuts})
            for cut in cuts:
                if cut.version_id not in showing:
                    showing[cut.version_id] = catalog.publications.prepare(cut.doc_id, cut.version_id)
            self._kb._projector.flush_keywords()
            catalog.indexing.keywords_ready([cut.version_id for cut in cuts])
            ended("keywords")
            hashes, vectors = [], []
            for text, cut in zip(some, cuts, strict=True):
                missing = catalog.embeddings.missing(cut.version_id, self._model, -1, len(text.passages))
                hashes += [each.digest for each in missing]
                vectors.append(text.vectors[: len(missing)])
            catalog.embeddings.add(self._model, hashes, np.concatenate(vectors))
            self._kb._projector.flush()
            ended("vectors")
            members = [
                GroupMember(cut.doc_id, cut.version_id, showing[cut.version_id], cut.attempt, _end(cut)) for cut in cuts
            ]
            shown = catalog.group_publishing.publish(members)
            for cut in cuts:
                if cut.version_id not in shown:
                    decision = Decision(cut.doc_id, cut.version_id, "publish")
                    catalog.publications.commit(decision, expected=showing[cut.version_id], finishing=_end(cut))
            ended("published")

    def tidy(self) -> None:
        """Bring to history what was replaced, which a knowledge base does in the background."""
        self._kb._projector.flush()

    def _claimed(self, some: Sequence[Text]) -> list[tuple[int, int, Attempt]]:
        catalog, news = self._kb.catalog, []
        for text in some:
            self._uploads += 1
            size = sum(len(passage.text) for passage in text.passages)
            news.append(NewVersion(text.name, text.name, "txt", f"{self._uploads:064x}", "0" * 40, size))
        claims = catalog.documents.claim_many(news)
        attempts = {job.id: Attempt(job.id, job.attempts) for job in catalog.jobs.take(Choice(len(news), 10**12))}
        return [(claim.doc_id, claim.version_id, attempts[str(claim.job_id)]) for claim in claims]

    def _keep(self, cut: CutVersion) -> None:
        """Keep the chunks of what was not kept together with others."""
        chunks = self._kb.catalog.chunks
        chunks.begin(cut.version_id, cut.attempt)
        chunks.add(cut.version_id, cut.doc_id, cut.title, cut.chunks, cut.attempt)
        chunks.finish(cut.version_id, cut.doc_id, cut.attempt)


def _chunks(text: Text) -> list[Chunk]:
    chunks, start = [], 0
    for position, passage in enumerate(text.passages):
        chunks.append(Chunk(position, passage.text, start, start + len(passage.text), token_count=400))
        start += len(passage.text) + 2
    return chunks


def _end(cut: CutVersion) -> Finishing:
    return Finishing(Step(cut.attempt, Stage.PUBLISHED), cut.version_id)


@contextmanager
def _stores_watched(kb: KnowledgeBase, clock: Clock) -> Iterator[None]:
    stores = kb._active.now()
    with ExitStack() as patched:
        for name, store in (("vector_store", stores.vectors), ("keyword_store", stores.keywords)):
            for call in ("upsert", "delete"):
                timed = clock.watched(name, getattr(store, call))
                patched.enter_context(mock.patch.object(store, call, timed))
        timed = clock.watched("analysis", TantivyKeywordIndex._terms)
        patched.enter_context(mock.patch.object(TantivyKeywordIndex, "_terms", timed))
        yield


def run(count: int, seed: int, folder: Path) -> dict[str, Any]:
    """Write the collection into a knowledge base in ``folder``, then its edit."""
    embedder, clock = TimedEmbedder(), Clock()
    with knowledge_base(folder, embedder) as kb:
        writing = Writing(kb, embedder.id, clock)
        first: list[Text] = []
        kb._projector.flush()  # what its own thread does at a start is done then
        with _stores_watched(kb, clock):
            used = spent = 0.0
            for some in texts(count, seed, embedder.dimension):
                first = first or some
                before, started = time.process_time(), time.perf_counter()
                writing.write(some)
                used, spent = used + time.process_time() - before, spent + time.perf_counter() - started
                machine.note(f"{count / spent:,.0f} chunks/s at the most so far")
        own = dict(clock.processor_s)
        edit = _edited(writing, count, first)
        resident_mb = machine.resident_mb()
        before = time.process_time()
    settling = time.process_time() - before
    return {
        "measured_on": f"{count:,} synthetic chunks of about 400 tokens, {CHUNKS_A_DOCUMENT} a document, half English, "
        "half Japanese; text and vectors at hand",
        "chunks": count,
        "chunks_a_second": count / spent,
        "chunks_a_processor_second": count / used,
        "writing_s": spent,
        "processor_s": {**own, "background": used - sum(own.values()), "settling": settling},
        "clock_s": dict(clock.clock_s),
        "edit": edit,
        "resident_mb": resident_mb,
    }


def _edited(writing: Writing, count: int, first: Sequence[Text]) -> dict[str, Any]:
    documents = max(1, round(count * EDITED / CHUNKS_A_DOCUMENT))
    revised = [
        Text(text.name, [Passage(each.language, f"{each.text} revised") for each in text.passages], text.vectors)
        for text in first[:documents]
    ]
    chunks = sum(len(text.passages) for text in revised)
    before, started = time.process_time(), time.perf_counter()
    writing.write(revised)
    found: dict[str, Any] = {
        "chunks": chunks,
        "seconds": time.perf_counter() - started,
        "durable_s": writing.stages["claimed"] + writing.stages["cut"],
        "stages_s": dict(writing.stages),
        "processor_s": time.process_time() - before,
    }
    before = time.process_time()
    writing.tidy()
    return {**found, "tidying_processor_s": time.process_time() - before}


def figures(context: Context) -> dict[str, Any]:
    return run(context.options.chunks, context.seed, context.workspace)


def of_libraries(context: Context) -> dict[str, Any]:
    """Write the same collection with tantivy and FAISS alone."""
    return libraries.write(
        context.options.chunks,
        EDITED,
        context.workspace,
        (
            (passage.text, vector)
            for some in texts(context.options.chunks, context.seed, libraries.DIMENSION)
            for text in some
            for passage, vector in zip(text.passages, text.vectors, strict=True)
        ),
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=10_000)


BENCHMARK = Benchmark(
    "writing",
    figures,
    add_options,
    smallest={"chunks": 120},
    small={"chunks": 2_000},
    scale="chunks",
    seed=7,
    references={"libraries": of_libraries, "direct": of_libraries},
    units={"chunks_a_.*": ("chunks/s", "higher"), "edit/(seconds|durable_s)": ("s", "lower")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
