"""PostgreSQL is killed for seconds under living workers: every job goes on, and a worker that starts waits for it.

Of a clock that is set back under leases ``tests/unit/catalog/jobs/test_leases.py`` tells more.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

import core
from core.catalog.jobs.leases import lost
from core.catalog.schema import jobs as job_table
from core.errors import StoreUnavailable
from core.model import JobState
from tests.servers.postgres import PostgresServer
from tests.servers.test_celery import LEASE_S, shared, text_of, workers
from tests.unit.ingest.documents import slow_pdf
from tests.waiting import until

AWAY_S = 1.5 * LEASE_S
"""Longer than a lease, so that all that were given are over when the server is back."""
LOADED_S = 10.0
"""What a machine with other work may add to two leases."""


@contextmanager
def away(server: PostgresServer) -> Iterator[None]:
    """Kill the server with all its children at once, and start it on the same folder after the block."""
    server.kill_all()
    began = time.monotonic()
    try:
        yield
        time.sleep(max(0.0, began + AWAY_S - time.monotonic()))
    finally:
        server.restart()


def count(kb: core.KnowledgeBase, *which: Any) -> int:
    with kb.catalog.database.read() as tx:
        return int(tx.scalar(select(func.count()).select_from(job_table).where(*which)) or 0)


def test_every_job_goes_on_within_two_leases_after_the_server_was_killed(
    postgres: PostgresServer, redis: Any, tmp_path: Path
) -> None:
    settings = shared(tmp_path, postgres.database(), redis.url)
    is_running = job_table.c.state == JobState.RUNNING
    with core.build(settings) as kb, workers(settings, 0, 0) as processes:
        names = [str(kb.add_file(f"drawing {n}.pdf", io.BytesIO(slow_pdf(2, 20_000 + n))).job_id) for n in range(6)]
        names += [str(kb.add_text(f"doc {number}", text_of(number)).job_id) for number in range(30)]
        until(lambda: count(kb, is_running) and count(kb, job_table.c.state == JobState.DONE), 600)
        with away(postgres), pytest.raises(StoreUnavailable):
            kb.add_text("while it is away", "Nobody can be told yes.")

        def goes_on() -> bool:
            """Nothing is in the hands of who has said nothing for the time of a lease."""
            with kb.catalog.database.read() as tx:
                return tx.scalar(select(job_table.c.id).where(lost(tx)).limit(1)) is None

        until(goes_on, 2 * LEASE_S + LOADED_S)
        ended = kb.wait(names, timeout_s=600)
        assert [(job.name, job.state, job.error) for job in ended if job.state is not JobState.DONE] == []
        assert [process.poll() for process in processes] == [None] * len(processes)
        assert len(kb.documents()) == len(names)


def test_worker_that_starts_while_the_server_is_away_waits_for_it_and_works(
    postgres: PostgresServer, redis: Any, tmp_path: Path
) -> None:
    settings = shared(tmp_path, postgres.database(), redis.url)
    with core.build(settings) as kb:
        waits = str(kb.add_text("before", text_of(1)).job_id)
        with away(postgres), workers(settings, 0) as (process,):
            log = tmp_path / "log"
            until(lambda: "is asked again" in log.read_text(), 600)
            assert process.poll() is None
            postgres.restart()
            assert kb.finish(waits, 300).state is JobState.DONE
            assert kb.finish(str(kb.add_text("after", text_of(2)).job_id), 300).state is JobState.DONE
            postgres.kill_all()
        assert process.poll() is not None
