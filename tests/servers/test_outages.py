"""PostgreSQL is killed for seconds under living workers, or with them: every job goes on, and who starts waits for it.

The clock of all of them is set back by hours: leases end, and drafts are published, by the clock as it is then.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, or_, select, update

import core
from core.catalog.jobs.leases import clock as catalog_clock
from core.catalog.jobs.leases import lost, too_long
from core.catalog.schema import jobs as job_table
from core.catalog.schema import versions as version_table
from core.errors import StoreUnavailable
from core.model import JobState
from tests.servers import clock as clocks
from tests.servers import postgres as postgresql
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


def goes_on(kb: core.KnowledgeBase) -> bool:
    """Tell whether nothing is in the hands of who has said nothing for the time of a lease, or may be silent longer."""
    with kb.catalog.database.read() as tx:
        which = or_(lost(tx), too_long(tx, LEASE_S))
        return tx.scalar(select(job_table.c.id).where(which).limit(1)) is None


def begun(kb: core.KnowledgeBase) -> list[str]:
    """Add documents that take their time and others, and wait until workers are at some and done with others."""
    names = [str(kb.add_file(f"drawing {n}.pdf", io.BytesIO(slow_pdf(2, 20_000 + n))).job_id) for n in range(6)]
    names += [str(kb.add_text(f"doc {number}", text_of(number)).job_id) for number in range(30)]
    state = job_table.c.state
    until(lambda: count(kb, state == JobState.RUNNING) and count(kb, state == JobState.DONE), 600)
    return names


def all_are_done(kb: core.KnowledgeBase, names: list[str]) -> None:
    ended = kb.wait(names, timeout_s=600)
    assert [(job.name, job.state, job.error) for job in ended if job.state is not JobState.DONE] == []
    assert len(kb.documents()) == len(names)


def count(kb: core.KnowledgeBase, *which: Any) -> int:
    with kb.catalog.database.read() as tx:
        return int(tx.scalar(select(func.count()).select_from(job_table).where(*which)) or 0)


def test_every_job_goes_on_within_two_leases_after_the_server_was_killed(
    postgres: PostgresServer, redis: Any, tmp_path: Path
) -> None:
    settings = shared(tmp_path, postgres.database(), redis.url)
    with core.build(settings) as kb, workers(settings, 0, 0) as processes:
        names = begun(kb)
        with away(postgres), pytest.raises(StoreUnavailable):
            kb.add_text("while it is away", "Nobody can be told yes.")
        until(lambda: goes_on(kb), 2 * LEASE_S + LOADED_S)
        all_are_done(kb, names)
        assert [process.poll() for process in processes] == [None] * len(processes)


def test_every_job_goes_on_after_all_workers_died_while_the_server_was_away(
    postgres: PostgresServer, redis: Any, tmp_path: Path
) -> None:
    settings = shared(tmp_path, postgres.database(), redis.url)
    with core.build(settings) as kb:
        with workers(settings, 0, 0):
            names = begun(kb)
            postgres.kill_all()
        assert_is_away(kb)
        with workers(settings, 0, 0) as others:
            until(lambda: "is asked again" in (tmp_path / "log").read_text(), 600)
            postgres.restart()
            until(lambda: goes_on(kb), 2 * LEASE_S + LOADED_S)
            all_are_done(kb, names)
            assert [process.poll() for process in others] == [None] * len(others)


def assert_is_away(kb: core.KnowledgeBase) -> None:
    with pytest.raises(StoreUnavailable):
        kb.add_text("while it is away", "Nobody can be told yes.")


@pytest.mark.skipif(clocks.missing() is not None, reason=clocks.missing() or "")
def test_leases_end_and_drafts_are_published_when_the_clock_of_all_was_set_back_by_three_hours(
    redis: Any, tmp_path: Path
) -> None:
    if reason := postgresql.missing():
        pytest.skip(reason)
    clock = clocks.MachineClock(Path(tempfile.mkdtemp(prefix="evorag-clock-")) / "clock")
    clock.file.parent.chmod(0o755)
    with postgresql.running(tmp_path, clock=clock) as server:
        settings = shared(tmp_path, server.database(), redis.url)
        with core.build(settings) as kb:
            draft = str(kb.add_text("draft", text_of(99), draft=True).job_id)
            with workers(settings, 0, 0, **clock.variables) as killed:
                kb.finish(draft, 300)
                names = [draft, *begun(kb)]
                clock.set("-3h")
                until(lambda: datetime.now(UTC) - now_of(kb) > timedelta(hours=2.9))
                for process in killed:
                    process.kill()
            # Whoever lives has queued some of them again by now: their leases end later than any that is given now can.
            assert count(kb, job_table.c.state.in_((JobState.RUNNING, JobState.QUEUED)))
            with workers(settings, 0, 0, **clock.variables):
                until(lambda: goes_on(kb), 2 * LEASE_S + LOADED_S)
                soon = now_of(kb) + timedelta(seconds=2)
                with kb.catalog.database.write() as tx:
                    own = version_table.c.is_draft.is_(True)
                    tx.execute(update(version_table).where(own).values(publish_at=soon, publish_actor="ada"))
                all_are_done(kb, [*names, str(kb.add_text("another", text_of(98)).job_id)])
                until(lambda: kb.document("draft.txt").published_version == 1, 60)
    shutil.rmtree(clock.file.parent)


def now_of(kb: core.KnowledgeBase) -> datetime:
    with kb.catalog.database.read() as tx:
        return catalog_clock(tx)


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
