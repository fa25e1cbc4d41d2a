"""What a knowledge base keeps in memory after a restart, and how soon it answers then.

The collection is that of ``benchmarks.latency``, written by one process and opened by another, as a restart does; an
empty folder is opened by a third. Told are the resident memory of the process with all that it has started once a
first question was answered, after 200 more, and at rest, when the vector store was closed that memory answers for, and
what of it lies above the empty folder's; and the seconds from the start of the process to the first answer and to
vectors that are searched in memory. ``files_mb`` is what of the memory are pages of files, which the machine takes back
where it needs them. With ``--folder`` a collection is kept, and used again. The reference ``libraries``, or ``direct``,
is tantivy and FAISS filled and asked directly.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks import libraries, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.latency import TimedEmbedder, knowledge_base, known_questions, write
from benchmarks.machine import resident_mb_of_all
from core import EvoRAG, KnowledgeBase
from core.adapters.vector import hot_vectors
from core.indexes.readiness import wait_until_ready
from core.model import Part

REST_S, LONGEST_REST_S = 1.0, 600.0
EMPTY_QUESTION = "Which part does supplier 7 deliver?"


def used() -> dict[str, float]:
    """Return the megabytes that this process and those that it has started hold, and which of them are of files."""
    total, files = resident_mb_of_all()
    return {"mb": round(total, 1), "files_mb": round(files, 1)}


def reopen(end: Connection, began: float, folder: Path, kept: Path | None) -> None:
    """Open a folder, ask, and tell what that took since the moment at which the process was started."""
    embedder = TimedEmbedder()
    hot_vectors.RESTS_AFTER_S = REST_S
    questions = [EMPTY_QUESTION]
    if kept is not None:
        questions = known_questions(kept, embedder)
    with knowledge_base(folder, embedder) as kb:
        rag = EvoRAG(kb=kb)
        rag.search(questions[0])
        told: dict[str, Any] = {"first_answer_s": round(time.time() - began, 2)}
        wait_until_ready(kb)
        told["loaded_s"] = round(time.time() - began, 2)
        rag.search(questions[0])
        told["after_one"] = used()
        for question in questions[:200]:
            rag.search(question)
        told["after_all"] = used()
        # The store is looked at once by every start; then it rests, here sooner than usual.
        deadline = time.monotonic() + LONGEST_REST_S
        while not _rests(kb) and time.monotonic() < deadline:
            time.sleep(0.1)
        rag.search(questions[0])
        told["at_rest"] = used()
        told["engine"] = kb._vectors.engine_for([Part.HEAD])
    end.send(told)


def _rests(kb: KnowledgeBase) -> bool:
    watch = getattr(kb._vectors, "_watch", None)
    return watch is None and not kb._projector.unknown()


def child(target: Any, *given: Any) -> Any:
    """Run what another process does, and return what it tells."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=target, args=(there, time.time(), *given))
    process.start()
    there.close()
    try:
        return here.recv()
    finally:
        process.join()


def written(end: Connection, began: float, folder: Path, kept: Path, count: int, seed: int) -> None:
    write(folder, kept, TimedEmbedder(), count, seed)
    end.send(True)


def of_libraries(end: Connection, began: float, folder: Path, count: int, seed: int) -> None:
    libraries.run(count, seed, folder, 200)
    end.send(used())


def measured(context: Context) -> dict[str, Any]:
    count = context.options.chunks
    folder: Path = context.options.folder or context.workspace / "data"
    kept = folder / f"questions-{count}-{context.seed}.npz"
    empty = child(reopen, context.workspace / "empty", None)
    if not kept.exists():
        child(written, folder, kept, count, context.seed)
    full = child(reopen, folder, kept)
    above = {name: round(full[name]["mb"] - empty[name]["mb"], 1) for name in ("after_one", "after_all", "at_rest")}
    return {"chunks": count, "empty": empty, "full": full, "above_empty_mb": above}


def reference(context: Context) -> dict[str, Any]:
    return {"full": {"after_all": child(of_libraries, context.workspace, context.options.chunks, context.seed)}}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="keep the collection here, as `latency` does, and use it again")


BENCHMARK = Benchmark(
    "memory",
    measured,
    add_options,
    smallest={"chunks": 60},
    small={"chunks": 2_000},
    scale="chunks",
    seed=7,
    references={"libraries": reference, "direct": reference},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
