"""Recall and latency of the vector indexes: `python -m benchmarks.vectors --chunks N --json`.

The vectors are synthetic: unit vectors around one centre for every 100, so that neighbourhoods exist as they do among
passages of documents; questions are such vectors too. Recall counts, of the true nearest 10 and 50, those found.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.vector.hot_vectors import HotVectors
from core.adapters.vector.milvus import MilvusVectorIndex
from core.model import IndexHit, Part
from core.ports import Vector, VectorRow

DIMENSION = 384
ROWS_PER_CENTRE = 100
DEPTH = 50
INSERT_BATCH = 1_000


def around_centres(count: int, seed: int, centre_count: int) -> Vector:
    """Return ``(count, 384)`` unit vectors, each near one of the centres."""
    centres = np.random.default_rng(1).standard_normal((centre_count, DIMENSION), dtype=np.float32)
    random = np.random.default_rng(seed)
    vectors = centres[random.integers(0, centre_count, count)]
    vectors += 0.9 * random.standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def resident_mb() -> float:
    """Return the resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def measure(search: Callable[[Vector], list[IndexHit]], queries: Vector, truth: list[list[int]]) -> dict[str, Any]:
    """Return the time of a search in milliseconds and the share of true neighbours that it found."""
    search(queries[0])
    times_ms, found_10, found_50 = [], [], []
    for query, ids in zip(queries, truth, strict=True):
        start = time.perf_counter()
        hits = [hit.chunk_id for hit in search(query)]
        times_ms.append((time.perf_counter() - start) * 1000)
        found_10.append(len(set(hits[:10]) & set(ids[:10])) / 10)
        found_50.append(len(set(hits) & set(ids)) / DEPTH)
    return {
        "p50_ms": round(statistics.median(times_ms), 2),
        "p95_ms": round(float(np.percentile(times_ms, 95)), 2),
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


def run(chunks: int, queries: int, *, with_store: bool) -> dict[str, Any]:
    """Measure both indexes on the same vectors in one run."""
    centres = max(1, chunks // ROWS_PER_CENTRE)
    vectors, asked = around_centres(chunks, 2, centres), around_centres(queries, 3, centres)
    truth = nearest(vectors, asked)
    result: dict[str, Any] = {"chunks": chunks, "queries": queries, "depth": DEPTH, "vectors": "synthetic, clustered"}
    with tempfile.TemporaryDirectory() as folder:
        store = MilvusVectorIndex(Path(folder) / "vectors", DIMENSION)
        hot = HotVectors(store, DIMENSION, limit=max(300_000, chunks))
        try:
            result["hot"] = measure_hot(hot, vectors, asked, truth)
            if with_store:
                result["store"] = measure_milvus(store, vectors, asked, truth)
        finally:
            hot.close()
    return result


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--hot-only", action="store_true", help="leave the vector store out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = run(options.chunks, options.queries, with_store=not options.hot_only)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name in ("hot", "store"):
        if name in result:
            print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in result[name].items()))


if __name__ == "__main__":
    main()
