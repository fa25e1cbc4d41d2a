"""The stores side by side: ingest, searches, agreement, memory and disk.

Vectors in memory, in Milvus Lite and on a Milvus server; keywords in tantivy, in SQLite's FTS5 and on an Elasticsearch
node. All of one kind get the same rows of ``benchmarks.corpus`` and the same questions, in one run:
ingest (rows a second, every write durable and findable), p50 and p95 of a search of depth 50 by one client, agreement
with the exact answer (vectors: with a scan of all; keywords: with tantivy), memory of the processes and bytes on the
disk. The servers are those of the tests; one that cannot be started here is left out, with the reason.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.corpus import WORDS, Writer
from benchmarks.machine import note, resident_mb_of_all
from benchmarks.vectors import DEPTH, DIMENSION, ROWS_PER_CENTRE, around_centres
from core.adapters.keyword.elastic import ElasticKeywordIndex
from core.adapters.keyword.fts5 import Fts5KeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.adapters.vector.hot_vectors import HotVectors
from core.adapters.vector.memory import MemoryVectorIndex
from core.adapters.vector.milvus import MilvusVectorIndex
from core.model import IndexHit, Part
from core.platform.memory import usable_memory
from core.ports import KeywordIndex, KeywordRow, Vector, VectorIndex, VectorRow
from tests.servers import elastic, milvus

BATCHES = {"vector": 1_000, "keyword": 4_000}
"""As the projector writes."""
HEAD = [Part.HEAD]

Search = Callable[[Any], list[IndexHit]]
Opened = tuple[VectorIndex | KeywordIndex, list[Path]]


@contextmanager
def milvus_lite(folder: Path) -> Iterator[Opened]:
    with closing(MilvusVectorIndex(folder / "lite", DIMENSION, memory=usable_memory())) as store:
        yield store, [folder / "lite"]


@contextmanager
def milvus_server(folder: Path) -> Iterator[Opened]:
    with (
        milvus.running(folder) as server,
        closing(MilvusVectorIndex(server.url, DIMENSION, token=server.token)) as store,
    ):
        yield store, [folder]


@contextmanager
def in_memory(folder: Path) -> Iterator[Opened]:
    with closing(HotVectors(MemoryVectorIndex(DIMENSION), DIMENSION, limit=10_000_000, folder=folder)) as store:
        store.load([])
        yield store, []


@contextmanager
def tantivy(folder: Path) -> Iterator[Opened]:
    with closing(TantivyKeywordIndex(folder / "tantivy")) as store:
        yield store, [folder / "tantivy"]


@contextmanager
def fts5(folder: Path) -> Iterator[Opened]:
    with closing(Fts5KeywordIndex(folder / "fts5")) as store:
        yield store, [folder / "fts5"]


@contextmanager
def elasticsearch(folder: Path) -> Iterator[Opened]:
    with elastic.running(folder) as server, closing(ElasticKeywordIndex(server.url)) as store:
        store.open()
        yield store, [folder]


VECTORS = {"memory": (in_memory, None), "milvus lite": (milvus_lite, None), "milvus": (milvus_server, milvus.missing)}
KEYWORDS = {"tantivy": (tantivy, None), "fts5": (fts5, None), "elasticsearch": (elasticsearch, elastic.missing)}


def disk_bytes(folders: Sequence[Path]) -> int:
    files = (file for folder in folders for file in folder.rglob("*"))
    return sum(file.stat().st_blocks * 512 for file in files if file.is_file())


def measure(kind: str, name: str, rows: Sequence[Any], asked: Sequence[Any], truth: list[list[int]]) -> dict[str, Any]:
    """Fill one store and ask it; an empty ``truth`` is filled with what it answers."""
    opening, missing = {"vector": VECTORS, "keyword": KEYWORDS}[kind][name]
    if missing is not None and (reason := missing()):
        return {"left out": reason}
    note(f"{name}: {len(rows)} rows")
    before = resident_mb_of_all()[0]
    with tempfile.TemporaryDirectory() as folder, opening(Path(folder)) as (store, folders):
        began, used = time.perf_counter(), time.process_time()
        for first in range(0, len(rows), BATCHES[kind]):
            store.upsert(rows[first : first + BATCHES[kind]])
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
        times, hits = timed(lambda question: store.search(question, DEPTH, HEAD), asked)
        truth[:] = truth or hits
        return {
            "rows_per_s": round(len(rows) / seconds),
            "own_cpu_s_per_1000": round(1000 * cpu_s / len(rows), 3),
            "p50_ms": round(statistics.median(times), 2),
            "p95_ms": round(float(np.percentile(times, 95)), 2),
            f"agreement_{DEPTH}": round(statistics.mean(map(share, hits, truth)), 4),
            "memory_mb": round(resident_mb_of_all()[0] - before),
            "disk_bytes_per_row": round(disk_bytes(folders) / len(rows)),
        }


def timed(search: Search, asked: Sequence[Any]) -> tuple[list[float], list[list[int]]]:
    """Return the milliseconds and the ids of each question, after some that warm up."""
    for question in asked[:10]:
        search(question)
    times, found = [], []
    for question in asked:
        began = time.perf_counter()
        hits = search(question)
        times.append((time.perf_counter() - began) * 1000)
        found.append([hit.chunk_id for hit in hits])
    return times, found


def share(found: Sequence[int], true: Sequence[int]) -> float:
    return len(set(found) & set(true)) / len(true) if true else 1.0


def exactly(vectors: Vector, asked: Vector) -> list[list[int]]:
    return [np.argsort(-(vectors @ question), kind="stable")[:DEPTH].tolist() for question in asked]


def written(count: int, questions: int, seed: int) -> tuple[list[str], list[str]]:
    """Return passages, half of them Japanese, and questions of some of them."""
    writers = [Writer("en", seed), Writer("ja", seed + 1)]
    passages = [writers[n % 2].passage(WORDS[writers[n % 2].language]) for n in range(count)]
    asked = [writers[n % 2].question(passages[n]) for n in range(min(questions, count))]
    return [passage.text for passage in passages], asked


def run(size: int, questions: int, seed: int) -> dict[str, Any]:
    """Measure all stores with ``size`` rows."""
    centres = max(1, size // ROWS_PER_CENTRE)
    vectors, asked = around_centres(size, 1, centres, seed), around_centres(questions, 2, centres, seed)
    texts, worded = written(size, questions, seed)
    of_vectors = [
        VectorRow(n, n // 20, Part.HEAD, vector, text, "a.txt#v1", n + 1)
        for n, (vector, text) in enumerate(zip(vectors, texts, strict=True))
    ]
    near = partial(measure, "vector", rows=of_vectors, asked=asked, truth=exactly(vectors, asked))
    found: dict[str, Any] = {name: near(name=name) for name in VECTORS}
    of_words = [KeywordRow(n, n // 20, Part.HEAD, text, "a.txt#v1", n + 1) for n, text in enumerate(texts)]
    same = partial(measure, "keyword", rows=of_words, asked=worded, truth=[])
    return found | {name: same(name=name) for name in KEYWORDS}


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    return {str(size): run(size, options.questions, context.seed) for size in options.sizes}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="rows")
    parser.add_argument("--questions", type=int, default=100)


BENCHMARK = Benchmark(
    "stores",
    figures,
    add_options,
    smallest={"sizes": [50], "questions": 2},
    small={"sizes": [1_000], "questions": 50},
    scale="sizes",
    number=lambda text: [int(text)],
    seed=1,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
