"""The ledger shows everyone the jobs of what they see, tells of every change, and chooses fairly what is next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import core
from core.access import acting
from core.catalog.jobs.changes import Changes
from core.catalog.jobs.events import KEPT, record, shorten
from core.catalog.jobs.job_scheduler import Rotation
from core.catalog.jobs.leases import Lease
from core.catalog.jobs.ledger import Choice, NewJob
from core.errors import Conflict, NotFound
from core.model import JobFilter, JobKind, JobState, Principal, Role, Stage

ANN = Principal("ann", Role.EDITOR, 1)
BOB = Principal("bob", Role.EDITOR, 2)
ROOT = Principal("root", Role.ADMIN, 3)


def queue(kb: core.KnowledgeBase, name: str, **values: Any) -> str:
    given = {"kind": JobKind.UNPACK, "name": name, "size_bytes": 1, **values}
    return kb.catalog.jobs.add(NewJob(**given))


ELSEWHERE = Lease("elsewhere", 600.0)
"""What nobody has a lease of is queued again by the process beside the test."""


def taken(kb: core.KnowledgeBase, times: int, **choice: Any) -> list[str]:
    rotation = Rotation()
    names = []
    for _ in range(times):
        for job in kb.catalog.jobs.take(Choice(1, 1, rotation=rotation, **choice), ELSEWHERE):
            names.append(job.name)
            rotation.had_turn(job.actor)
    return names


def names(kb: core.KnowledgeBase, wanted: JobFilter, **options: Any) -> list[str]:
    return [job.name for job in kb.jobs(wanted, **options)]


def refusal(act: Callable[[str], Any], job_id: str) -> str:
    with pytest.raises(NotFound) as told:
        act(job_id)
    return str(told.value).replace(job_id, "")


def test_a_private_job_is_there_for_its_owner_and_administrators_only(kb: core.KnowledgeBase) -> None:
    with acting(ANN):
        private = kb.add_text("secret", "mine alone", private=True).job_id or ""
    archive = queue(kb, "a.zip", owner_id=ANN.user_id)
    public = kb.add_text("open", "for all").job_id or ""
    for who, seen in ((ANN, {private, archive, public}), (ROOT, {private, archive, public}), (BOB, {public})):
        with acting(who):
            assert {job.id for job in kb.jobs()} == seen
            assert sum(kb.job_counts().values()) == len(seen)
    with acting(BOB):
        for job_id in (private, archive):
            acts = [lambda i: kb.prioritise(i, 1), lambda i: kb.wait([i]), kb.job, kb.job_log, kb.cancel, kb.retry]
            assert {refusal(act, job_id) for act in acts} == {refusal(kb.job, "0" * 32)}
        with pytest.raises(NotFound):
            kb.jobs(before=private)


def test_jobs_are_filtered_by_literal_text_and_read_page_by_page(kb: core.KnowledgeBase) -> None:
    for name in ("50%_a", "50xya", "Other"):
        queue(kb, name, actor="ann" if name == "Other" else "bob")
    assert names(kb, JobFilter(search="50%_")) == ["50%_a"]
    assert names(kb, JobFilter(search="oTH")) == ["Other"]
    assert names(kb, JobFilter(actor="ann")) == ["Other"]
    assert names(kb, JobFilter(states=(JobState.DONE,))) == names(kb, JobFilter(kinds=("ingest",))) == []
    every = [job.id for job in kb.jobs()]
    pages = [kb.jobs(limit=2), kb.jobs(limit=2, before=every[1])]
    assert [job.id for page in pages for job in page] == every


def test_what_was_changed_is_told_and_can_be_asked_for(kb: core.KnowledgeBase) -> None:
    first = queue(kb, "first")
    seen = kb.jobs_changed(0, 0)
    assert seen == kb.job(first).change > 0
    assert kb.jobs(changed_since=seen) == []
    told: list[int] = []
    waiting = threading.Thread(target=lambda: told.append(kb.jobs_changed(seen, 30)))
    waiting.start()
    second = queue(kb, "second")
    waiting.join(30)
    assert told == [seen + 1]
    assert [job.id for job in kb.jobs(changed_since=seen)] == [second]
    kb.prioritise(first, 3)
    assert [job.id for job in kb.jobs(changed_since=told[0])] == [first]


def test_changes_of_other_processes_are_seen() -> None:
    newest = iter([4, 4, 9])
    assert Changes(lambda: next(newest)).wait(4, 30) == 9


def test_a_change_that_is_rolled_back_is_not_told(kb: core.KnowledgeBase) -> None:
    seen = kb.jobs_changed(0, 0)
    with pytest.raises(Conflict):
        kb.cancel(queue(kb, "a")) and kb.prioritise(kb.jobs()[0].id, 1)
    assert kb.jobs_changed(0, 0) == seen + 2


def test_users_have_their_turns_one_after_another(kb: core.KnowledgeBase) -> None:
    for number in range(4):
        queue(kb, f"a{number}", actor="ann")
    for number in range(2):
        queue(kb, f"b{number}", actor="bob")
    queue(kb, "c0", actor="cid")
    assert taken(kb, 7) == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_a_priority_counts_among_the_jobs_of_one_user(kb: core.KnowledgeBase) -> None:
    for number in range(3):
        queue(kb, f"a{number}", actor="ann", priority=number)
    queue(kb, "b0", actor="bob", priority=-5)
    assert taken(kb, 4) == ["a2", "b0", "a1", "a0"]


def test_large_files_and_archives_are_chosen_apart(kb: core.KnowledgeBase) -> None:
    queue(kb, "archive")
    queue(kb, "large", kind=JobKind.INGEST, size_bytes=10**9)
    queue(kb, "small", kind=JobKind.INGEST)
    assert taken(kb, 3, large=False) == ["small"]
    assert taken(kb, 3, large=True) == ["archive", "large"]


def test_a_log_tells_what_happened_and_keeps_the_newest_lines(kb: core.KnowledgeBase) -> None:
    job_id = str(kb.add_text("a", "medlar").job_id)
    kb.work_off()
    told = [(event.code, event.stage) for event in kb.job_log(job_id)]
    assert told == [
        ("queued", Stage.STORED),
        ("started", Stage.STORED),
        ("stage", Stage.PARSING),
        ("stage", Stage.CHUNKING),
        ("published", Stage.KEYWORDS),
        ("stage", Stage.KEYWORDS),
        ("stage", Stage.EMBEDDING),
        ("stage", Stage.INDEXING),
        ("done", Stage.PUBLISHED),
    ]
    assert "medlar" not in repr(kb.job_log(job_id))
    with kb.catalog.database.write() as tx:
        for number in range(KEPT + 10):
            record(tx, [job_id], "retried", values={"number": number})
        shorten(tx, [job_id])
    kept = kb.job_log(job_id)
    assert (len(kept), kept[-1].values["number"]) == (KEPT, KEPT + 9)
    assert kb.job_log(job_id, after=kept[-2].seq) == kept[-1:]


def test_a_job_tells_what_it_did_and_what_it_took(kb: core.KnowledgeBase) -> None:
    with acting(ANN):
        job_id = str(kb.add_text("a", "medlar " * 50, priority=2).job_id)
    kb.work_off()
    job = kb.job(job_id)
    assert (job.actor, job.priority, job.name, job.size_bytes) == ("ann", 2, "a.txt", 350)
    assert job.created_at <= job.started_at <= job.finished_at  # type: ignore[operator]
    counts = {"parsing": 350, "chunking": 1, "keywords": 1, "embedding": 1, "indexing": 1}
    assert {stage: job.stage_counts[stage] for stage in counts} == counts
    assert job.resources["embedded_texts"] == 1
    assert job.resources["cpu_s"] >= 0 < job.resources["peak_bytes"]


def test_a_job_at_which_process_after_process_died_fails(kb: core.KnowledgeBase) -> None:
    job_id, other = (str(kb.add_text(name, "medlar").job_id) for name in "ab")
    for number in range(5):
        assert kb.job(job_id).state is JobState.QUEUED, number
        kb.catalog.jobs.take(Choice(9, 10**6))
        kb.catalog.jobs.requeue_interrupted()
    job = kb.job(job_id)
    assert (job.state, (job.error or {})["code"], job.attempts) == (JobState.FAILED, "interrupted", 5)
    assert kb.version("a.txt", 1).state == "failed"
    assert kb.job(other).state is JobState.QUEUED
    kb.retry(job_id)
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE


def test_own_changes_are_taken_once_and_those_of_others_never() -> None:
    changes = Changes(lambda: 0)
    changes.committed(3)
    changes.tell(4)
    changes.committed(5)
    assert changes.take_own(30) == {3, 5}
    assert changes.take_own(0) == set()
    assert changes.wait(4, 30) == 5
