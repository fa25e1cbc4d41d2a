"""How head and history are kept apart in Milvus: by a filter or by partitions.

Two ways, side by side on the real server of the tests: a filter over a scalar field (``filter``), and a partition for
each part (``partitions``). Three of four rows are head. Searches of the head alternate between the two, so that both
meet the same machine; a move is 200 rows that change their part. The vectors are those of `benchmarks.vectors`.
Without ``--url`` the server of the tests is started; on another the two collections are removed afterwards.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.vectors import DEPTH, DIMENSION, ROWS_PER_CENTRE, around_centres
from core.adapters.vector.milvus_collection import ivf_flat, schema
from core.ports import Vector
from tests.servers import milvus

NLIST, NPROBE = 128, 20
INSERT_BATCH = 2_000
MOVED = 200
MOVES = 5
PARTS = ("head", "history")
TEXT = "The quick brown fox jumps over the lazy dog. " * 20


class Filtered:
    """One collection; a row says in which part it is."""

    name = "filter"

    def __init__(self, client: Any) -> None:
        self._client = client
        made = schema(client, DIMENSION)
        client.create_collection(self.name, schema=made, index_params=ivf_flat(client, {"nlist": NLIST}))

    def put(self, rows: list[dict[str, Any]], part: str) -> None:
        self._client.upsert(self.name, [{**row, "part": part} for row in rows])

    move = put

    def search(self, vector: Vector) -> list[int]:
        return _search(self._client, self.name, vector, filter='part == "head"')


class Partitioned:
    """One collection of two partitions; a row that moves is deleted from the one and put into the other."""

    name = "partitions"

    def __init__(self, client: Any) -> None:
        self._client = client
        made = schema(client, DIMENSION)
        client.create_collection(self.name, schema=made, index_params=ivf_flat(client, {"nlist": NLIST}))
        for part in PARTS:
            client.create_partition(self.name, part)

    def put(self, rows: list[dict[str, Any]], part: str) -> None:
        self._client.upsert(self.name, [{**row, "part": part} for row in rows], partition_name=part)

    def move(self, rows: list[dict[str, Any]], part: str) -> None:
        other = PARTS[1 - PARTS.index(part)]
        self.put(rows, part)
        self._client.delete(self.name, ids=[row["id"] for row in rows], partition_name=other)

    def search(self, vector: Vector) -> list[int]:
        return _search(self._client, self.name, vector, partition_names=["head"])


def _search(client: Any, name: str, vector: Vector, **more: Any) -> list[int]:
    params = {"metric_type": "L2", "params": {"nprobe": NPROBE}}
    [hits] = client.search(name, data=[vector.tolist()], limit=DEPTH, search_params=params, **more)
    return [int(hit["id"]) for hit in hits]


def rows_of(vectors: Vector, first: int) -> list[dict[str, Any]]:
    return [
        {"id": n, "embedding": vector, "text": TEXT, "source": "a.txt#v1", "doc_id": n // 20, "fingerprint": n}
        for n, vector in enumerate(vectors, start=first)
    ]


def time_ms(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def measure(client: Any, vectors: Vector, queries: Vector) -> dict[str, Any]:
    ways: list[Filtered | Partitioned] = [Filtered(client), Partitioned(client)]
    head = len(vectors) * 3 // 4
    truth = [set(np.argsort(-(vectors[:head] @ query))[:DEPTH].tolist()) for query in queries]
    result: dict[str, Any] = {}
    for way in ways:
        started = time.perf_counter()
        for first in range(0, len(vectors), INSERT_BATCH):
            batch = rows_of(vectors[first : first + INSERT_BATCH], first)
            way.put([row for row in batch if row["id"] < head], "head")
            way.put([row for row in batch if row["id"] >= head], "history")
        client.flush(way.name)
        result[way.name] = {"insert_s": round(time.perf_counter() - started, 1)}
    for way in ways:
        while client.describe_index(way.name, "embedding")["pending_index_rows"]:
            time.sleep(0.5)
        client.release_collection(way.name)
        client.load_collection(way.name)
    times: dict[str, list[float]] = {way.name: [] for way in ways}
    found: dict[str, list[float]] = {way.name: [] for way in ways}
    for query, nearest in zip(queries, truth, strict=True):
        for way in ways:
            times[way.name].append(time_ms(partial(way.search, query)))
            found[way.name].append(len(nearest & set(way.search(query))) / DEPTH)
    moved = rows_of(vectors[:MOVED], 0)
    for way in ways:
        moves = [time_ms(partial(way.move, moved, PARTS[1 - n % 2])) for n in range(MOVES)]
        result[way.name] |= {
            "p50_ms": round(statistics.median(times[way.name]), 1),
            "p95_ms": round(float(np.percentile(times[way.name], 95)), 1),
            "recall_50": round(statistics.mean(found[way.name]), 4),
            "move_200_ms": round(statistics.median(moves), 1),
        }
    return result | {"p50_ratio": round(result["filter"]["p50_ms"] / result["partitions"]["p50_ms"], 2)}


@contextmanager
def served(url: str, token: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Give the address and the token of a server; without an address one is started."""
    if url:
        yield url, token
        return
    if reason := milvus.missing():
        sys.exit(reason)
    with milvus.running(folder) as server:
        yield server.url, server.token


def figures(context: Context) -> dict[str, Any]:
    from pymilvus import MilvusClient

    options = context.options
    centres = max(1, options.rows // ROWS_PER_CENTRE)
    vectors = around_centres(options.rows, 1, centres, context.seed)
    queries = around_centres(options.queries, 2, centres, context.seed)
    with (
        served(options.url, options.token, context.workspace) as (url, token),
        closing(MilvusClient(url, token=token)) as client,
    ):
        try:
            return {"rows": options.rows, "queries": options.queries, **measure(client, vectors, queries)}
        finally:
            for way in (Filtered, Partitioned):
                client.drop_collection(way.name)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--url", default="", help="Milvus; empty starts the server of the tests")
    parser.add_argument("--token", default="", help="what is shown to that server")


BENCHMARK = Benchmark(
    "milvus_parts",
    figures,
    add_options,
    smallest={"rows": 300, "queries": 2},
    small={"rows": 5_000, "queries": 50},
    scale="rows",
    seed=1,
    secret="token",
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
