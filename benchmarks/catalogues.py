"""The catalogue in SQLite and in PostgreSQL: ingest, size and searches.

Both get the same documents of ``benchmarks.corpus``, twenty passages each, through the whole of ingest, and the same
questions, one after the other in one run; indexes are in memory and embeddings are hashes, so that little is measured
but the catalogue. Told are chunks a second, bytes a chunk on the disk, and p50 and p95 of a search. PostgreSQL is the
tests' server, with every commit on the disk before it is answered, as SQLite has it. With ``--writers`` it is also
written by so many processes, and by 1, 2, 4, … fewer (``benchmarks.catalogue_writers``).
"""

from __future__ import annotations

import argparse
import io
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import core
from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.catalogue_writers import compared
from benchmarks.machine import note
from benchmarks.stores import written
from core.settings import Settings
from tests.servers import postgres
from tests.waiting import until

A_DOCUMENT = 20
"""Passages."""
QUIET_S = 30.0
BATCH = 100
"""Documents that are sent before the next ones."""


@contextmanager
def sqlite(_folder: Path) -> Iterator[str]:
    yield ""


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    with postgres.running(folder, durable=True) as server:
        yield server.database()


def size_of(kb: core.KnowledgeBase) -> int:
    """Return the bytes of the catalogue."""
    database = kb.catalog.database
    if database.is_sqlite:
        # Whoever still reads ends soon.
        until(database.truncate_log, QUIET_S)
        return Path(str(database.engine.url.database)).stat().st_size
    with database.read() as tx:
        return int(tx.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


def measure(address: str, folder: Path, documents: Sequence[str], asked: Sequence[str]) -> dict[str, Any]:
    """Fill one catalogue, and ask."""
    chosen = Settings(data_dir=folder, test_mode=True, embedder="hash", job_workers=2, catalog_url=address)
    with core.build(chosen) as kb:
        empty = size_of(kb)
        began = time.perf_counter()
        for first in range(0, len(documents), BATCH):
            sent = [
                kb.add_file(f"{first + at}.txt", io.BytesIO(text.encode())).job_id
                for at, text in enumerate(documents[first : first + BATCH])
            ]
            kb.wait([job for job in sent if job])
        seconds = time.perf_counter() - began
        rag = core.EvoRAG(kb=kb)
        times = []
        warming = asked[:10]
        for question in [*warming, *asked]:
            started = time.perf_counter()
            assert not rag.search(question).degraded
            times.append((time.perf_counter() - started) * 1000)
        times = times[len(warming) :]
        chunks = kb.counts().chunks
        return {
            "chunks": chunks,
            "chunks_per_s": round(chunks / seconds),
            "bytes_per_chunk": round((size_of(kb) - empty) / chunks),
            "search_p50_ms": round(statistics.median(times), 2),
            "search_p95_ms": round(float(np.percentile(times, 95)), 2),
        }


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    passages, asked = written(options.passages, options.questions, context.seed)
    documents = ["\n\n".join(passages[at : at + A_DOCUMENT]) for at in range(0, len(passages), A_DOCUMENT)]
    report: dict[str, Any] = {"passage_bytes": len("".join(passages).encode()) // len(passages)}
    for name, opened in {"sqlite": sqlite, "postgresql": postgresql}.items():
        if name == "postgresql" and (reason := postgres.missing()):
            report[name] = {"left out": reason}
            continue
        note(f"{name}: {len(documents)} documents")
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as address:
            report[name] = measure(address, Path(folder) / "data", documents, asked)
    if options.writers and not postgres.missing():
        with tempfile.TemporaryDirectory() as folder, postgres.running(Path(folder), durable=True) as server:
            report |= compared(server, Path(folder), options.writers, options.passages, options.turns)
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--writers", type=int, default=0, help="processes that write at the same time, at the most")
    parser.add_argument("--turns", type=int, default=1, help="of each way with that, the best of which counts")


BENCHMARK = Benchmark(
    "catalogues",
    figures,
    add_options,
    smallest={"passages": 20, "questions": 2, "writers": 1},
    small={"passages": 1_000, "questions": 50},
    scale="passages",
    seed=1,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
