"""Several processes that write documents into one catalogue on PostgreSQL, as workers do, and what they wait for.

Each takes documents that were claimed before, and writes them in the transactions in which the stages of an upload do
(``benchmarks.writing``); texts and vectors are at hand, and no store is told of anything, which one process at a time
does. ``beside`` is the catalogue as it is, in ``alone`` each transaction has it for itself. Both are measured in turn,
each on an empty catalogue. Seconds are those of one process, such as those of waiting until nobody writes, or only what
others may write at the same time is written (``wait_for_all_s``), and for a part (``wait_for_parts_s``).
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import Any
from unittest import mock

from sqlalchemy import Connection

import core
from benchmarks.machine import note
from benchmarks.writing import Clock, Text, Writing, texts
from core.catalog import Catalog, NewVersion, postgresql
from core.catalog.engine import Database
from core.catalog.jobs.job_scheduler import Choice
from core.catalog.jobs.leases import Lease
from core.catalog.jobs.ledger import Attempt, Step
from core.model import Stage
from core.settings import Settings
from tests.servers.postgres import PostgresServer

WAYS = ("alone", "beside")
_SEED, _DIMENSION = 7, 384
_LIMIT_S = 300


class Worker(Writing):
    """Writes documents that were claimed, and notes in the ledger how far it is."""

    def __init__(self, kb: core.KnowledgeBase, clock: Clock) -> None:
        super().__init__(kb, kb._active.now().model.id, clock)
        self._jobs = kb.catalog.jobs
        self._lease = Lease(token_hex(8), _LIMIT_S)

    def _claimed(self, some: Sequence[Text]) -> list[tuple[int, int, Attempt]]:
        taken = [Attempt(job.id, job.attempts) for job in self._jobs.take(Choice(len(some), 10**12), self._lease)]
        for stage in (Stage.PARSING, Stage.CHUNKING, Stage.KEYWORDS, Stage.EMBEDDING) if taken else ():
            self._jobs.advance([Step(attempt, stage) for attempt in taken])
        owners = self._jobs.owners([attempt.job_id for attempt in taken])
        return [(*owners[attempt.job_id], attempt) for attempt in taken]


def _written_alone(database: Database, _parts: object, act: Callable[[Connection], Any]) -> Any:
    with database.write() as tx:
        return act(tx)


def _work(address: str, folder: str, way: str, some: Sequence[Text], start: Any, told: Any) -> None:
    """Write as many documents as there are texts, once all processes are ready; tell what was waited for."""
    waited = {"wait_for_all_s": 0.0, "wait_for_parts_s": 0.0}

    def timed(name: str, call: Callable[..., None]) -> Callable[..., None]:
        def wait(*given: Any) -> None:
            began = time.perf_counter()
            call(*given)
            waited[name] += time.perf_counter() - began

        return wait

    # Twenty at a time, as a worker takes them; all are at hand before the start.
    groups = [some[at : at + 20] for at in range(0, len(some), 20)]
    chosen = Settings(data_dir=Path(folder), test_mode=True, embedder="hash", job_workers=0, catalog_url=address)
    with ExitStack() as patched:
        for name in ("begin_write", "begin_beside"):
            call = timed("wait_for_all_s", getattr(postgresql, name))
            patched.enter_context(mock.patch.object(postgresql, name, call))
        call = timed("wait_for_parts_s", postgresql.hold_parts)
        patched.enter_context(mock.patch.object(postgresql, "hold_parts", call))
        if way == "alone":
            patched.enter_context(mock.patch.object(Database, "beside", _written_alone))
        with core.build(chosen) as kb:
            worker = Worker(kb, Clock())
            kb._projector.flush()
            for name in ("flush", "flush_keywords"):
                patched.enter_context(mock.patch.object(kb._projector, name, lambda: None))
            start.wait(_LIMIT_S)  # until all are open, and again until there is something to do
            start.wait(_LIMIT_S)
            waited.update(dict.fromkeys(waited, 0.0))
            began, used = time.perf_counter(), time.process_time()
            for group in groups:
                worker.write(group)
            told.put((began, time.perf_counter(), time.process_time() - used, waited))


def _claim(address: str, count: int) -> None:
    catalog = Catalog(address)
    try:
        news = [NewVersion(f"{at}.txt", f"{at}.txt", "txt", f"{at:064x}", "0" * 40, 1) for at in range(count)]
        catalog.documents.claim_many(news)
    finally:
        catalog.close()


def measure(server: PostgresServer, folder: Path, way: str, writers: int, documents: Sequence[Text]) -> dict[str, Any]:
    """Write documents by several processes, as many each; return chunks a second of all, and seconds of each."""
    address, own = server.database(), len(documents) // writers
    context = multiprocessing.get_context("spawn")
    start, told = context.Barrier(writers + 1), context.Queue()
    processes = [
        context.Process(
            target=_work,
            args=(
                address,
                str(folder / f"{way}{writers}-{at}"),
                way,
                documents[at * own : (at + 1) * own],
                start,
                told,
            ),
            daemon=True,
        )
        for at in range(writers)
    ]
    for process in processes:
        process.start()
    start.wait(_LIMIT_S)
    _claim(address, own * writers)
    start.wait(_LIMIT_S)
    found = [told.get(timeout=_LIMIT_S) for _ in processes]
    for process in processes:
        process.join(_LIMIT_S)
    seconds = max(ended for _, ended, _, _ in found) - min(began for began, _, _, _ in found)
    chunks = sum(len(text.passages) for text in documents[: own * writers])
    return {
        "chunks_per_s": round(chunks / seconds),
        "processor_s": round(sum(used for _, _, used, _ in found) / writers, 2),
        "clock_s": round(sum(ended - began for began, ended, _, _ in found) / writers, 2),
        **{name: round(sum(waited[name] for *_, waited in found) / writers, 2) for name in found[0][3]},
    }


def compared(server: PostgresServer, folder: Path, most: int, passages: int, turns: int = 1) -> dict[str, Any]:
    """Measure 1, 2, 4, … up to ``most`` writers in both ways, one after the other; the ratio is that of the best."""
    documents = [text for some in texts(passages, _SEED, _DIMENSION) for text in some]
    report: dict[str, Any] = {}
    writers = 1
    while writers <= most:
        best: dict[str, dict[str, Any]] = {}
        for number in range(turns * len(WAYS)):
            way = WAYS[number % len(WAYS)]
            found = measure(server, folder / str(number), way, writers, documents)
            note(f"{writers} writers {way}: {found}")
            if way not in best or found["chunks_per_s"] > best[way]["chunks_per_s"]:
                best[way] = found
        ratio = best["beside"]["chunks_per_s"] / best["alone"]["chunks_per_s"]
        report[f"writers_{writers}"] = {**best, "beside_to_alone": round(ratio, 2)}
        writers *= 2
    return report
