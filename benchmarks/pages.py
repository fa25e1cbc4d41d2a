"""How long the server draws each page of many documents: ``python -m benchmarks.pages [--documents 10000] [--json]``.

The documents are short text entries, every tenth with a second version, embedded by hashing, indexes in memory: what
is measured is the catalogue and the page. Each page is drawn once to warm up and then ``--rounds`` times, encoded as
the browser gets it; told are the median in ms and the size of the answer in kB.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from plotly.io.json import to_json_plotly

import core
from app.main import create_app
from benchmarks.machine import describe, emit, note
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


def measure(folder: Path, count: int, rounds: int) -> dict[str, Any]:
    began = time.perf_counter()
    with filled(folder, count) as kb:
        note(f"{count} documents in {time.perf_counter() - began:.0f} s")
        window = create_app(kb)
        report: dict[str, Any] = {}
        for name, address in addresses(kb).items():
            times = []
            for _ in range(rounds + 1):
                started = time.perf_counter()
                drawn = to_json_plotly(open_page(window, address))
                times.append((time.perf_counter() - started) * 1000)
            report[name] = {"ms": round(statistics.median(times[1:]), 1), "kB": round(len(drawn) / 1000)}
            note(f"{name}: {report[name]}")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    report: dict[str, Any] = {"machine": describe(), "documents": given.documents}
    with tempfile.TemporaryDirectory() as folder:
        report["pages"] = measure(Path(folder) / "data", given.documents, given.rounds)
    emit(report, as_json=given.json)


if __name__ == "__main__":
    main()
