"""An attempt that was cancelled never disturbs the one that came after it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import core
from core.catalog.jobs import Attempt
from core.errors import Cancelled, Conflict
from core.model import JobState
from tests.builders import knowledge_base

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
        first = Gate(kb._embedder.embed_passages)
        monkeypatch.setattr(kb._embedder, "embed_passages", first)
        second = Gate(kb._projector.flush)
        job_id = upload(kb)
        assert first.reached.wait(30)
        monkeypatch.setattr(kb._projector, "flush", second)
        left = threading.Event()
        discard = kb._worker._pipeline.discard

        def leaving(version_id: int) -> None:
            discard(version_id)
            left.set()

        monkeypatch.setattr(kb._worker._pipeline, "discard", leaving)
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
        assert [job.attempts for job in taken(1, 1)] == [2]
        raise RuntimeError("too late")

    monkeypatch.setattr(kb._worker._pipeline, "_parse", fail_late)
    kb._worker._pipeline.run(taken(1, 1), threading.Event())
    assert kb.job(job_id).state is JobState.RUNNING
    assert kb.version("a.txt", 1).state == "stored"


def test_two_attempts_do_not_mix_their_chunks(kb: core.KnowledgeBase) -> None:
    job_id = upload(kb)
    (first,) = kb.catalog.jobs.take(1, 1)
    version_id = kb.version("a.txt", 1).id
    kb.cancel(job_id)
    kb.retry(job_id)
    (second,) = kb.catalog.jobs.take(1, 1)
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


@pytest.mark.parametrize("filing", [{}, {"draft": True}])
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
        assert [job.attempts for job in taken(1, 1)] == [2]
        raise RuntimeError("broken")

    monkeypatch.setattr(kb._worker._pipeline, "run", broken)
    kb._worker._work(taken(1, 1))
    assert kb.job(job_id).state is JobState.RUNNING
