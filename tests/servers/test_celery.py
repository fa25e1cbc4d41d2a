"""Several processes, one knowledge base: real workers on PostgreSQL and Redis, killed at any moment."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select

import core
from app.security.rates import Rates, stranger
from core.adapters.jobs.redis_progress import CHANNEL
from core.catalog.schema import job_events, publications
from core.errors import OffsetConflict
from core.model import Filing, JobState, Role, TransferState
from core.settings import Settings
from tests.unit.ingest.documents import slow_pdf
from tests.waiting import until

ROOT = Path(__file__).parent.parent.parent
LEASE_S = 2.0

WORKER = """
import os, signal, sys
from itertools import count
from core.platform import failpoints as points
from core.settings import Settings
from core.cli.worker_process import work

last, passed = int(sys.argv[1]), count(1)
if last:
    points.on_failpoint(lambda name: os.kill(os.getpid(), signal.SIGKILL) if next(passed) == last else None)
work(Settings())
"""
"""A worker that is killed when it passes that point of its work, counted from its start."""


def shared(folder: Path, catalog_url: str, redis_url: str = "", **changes: Any) -> Settings:
    values: dict[str, Any] = {"data_dir": folder / "data", "test_mode": True, "job_lease_s": LEASE_S, "job_workers": 1}
    return Settings(**{**values, "catalog_url": catalog_url, "jobs_url": redis_url, **changes})


@contextmanager
def workers(settings: Settings, *last_points: int, **variables: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start workers, each killed at a point of its own, or never (0); they end with the block, and told no secret."""
    environment = {
        **os.environ,
        "EVORAG_DATA_DIR": str(settings.data_dir),
        "EVORAG_CATALOG_URL": settings.catalog_url.get_secret_value(),
        "EVORAG_JOBS_URL": settings.jobs_url.get_secret_value(),
        "EVORAG_JOB_LEASE_S": str(LEASE_S),
        "EVORAG_TEST_MODE": "1",
        "OMP_NUM_THREADS": "1",
        **variables,
    }
    path = settings.data_dir.parent / "log"
    with path.open("ab") as log:
        started = [
            subprocess.Popen([sys.executable, "-c", WORKER, str(last)], cwd=ROOT, env=environment, stderr=log)
            for last in last_points
        ]
        try:
            yield started
        finally:
            for process in started:
                process.kill()
                process.wait()
    said = path.read_text()
    for url in (settings.catalog_url, settings.jobs_url):
        assert url.get_secret_value().split("@")[0].split(":")[-1] not in said


def text_of(number: int) -> str:
    return f"The pump number {number} is checked every {number + 3} days. " * 20


def test_a_killed_workers_jobs_are_done_by_another_and_each_version_is_published_once(
    postgres: Any, redis: Any, tmp_path: Path
) -> None:
    last = random.randint(3, 50)
    settings = shared(tmp_path, postgres.database(), redis.url)
    with core.build(settings) as kb, workers(settings, last, 0) as (killed, other), redis.client() as client:
        channel = client.pubsub(ignore_subscribe_messages=True)
        channel.psubscribe(f"{CHANNEL}*")
        channel.get_message(timeout=30)
        jobs: list[str] = []
        while killed.poll() is None and len(jobs) < 400:
            number = len(jobs)
            jobs += [str(kb.add_text(f"doc {n}", text_of(n)).job_id) for n in range(number, number + 2)]
            kb.wait(jobs, timeout_s=1.0)
        assert killed.poll() is not None, f"the worker was not killed at point {last}"
        ended = kb.wait(jobs, timeout_s=60)
        assert {job.state for job in ended} == {JobState.DONE}, last
        assert other.poll() is None
        with kb.catalog.database.read() as tx:
            shown = Counter(tx.scalars(select(publications.c.version_id)))
            finished = Counter(tx.scalars(select(job_events.c.job_id).where(job_events.c.code == "done")))
        assert len(shown) == len(jobs) and set(shown.values()) == {1}, last
        assert finished == Counter(jobs), last
        assert len(kb.documents()) == len(jobs)
        heard = []

        def are_told() -> bool:
            while message := channel.get_message():
                heard.append(orjson.loads(message["data"]))
            return {each["job_id"] for each in heard if each["state"] == "done"} == set(jobs)

        # What is committed is told a moment later, by a thread of the worker's.
        until(are_told)
        assert not any(word in str(each) for word in ("pump", "doc ") for each in heard)

        # Redis is gone: what is uploaded meanwhile is found in the ledger.
        redis.kill()
        job_id = str(kb.add_text("without Redis", text_of(1)).job_id)
        assert kb.finish(job_id, 30).state is JobState.DONE
        redis.restart()
    assert "ConnectionError" in (tmp_path / "log").read_text()


def test_short_files_pass_a_long_one_at_a_worker_whose_death_loses_neither(
    postgres: Any, redis: Any, tmp_path: Path
) -> None:
    settings = shared(tmp_path, postgres.database(), redis.url)
    with core.build(settings) as kb, workers(settings, 0, EVORAG_PARSER_PATIENCE_S="0.5") as (first,):
        slow = str(kb.add_file("drawing.pdf", io.BytesIO(slow_pdf(30, 30_000))).job_id)
        short = [str(kb.add_text(f"doc {number}", text_of(number)).job_id) for number in range(20)]
        assert {job.state for job in kb.wait(short, timeout_s=120)} == {JobState.DONE}
        assert kb.job(slow).state is JobState.RUNNING
        assert "aside" in [event.code for event in kb.job_log(slow)]
        first.kill()
        first.wait()
        with workers(settings, 0, EVORAG_PARSER_PATIENCE_S="0.5"):
            more = [str(kb.add_text(f"more {number}", text_of(number)).job_id) for number in range(20)]
            assert {job.state for job in kb.wait([*more, slow], timeout_s=300)} == {JobState.DONE}
        assert kb.job(slow).attempts == 2
        assert "Lantern of the slow drawing" in kb.text_of("drawing.pdf", 1)


def test_parts_of_an_upload_may_go_to_any_process_and_are_claimed_once(postgres: Any, tmp_path: Path) -> None:
    settings = shared(tmp_path, postgres.database(), job_workers=0)
    data = "".join(map(text_of, range(300))).encode()
    size = len(data) // 6 + 1
    with core.build(settings) as one, core.build(settings) as two:
        transfer = one.transfers.create("a.txt", len(data), filing=Filing())
        for number, kb in zip(range(6), (one, one, two, one, two, two), strict=True):
            piece = data[number * size : (number + 1) * size]
            transfer = kb.transfers.append(transfer.id, number * size, io.BytesIO(piece), size=len(piece))
        until(lambda: one.transfers.get(transfer.id).state is TransferState.DONE)
        assert len(two.jobs()) == 1
        assert two.original("a.txt", 1)[0].read_bytes() == data


def test_two_processes_do_not_write_one_upload_at_the_same_time(postgres: Any, tmp_path: Path) -> None:
    settings = shared(tmp_path, postgres.database(), job_workers=0)
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def read(self, size: int, /) -> bytes:
            if begun.is_set():
                go_on.wait(30)
            begun.set()
            return b"x" * min(size, 10)

    with core.build(settings) as one, core.build(settings) as two:
        transfer = one.transfers.create("a.txt", 40, filing=Filing())
        sender = threading.Thread(target=lambda: one.transfers.append(transfer.id, 0, Slow(), size=20))
        sender.start()
        assert begun.wait(30)
        with pytest.raises(OffsetConflict):
            two.transfers.append(transfer.id, 0, io.BytesIO(b"y" * 20), size=20)
        go_on.set()
        sender.join()
        done = two.transfers.append(transfer.id, 20, io.BytesIO(b"z" * 20), size=20)
        until(lambda: two.transfers.get(done.id).state is TransferState.DONE)
        assert one.original("a.txt", 1)[0].read_bytes() == b"x" * 20 + b"z" * 20


def test_what_is_due_is_published_once_and_changes_are_followed(postgres: Any, tmp_path: Path) -> None:
    settings = shared(tmp_path, postgres.database(), job_workers=0)
    with core.build(settings) as one, core.build(settings) as two:
        for number in range(4):
            one.add_text(f"doc {number}", text_of(number), draft=True)
        one.work_off()
        soon = datetime.now(UTC) + timedelta(seconds=4)
        for document in one.documents():
            one.schedule(document.doc_key, 1, soon)
        time.sleep(4.1)
        both = [threading.Thread(target=kb.publish_due) for kb in (one, two) * 2]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        with one.catalog.database.read() as tx:
            assert set(Counter(tx.scalars(select(publications.c.version_id))).values()) == {1}
        assert not two.accounts.has_users()
        one.accounts.create_user("first", "a long password 1", Role.ADMIN)
        until(two.accounts.has_users)


def test_processes_count_requests_together_and_alone_without_redis(redis: Any) -> None:
    one, two = (Rates(4, 4, redis.url, "counted") for _ in range(2))
    who = stranger("address", "192.0.2.1")
    assert [rates.ask(who) for rates in (one, two, one, two)] == [0, 0, 0, 0]
    assert one.ask(who) > 0 and two.ask(who) > 0
    for _ in range(4):
        one.failed(who)
    assert two.locked(who) > 0
    redis.kill()
    try:
        assert one.ask(who) == 0
        assert Rates(1, 1, redis.url, "counted").locked(who) == 0
    finally:
        redis.restart()
