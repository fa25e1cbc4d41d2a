"""How long the server draws each page of many documents.

The documents are short text entries, every tenth with a second version, embedded by hashing, indexes in memory: what
is measured is the catalogue and the page. Each page is drawn once to warm up and then ``--draws`` times, encoded as
the browser gets it; told are the median in ms and the size of the answer in kB.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from pathlib import Path
from typing import Any

from plotly.io.json import to_json_plotly

import core
from app.main import create_app
from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from core.settings import Settings
from tests.unit.app.drawn import open_page

BATCH = 500
QUESTION = "Which part does supplier 7 deliver?"


def filled(folder: Path, count: int) -> core.KnowledgeBase:
    """Open a knowledge base of ``count`` documents."""
    kb = core.build(Settings(data_dir=folder, test_mode=True, embedder="hash", job_workers=0))
    for version, every in ((1, 1), (2, 10)):
        names = [f"part {number:06}.txt" for number in range(0, count, every)]
        for first in range(0, len(names), BATCH):
            some = names[first : first + BATCH]
            kb.add_texts([(name, "", f"Version {version}. Supplier {name[5:11]} delivers {name}.") for name in some])
            kb.work_off()
    return kb


def addresses(kb: core.KnowledgeBase) -> dict[str, str]:
    """The pages that are drawn, by their names."""
    trace = core.EvoRAG(kb=kb).ask(QUESTION)
    key = "part 000010.txt"
    return {
        "home": "/",
        "ask": "/ask",
        "answer": f"/ask?q=x&trace={trace.id}",
        "documents": "/documents",
        "document": f"/documents/{key}",
        "compare_start": "/compare",
        "compare": f"/compare?doc={key}&old=1&new=2",
        "history": "/history",
        "jobs": "/jobs",
        "audit": "/audit",
        "evaluate": "/evaluate",
        "stores": "/stores",
    }


def measure(folder: Path, count: int, draws: int) -> dict[str, Any]:
    began = time.perf_counter()
    with filled(folder, count) as kb:
        note(f"{count} documents in {time.perf_counter() - began:.0f} s")
        window = create_app(kb)
        report: dict[str, Any] = {}
        for name, address in addresses(kb).items():
            times = []
            for _ in range(draws + 1):
                started = time.perf_counter()
                drawn = to_json_plotly(open_page(window, address))
                times.append((time.perf_counter() - started) * 1000)
            report[name] = {"ms": round(statistics.median(times[1:]), 1), "kB": round(len(drawn) / 1000)}
            note(f"{name}: {report[name]}")
    return report


def figures(context: Context) -> dict[str, Any]:
    logging.disable(logging.WARNING)
    options = context.options
    pages = measure(context.workspace / "data", options.documents, options.draws)
    return {"documents": options.documents, "pages": pages}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=5, help="how often each page is drawn in a round")


BENCHMARK = Benchmark(
    "pages",
    figures,
    add_options,
    smallest={"documents": 20, "draws": 1},
    small={"documents": 1_000, "draws": 3},
    scale="documents",
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
