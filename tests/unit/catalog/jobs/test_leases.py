"""Jobs of a process that says nothing any more are another's; those of one that lives are not."""

from __future__ import annotations

import threading
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import core
from core.catalog.jobs.leases import Heartbeat
from core.catalog.jobs.ledger import Attempt, Choice, Lease, Step
from core.catalog.schema import jobs
from core.cli import worker_process
from core.errors import Cancelled, CatalogUnavailable, StoreUnavailable
from core.jobs import local_queue
from core.jobs.local_queue import LocalJobs
from core.model import JobState, Stage
from tests.builders import knowledge_base

MINE, OTHERS = Lease("mine", 60.0), Lease("others", 60.0)


def taken(kb: core.KnowledgeBase, lease: Lease | None = MINE) -> core.model.Job:
    kb.add_text("a", "The pump is checked.")
    (job,) = kb.catalog.jobs.take(Choice(1, 1), lease)
    return job


def pass_time(kb: core.KnowledgeBase, seconds: float) -> None:
    """Have all leases end so much earlier."""
    with kb.catalog.database.write() as tx:
        ends = datetime.now(UTC) + timedelta(seconds=60 - seconds)
        tx.execute(update(jobs).where(jobs.c.leased_until.is_not(None)).values(leased_until=ends))


def test_a_job_is_given_to_another_once_its_lease_is_over(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        job = taken(kb)
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 0
        pass_time(kb, 61)
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 1
        (again,) = kb.catalog.jobs.take(Choice(1, 1), OTHERS)
        assert (again.id, again.attempts) == (job.id, job.attempts + 1)
        late = Attempt(job.id, job.attempts)
        assert kb.catalog.jobs.advance([Step(late, Stage.PARSING)]) == set()
        with pytest.raises(Cancelled):
            kb.catalog.jobs.set_payload(late, {})
        assert [event.code for event in kb.job_log(job.id)] == ["queued", "started", "interrupted", "started"]


def test_a_process_that_lives_keeps_its_jobs(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        job = taken(kb)
        pass_time(kb, 59)
        kb.catalog.jobs.renew(MINE, [job.id])
        kb.catalog.jobs.put_back([job.id], OTHERS)
        pass_time(kb, 1)
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 0
        assert kb.job(job.id).state is JobState.RUNNING
        kb.catalog.jobs.put_back([job.id], MINE)
        assert kb.job(job.id).state is JobState.QUEUED


def test_nobody_renews_what_another_has(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        job = taken(kb)
        pass_time(kb, 61)
        kb.catalog.jobs.renew(OTHERS, [job.id])
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 1


def test_what_a_process_has_taken_without_learning_it_ends_with_its_lease(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        taken(kb)
        pass_time(kb, 61)
        kb.catalog.jobs.renew(MINE, [])
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 1


def test_a_clock_that_is_set_back_by_hours_gives_nobody_a_longer_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        job = taken(kb)
        hours_ago = datetime.now(UTC) - timedelta(hours=5)
        for at, queued in ((0, 0), (MINE.seconds - 1, 0), (MINE.seconds + 1, 1)):
            now = hours_ago + timedelta(seconds=at)
            for place in ("leases", "ledger"):
                monkeypatch.setattr(f"core.catalog.jobs.{place}.clock", lambda tx, now=now: now)
            assert kb.catalog.jobs.requeue_lost(MINE.seconds) == queued
        assert kb.job(job.id).state is JobState.QUEUED


def test_jobs_that_fail_while_the_ledger_is_away_are_queued_again_once_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("An outage.")

    with knowledge_base(tmp_path) as kb:
        ids = [kb.add_text(name, f"The {name} is checked.").job_id for name in ("pump", "valve")]
        ledger = LocalJobs(kb.catalog, kb._worker._pipeline, 0, 2, MINE.seconds)
        with monkeypatch.context() as outage:
            outage.setattr(kb._worker._pipeline, "prepare", away)
            outage.setattr(kb.catalog.jobs, "is_running", away)
            with pytest.raises(StoreUnavailable):
                ledger._prepare_some(large=None)
        assert [kb.job(str(job_id)).state for job_id in ids] == [JobState.RUNNING] * 2
        ledger._put_back_lost()
        assert [kb.job(str(job_id)).state for job_id in ids] == [JobState.QUEUED] * 2
        ledger.work_off()
        assert [kb.job(str(job_id)).state for job_id in ids] == [JobState.DONE] * 2


@pytest.mark.parametrize("at", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize(
    "part", ["jobs.advance", "jobs.running", "indexing.of_all", "embeddings.missing", "embeddings.add"]
)
def test_outage_of_a_moment_fails_no_job_wherever_it_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, at: int
) -> None:
    """The server is back before anybody could write that a job has failed of it."""
    owner, name = part.split(".")
    monkeypatch.setattr(local_queue, "_RECOVERY_S", 0.01)
    with knowledge_base(tmp_path, job_workers=1) as kb:
        table, calls = getattr(kb.catalog, owner), count(1)
        whole = getattr(table, name)

        def cut(*given: Any, **more: Any) -> Any:
            if next(calls) == at:
                raise CatalogUnavailable("An outage.")
            return whole(*given, **more)

        monkeypatch.setattr(table, name, cut)
        ids = [str(kb.add_text(each, f"The {each} is checked.").job_id) for each in ("pump", "valve", "gauge")]
        assert {job.state for job in kb.wait(ids, timeout_s=120)} == {JobState.DONE}
        assert {document.published_version for document in kb.documents()} == {1}


def test_a_worker_that_starts_while_the_catalogue_is_away_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_FIRST_PAUSE_S", 0.01)
    tries: list[str] = []

    def open_all() -> str:
        tries.append("asked")
        if len(tries) < 3:
            raise StoreUnavailable("An outage.")
        return "open"

    assert worker_process.await_servers(open_all, threading.Event()) == "open"
    ended = threading.Event()
    ended.set()
    assert worker_process.await_servers(open_all, ended) is None
    assert len(tries) == 3


def test_a_job_that_nobody_leased_is_lost(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        taken(kb, None)
        assert kb.catalog.jobs.requeue_lost(MINE.seconds) == 1


def test_after_renewals_that_failed_or_came_late_others_have_a_whole_lease_to_renew_theirs() -> None:
    heart = Heartbeat(Lease("mine", 60.0), fair_from=0)
    heart.renewed(0)
    assert heart.is_fair(1) and not heart.is_due(19) and heart.is_due(20)
    heart.failed()
    assert heart.is_due(20) and not heart.is_fair(20)
    heart.renewed(30)
    assert not heart.is_fair(89) and heart.is_fair(90)
    heart.renewed(50)
    heart.renewed(200)
    assert not heart.is_fair(259) and heart.is_fair(260)


def test_after_an_outage_jobs_are_queued_again_once_their_workers_could_renew_their_leases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        acts, enough = [], threading.Event()

        def renew(lease: Lease, held: Collection[str]) -> None:
            acts.append("renewed")
            if len(acts) == 1:
                raise StoreUnavailable("An outage.")

        def requeue_lost(_: float) -> int:
            acts.append("queued again")
            enough.set()
            return 0

        ledger = LocalJobs(kb.catalog, kb._worker._pipeline, 0, 1, 0.3)
        monkeypatch.setattr(kb.catalog.jobs, "renew", renew)
        monkeypatch.setattr(kb.catalog.jobs, "requeue_lost", requeue_lost)
        ledger._leasing.start()
        assert enough.wait(30)
        ledger._ended_all.set()
        ledger._leasing.join(30)
        assert acts[:3] == ["renewed"] * 3


@pytest.mark.parametrize(("is_alone", "state"), [(True, JobState.QUEUED), (False, JobState.RUNNING)])
def test_who_comes_to_others_after_an_outage_does_not_take_their_jobs_at_once(
    tmp_path: Path, is_alone: bool, state: JobState
) -> None:
    with knowledge_base(tmp_path) as kb:
        job = taken(kb)
        pass_time(kb, 61)
        ledger = LocalJobs(kb.catalog, kb._worker._pipeline, 0, 1, 60.0, is_alone=is_alone)
        ledger.start()
        assert kb.job(job.id).state is state
        ledger._ended_all.set()
        ledger._leasing.join(30)
