"""Recall and latency of the vector indexes in memory and in Milvus Lite.

The vectors are synthetic: unit vectors around one centre for every 100, or ``--rows-per-centre``, so that
neighbourhoods exist as they do among passages of documents; questions are such vectors too. The more stand around one,
the harder are neighbours to tell from the rest. Recall counts, of the true nearest 10 and 50, those found; ``cpu_ms``
is the processor time of a search. The reference ``libraries`` is FAISS and Milvus Lite called directly.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import libraries, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import resident_mb
from core.adapters.vector.hot_vectors import HotVectors
from core.adapters.vector.milvus import MilvusVectorIndex
from core.model import IndexHit, Part
from core.platform.memory import usable_memory
from core.ports import Vector, VectorRow

DIMENSION = 384
ROWS_PER_CENTRE = 100
DEPTH = 50
INSERT_BATCH = 1_000


def around_centres(count: int, draw: int, centre_count: int, seed: int) -> Vector:
    """Return ``(count, 384)`` unit vectors, each near one of the centres."""
    centres = np.random.default_rng(seed).standard_normal((centre_count, DIMENSION), dtype=np.float32)
    random = np.random.default_rng(seed + draw)
    vectors = centres[random.integers(0, centre_count, count)]
    vectors += 0.9 * random.standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def measure(search: Callable[[Vector], list[IndexHit]], queries: Vector, truth: list[list[int]]) -> dict[str, Any]:
    """Return the time of a search in milliseconds and the share of true neighbours that it found."""
    search(queries[0])
    times_ms, cpu_ms, found_10, found_50 = [], [], [], []
    for query, ids in zip(queries, truth, strict=True):
        start, spent = time.perf_counter(), time.process_time()
        hits = [hit.chunk_id for hit in search(query)]
        cpu_ms.append((time.process_time() - spent) * 1000)
        times_ms.append((time.perf_counter() - start) * 1000)
        found_10.append(len(set(hits[:10]) & set(ids[:10])) / 10)
        found_50.append(len(set(hits) & set(ids)) / DEPTH)
    return {
        "p50_ms": round(statistics.median(times_ms), 2),
        "p95_ms": round(float(np.percentile(times_ms, 95)), 2),
        "cpu_ms": round(statistics.median(cpu_ms), 2),
        "recall_10": round(statistics.mean(found_10), 4),
        "recall_50": round(statistics.mean(found_50), 4),
    }


def nearest(vectors: Vector, queries: Vector) -> list[list[int]]:
    """Return the ids of the true nearest rows of each query."""
    return [np.argsort(-(vectors @ query), kind="stable")[:DEPTH].tolist() for query in queries]


def measure_hot(hot: HotVectors, vectors: Vector, queries: Vector, truth: list[list[int]]) -> dict[str, Any]:
    """Load the vectors from half-precision rows, as the catalogue keeps them, and search them."""
    blobs = [row.tobytes() for row in vectors.astype(np.float16)]
    before, start = resident_mb(), time.perf_counter()
    hot.load((n, n // 20, np.frombuffer(blob, dtype=np.float16)) for n, blob in enumerate(blobs))
    loaded = {"load_s": round(time.perf_counter() - start, 3), "memory_mb": round(resident_mb() - before, 1)}
    documents = list(range(len(vectors) // 40))
    filtered = measure(lambda query: hot.search(query, DEPTH, [Part.HEAD], documents), queries, truth)
    searched = measure(lambda query: hot.search(query, DEPTH, [Part.HEAD]), queries, truth)
    within = {key: value for key, value in filtered.items() if key.endswith("_ms")}
    return {"engine": hot.engine, **loaded, **searched, "half_of_documents": within}


def measure_milvus(
    store: MilvusVectorIndex, vectors: Vector, queries: Vector, truth: list[list[int]]
) -> dict[str, Any]:
    """Insert the vectors with texts of about 1,500 characters, and search them."""
    text = "The quick brown fox jumps over the lazy dog. " * 33
    before, start = resident_mb(), time.perf_counter()
    for first in range(0, len(vectors), INSERT_BATCH):
        batch = enumerate(vectors[first : first + INSERT_BATCH], start=first)
        store.upsert([VectorRow(n, n // 20, Part.HEAD, vector, text, "a.txt#v1") for n, vector in batch])
    seconds = time.perf_counter() - start
    searched = measure(lambda query: store.search(query, DEPTH, [Part.HEAD]), queries, truth)
    return {
        "engine": store.engine,
        "insert_s": round(seconds, 2),
        "rows_per_s": round(len(vectors) / seconds),
        "memory_mb": round(resident_mb() - before, 1),
        **searched,
    }


def drawn(options: argparse.Namespace, seed: int) -> tuple[Vector, Vector]:
    """Return the rows and the questions of a run."""
    centres = max(1, options.chunks // options.rows_per_centre)
    return around_centres(options.chunks, 1, centres, seed), around_centres(options.queries, 2, centres, seed)


def figures(context: Context) -> dict[str, Any]:
    """Measure both indexes on the same vectors in one run."""
    options = context.options
    chunks, queries = options.chunks, options.queries
    vectors, asked = drawn(options, context.seed)
    truth = nearest(vectors, asked)
    result: dict[str, Any] = {"chunks": chunks, "queries": queries, "depth": DEPTH, "vectors": "synthetic, clustered"}
    with tempfile.TemporaryDirectory() as folder:
        store = MilvusVectorIndex(Path(folder) / "vectors", DIMENSION, memory=usable_memory())
        hot = HotVectors(store, DIMENSION, chunks, Path(folder))
        try:
            result["hot"] = measure_hot(hot, vectors, asked, truth)
            if not options.hot_only:
                result["store"] = measure_milvus(store, vectors, asked, truth)
        finally:
            hot.close()
    return result


def of_libraries(context: Context) -> dict[str, Any]:
    """Search the same vectors with FAISS and Milvus Lite alone."""
    options = context.options
    vectors, asked = drawn(options, context.seed)
    truth = nearest(vectors, asked)
    with libraries.faiss_index(vectors) as search:
        found = {"hot": measure(search, asked, truth)}
    if not options.hot_only:
        with libraries.milvus_lite(vectors, context.workspace) as search:
            found["store"] = measure(search, asked, truth)
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rows-per-centre", type=int, default=ROWS_PER_CENTRE)
    parser.add_argument("--hot-only", action="store_true", help="leave the vector store out")


BENCHMARK = Benchmark(
    "vectors",
    figures,
    add_options,
    smallest={"chunks": 200, "queries": 2},
    small={"chunks": 5_000, "queries": 50},
    scale="chunks",
    seed=1,
    references={"libraries": of_libraries},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
