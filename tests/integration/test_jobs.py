"""An attempt that was cancelled never disturbs the one that came after it."""

from __future__ import annotations

import io
import os
import signal
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

import core
from core.catalog.jobs.ledger import Attempt, Choice
from core.catalog.schema import jobs, versions
from core.errors import Cancelled, Conflict, ModelUnavailable, ParserFailed, StoreUnavailable
from core.model import JobFilter, JobState
from core.platform import failpoints
from core.platform.child_process import Child
from tests.builders import knowledge_base
from tests.indexes import assert_nothing_is_left_to_do

TEXT = "\n\n".join(f"The colour {n} of the gate is turquoise {n}. " * 40 for n in range(20)).encode()


class Gate:
    """Holds the first call of a function until it is opened."""

    def __init__(self, act: Callable[..., Any]) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self._act, self._first = act, threading.Lock()

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self._first.acquire(blocking=False):
            self.reached.set()
            assert self.opened.wait(30)
        return self._act(*args, **options)


def upload(kb: core.KnowledgeBase, **filing: Any) -> str:
    return str(kb.add_file("a.txt", io.BytesIO(TEXT), **filing).job_id)


def assert_whole(kb: core.KnowledgeBase, job_id: str) -> None:
    job = kb.wait([job_id], timeout_s=30)[0]
    version = kb.version("a.txt", 1)
    assert (job.state, version.state, version.is_published) == (JobState.DONE, "ready", True)
    assert version.chunk_count == kb.preview("a.txt", 1).total_chunks > 1
    kb._projector.flush()
    assert len(dict(kb._keywords.ids())) == version.chunk_count


@pytest.mark.parametrize("again", ["retry", "upload"])
def test_an_attempt_that_notices_late_that_it_was_cancelled_leaves_the_next_one_its_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    with knowledge_base(tmp_path, job_workers=2) as kb:
        first, second = Gate(kb._parser.parse), Gate(kb._embedder.embed_passages)
        monkeypatch.setattr(kb._parser, "parse", first)
        monkeypatch.setattr(kb._embedder, "embed_passages", second)
        job_id = upload(kb)
        assert first.reached.wait(30)
        left = threading.Event()
        discard = kb._worker._pipeline._failures.discard

        def leaving(version_id: int) -> None:
            discard(version_id)
            left.set()

        monkeypatch.setattr(kb._worker._pipeline._failures, "discard", leaving)
        kb.cancel(job_id)
        job_id = kb.retry(job_id).id if again == "retry" else upload(kb)
        assert second.reached.wait(30)
        first.opened.set()
        assert left.wait(30)
        second.opened.set()
        assert_whole(kb, job_id)


def test_a_waiting_job_that_is_cancelled_and_at_once_retried_keeps_its_chunks(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = upload(kb, draft=True)
    discard = kb._worker._pipeline.discard

    def late(version_id: int) -> None:
        monkeypatch.setattr(kb._worker._pipeline, "discard", discard)
        kb.retry(job_id)
        kb.work_off()
        discard(version_id)

    monkeypatch.setattr(kb._worker._pipeline, "discard", late)
    kb.cancel(job_id)
    kb.publish("a.txt", 1)
    assert_whole(kb, job_id)


def test_an_attempt_that_fails_after_it_was_cancelled_does_not_end_the_next_one(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = upload(kb)
    taken = kb.catalog.jobs.take

    def fail_late(*_: object) -> None:
        monkeypatch.undo()
        kb.cancel(job_id)
        kb.retry(job_id)
        assert [job.attempts for job in taken(Choice(1, 1))] == [2]
        raise RuntimeError("too late")

    monkeypatch.setattr(kb._parser, "parse", fail_late)
    kb._worker._pipeline.prepare(taken(Choice(1, 1)), threading.Event())
    assert kb.job(job_id).state is JobState.RUNNING
    assert kb.version("a.txt", 1).state == "stored"


def test_two_attempts_do_not_mix_their_chunks(kb: core.KnowledgeBase) -> None:
    job_id = upload(kb)
    (first,) = kb.catalog.jobs.take(Choice(1, 1))
    version_id = kb.version("a.txt", 1).id
    kb.cancel(job_id)
    kb.retry(job_id)
    (second,) = kb.catalog.jobs.take(Choice(1, 1))
    chunks = kb.catalog.chunks
    kb.catalog.chunks.begin(version_id, Attempt(job_id, second.attempts))
    stale = Attempt(job_id, first.attempts)
    for act in (
        lambda: chunks.begin(version_id, stale),
        lambda: chunks.add(version_id, 1, "a", [core.model.Chunk(0, "text", 0, 4)], stale),
        lambda: chunks.finish(version_id, 1, stale),
    ):
        with pytest.raises(Cancelled):
            act()


def test_a_job_whose_file_was_uploaded_again_is_not_retried_beside_the_new_one(kb: core.KnowledgeBase) -> None:
    first = upload(kb)
    kb.cancel(first)
    second = upload(kb)
    with pytest.raises(Conflict):
        kb.retry(first)
    kb.work_off()
    assert_whole(kb, second)
    with pytest.raises(Conflict):
        kb.retry(first)
    assert kb.version("a.txt", 1).state == "ready"


@pytest.mark.parametrize("filing", [{"early": False}, {"draft": True}])
def test_a_version_without_chunks_is_not_ready(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, filing: dict[str, Any]
) -> None:
    job_id = upload(kb, **filing)
    flush = kb._projector.flush

    def losing() -> None:
        kb.catalog.chunks.begin(kb.version("a.txt", 1).id)
        flush()

    monkeypatch.setattr(kb._projector, "flush", losing)
    kb.work_off()
    monkeypatch.undo()
    job = kb.job(job_id)
    assert (job.state, (job.error or {})["code"]) == (JobState.FAILED, "conflict")
    assert (kb.version("a.txt", 1).state, kb.publications("a.txt")) == ("failed", [])
    kb.retry(job_id)
    kb.work_off()
    assert kb.version("a.txt", 1).chunk_count == kb.preview("a.txt", 1).total_chunks > 1


def test_an_unexpected_error_of_a_former_attempt_does_not_end_the_present_one(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = upload(kb)
    taken = kb.catalog.jobs.take

    def broken(*_: object) -> None:
        kb.cancel(job_id)
        kb.retry(job_id)
        assert [job.attempts for job in taken(Choice(1, 1))] == [2]
        raise RuntimeError("broken")

    monkeypatch.setattr(kb._worker._pipeline, "prepare", broken)
    kb._worker._work(taken(Choice(1, 1)))
    assert kb.job(job_id).state is JobState.RUNNING


class Recorder:
    """The real embedder of a knowledge base, and the order in which it embedded texts."""

    def __init__(self, kb: core.KnowledgeBase) -> None:
        self.texts: list[str] = []
        self.batches: list[int] = []
        self._embed = kb._embedder.embed_passages
        kb._embedder.embed_passages = self  # type: ignore[method-assign]

    def __call__(self, texts: Sequence[str], progress: Any = None) -> Any:
        self.texts += texts
        self.batches.append(len(texts))
        return self._embed(texts)

    def first(self, mark: str) -> int:
        """Return how many texts were embedded before the last one with the mark."""
        return max(at for at, text in enumerate(self.texts) if mark in text)


def of_chunks(mark: str, count: int) -> bytes:
    return "\n\n".join(f"# {mark} {at}\n\n" + f"The {mark} of gate {at} is red. " * 30 for at in range(count)).encode()


def queue_file(kb: core.KnowledgeBase, mark: str, count: int, **filing: Any) -> str:
    return str(kb.add_file(f"{mark}.md", io.BytesIO(of_chunks(mark, count)), **filing).job_id)


@pytest.mark.parametrize("actor", ["ann", "bob"])
def test_a_page_does_not_wait_for_a_large_document_of_the_same_user_or_of_another(
    kb: core.KnowledgeBase, actor: str
) -> None:
    recorder = Recorder(kb)
    queue_file(kb, "large", 400, actor="ann")
    queue_file(kb, "page", 1, actor=actor)
    kb.work_off()
    assert recorder.first("page") < 64
    assert len(recorder.texts) == len(set(recorder.texts)) > 300


def test_a_user_with_one_document_is_not_behind_all_those_of_another(kb: core.KnowledgeBase) -> None:
    recorder = Recorder(kb)
    for number in range(30):
        queue_file(kb, f"many{number}", 6, actor="ann", priority=5)
    queue_file(kb, "single", 6, actor="bob")
    kb.work_off()
    assert recorder.first("single") < 64 + 16


def test_a_higher_priority_is_embedded_first(kb: core.KnowledgeBase) -> None:
    recorder = Recorder(kb)
    first = queue_file(kb, "first", 100)
    queue_file(kb, "second", 100, priority=1)
    third = queue_file(kb, "third", 100)
    kb.prioritise(third, 2)
    kb.work_off()
    assert recorder.first("third") < recorder.first("second") < recorder.first("first")
    assert kb.job(first).priority == 0


def test_a_priority_that_is_given_during_embedding_counts_at_once(kb: core.KnowledgeBase) -> None:
    recorder = Recorder(kb)
    queue_file(kb, "first", 200)
    second = queue_file(kb, "second", 200)
    assert kb._worker._prepare_some(large=None)
    assert kb._worker._embed_some()
    kb.prioritise(second, 5)
    kb.work_off()
    assert recorder.first("second") < recorder.first("first")


def test_texts_of_several_documents_share_a_batch(kb: core.KnowledgeBase) -> None:
    recorder = Recorder(kb)
    for number in range(32):
        queue_file(kb, f"small{number}", 1)
    kb.work_off()
    assert recorder.batches == [16, 16]


def test_a_text_that_breaks_the_embedder_fails_its_own_document_alone(kb: core.KnowledgeBase) -> None:
    embed = kb._embedder.embed_passages

    def breaking(texts: Sequence[str], progress: Any = None) -> Any:
        if any("poison" in text for text in texts):
            raise ValueError("broken")
        return embed(texts)

    kb._embedder.embed_passages = breaking  # type: ignore[method-assign]
    queued = [queue_file(kb, name, 3, early=False) for name in ("good", "poison", "fine")]
    kb.work_off()
    assert [kb.job(job_id).state for job_id in queued] == [JobState.DONE, JobState.FAILED, JobState.DONE]
    assert_nothing_is_left_to_do(kb)


def test_a_store_that_is_down_is_waited_for_and_noted_once(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.platform.retrying._PAUSE_S", 0.01)
    job_id = upload(kb)
    upsert, refused = kb._keywords.upsert, iter(range(3))

    def down(rows: Any) -> None:
        for _ in refused:
            raise StoreUnavailable("The store is down.")
        upsert(rows)

    monkeypatch.setattr(kb._keywords, "upsert", down)
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE
    assert [event.code for event in kb.job_log(job_id)].count("waiting_store") == 1


def test_what_a_process_leaves_behind_goes_on_from_its_last_finished_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowledge_base(tmp_path) as kb:
        job_id = queue_file(kb, "book", 100)
        assert kb._worker._prepare_some(large=None)
        assert kb._worker._embed_some()
    with knowledge_base(tmp_path) as kb:
        assert kb.job(job_id).state is JobState.QUEUED
        monkeypatch.setattr(kb._parser, "parse", None)
        monkeypatch.setattr(kb.catalog.chunks, "begin", None)
        recorder = Recorder(kb)
        kb.work_off()
        job = kb.job(job_id)
        assert (job.state, job.attempts) == (JobState.DONE, 2)
        assert len(recorder.texts) == kb.version("book.md", 1).chunk_count - 64
        assert_nothing_is_left_to_do(kb)


def test_cancelling_an_archive_cancels_those_of_its_documents_that_wait(kb: core.KnowledgeBase) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in "ab":
            archive.writestr(f"{name}.txt", f"The document {name} tells of turquoise.")
    data.seek(0)
    parent = str(kb.add_archive("both.zip", data).job_id)
    assert kb._worker._prepare_some(large=None)
    assert len(kb.jobs(JobFilter(parent_id=parent))) == 2
    kb.catalog.jobs.requeue_interrupted()
    with kb.catalog.database.write() as tx:
        tx.execute(update(jobs).where(jobs.c.id == parent).values(state=JobState.QUEUED))
    kb.cancel(parent)
    assert {job.state for job in kb.jobs()} == {JobState.CANCELLED}


def test_closing_does_not_wait_for_a_file_that_is_being_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = threading.Event()
    with knowledge_base(tmp_path, job_workers=1) as kb:
        begin = Child.begin

        def beginning(child: Child, order: Any, timeout_s: float) -> None:
            # A child that is stopped works on its file for ever.
            os.kill(child._process.pid, signal.SIGSTOP)
            reached.set()
            begin(child, order, timeout_s)

        monkeypatch.setattr(Child, "begin", beginning)
        job_id = upload(kb)
        assert reached.wait(30)
    assert not any(thread.is_alive() for thread in kb._worker._threads)
    monkeypatch.undo()
    with knowledge_base(tmp_path) as kb:
        assert kb.job(job_id).state is JobState.QUEUED
        kb.work_off()
        assert_whole(kb, job_id)


def test_starting_all_failed_jobs_again_shows_no_document_that_was_deleted_since(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(kb)
    kb.work_off()
    with monkeypatch.context() as patch:
        patch.setattr(kb._parser, "parse", Failing(ParserFailed("The file cannot be read.")))
        failed = str(kb.add_file("a.txt", io.BytesIO(TEXT + b"More.")).job_id)
        kb.work_off()
    kb.delete("a.txt")
    assert [job.id for job in kb.retry_failed()] == [failed]
    kb.work_off()
    assert kb.job(failed).state is JobState.DONE
    assert (kb.document("a.txt").state, kb.document("a.txt").published_version) == ("deleted", None)


class Failing:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self, *_: Any) -> Any:
        raise self._error


def test_a_version_that_is_purged_while_its_keywords_are_written_is_not_noted_as_findable(
    kb: core.KnowledgeBase,
) -> None:
    upload(kb)
    failpoints.on_failpoint(lambda name: kb.purge("a.txt") if name == "ingest.keywords.flushed" else None)
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)
    with kb.catalog.database.read() as tx:
        assert tx.execute(select(versions.c.state, versions.c.keyword_ready)).all() == [("purged", False)]


class Killed(BaseException):
    """The process ends here, as far as a thread can."""


@pytest.mark.parametrize(
    ("where", "state"),
    [
        ("ingest.chunks.added", JobState.CANCELLED),
        ("ingest.keywords.flushed", JobState.CANCELLED),
        ("ingest.job.failed", JobState.FAILED),
    ],
)
def test_what_was_cancelled_or_failed_when_the_process_died_leaves_no_trace_after_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, state: JobState
) -> None:
    kb = knowledge_base(tmp_path)
    job_id = upload(kb, early=False)
    if state is JobState.FAILED:
        monkeypatch.setattr(kb._embedder, "embed_passages", Failing(ModelUnavailable("The model is gone.")))

    def die(reached: str) -> None:
        if reached == where:
            failpoints.on_failpoint(None)
            if state is JobState.CANCELLED:
                kb.cancel(job_id)
            raise Killed

    failpoints.on_failpoint(die)
    try:
        with pytest.raises(Killed):
            kb.work_off()
    finally:
        failpoints.on_failpoint(None)
        kb._worker._taken.clear()
        kb.close()
    with knowledge_base(tmp_path) as kb:
        assert (kb.job(job_id).state, kb.version("a.txt", 1).state) == (state, state)
        kb._projector.flush()
        assert (kb.preview("a.txt", 1).total_chunks, dict(kb._keywords.ids())) == (0, {})
        kept = kb.catalog.documents.parsed_sha256(1)
        assert (kept is None) == (state is JobState.CANCELLED)
        assert len([each for each in (tmp_path / "data" / "blobs").rglob("*") if each.is_file()]) == 1 + bool(kept)
        assert_nothing_is_left_to_do(kb)
