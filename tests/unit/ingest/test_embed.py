"""The lane of embedding: an attempt that is over leaves the next one of the same job where it is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

import core
from core.catalog.jobs import stage_run
from core.errors import ModelUnavailable
from core.ingest import embed as lane
from core.model import JobState
from core.ports import Progress, Vector

LONG = "\n\n".join(f"# Gate {number}\n\n" + f"turquoise{number} " * 120 for number in range(100)).encode()
Embed = Callable[[Sequence[str]], Vector]


def add(kb: core.KnowledgeBase, name: str) -> str:
    return str(kb.add_file(name, io.BytesIO(LONG.replace(b"turquoise", name.encode()))).job_id)


def start_again(kb: core.KnowledgeBase, job_id: str) -> None:
    """Bring the next attempt of a job into the lane."""
    kb.cancel(job_id)
    kb.retry(job_id)
    assert kb._worker._prepare_some(large=None)


@pytest.mark.parametrize("error", [None, ModelUnavailable("The model is gone."), RuntimeError("unexpected")])
def test_a_round_that_ends_after_its_job_was_started_again_leaves_the_next_attempt(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    monkeypatch.setattr(stage_run, "_INTERVAL_S", 0.0)
    embed: Embed = kb._embedder.embed_passages
    job_id, calls = add(kb, "a.md"), 0

    def embedding(texts: Sequence[str], progress: Progress | None = None) -> Vector:
        nonlocal calls
        calls += 1
        if calls == 1:
            start_again(kb, job_id)
            if error is not None:
                raise error
        return embed(texts)

    monkeypatch.setattr(kb._embedder, "embed_passages", embedding)
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE
    assert kb.version("a.md", 1).is_published


def test_a_document_that_fails_alone_leaves_the_next_attempt_of_its_job(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed: Embed = kb._embedder.embed_passages
    first, second = add(kb, "a.md"), add(kb, "b.md")
    calls = 0

    def embedding(texts: Sequence[str], progress: Progress | None = None) -> Vector:
        nonlocal calls
        calls += 1
        if calls == 2:
            start_again(kb, first)
        if calls <= 2:
            raise RuntimeError("unexpected")
        return embed(texts)

    monkeypatch.setattr(kb._embedder, "embed_passages", embedding)
    kb.work_off()
    assert {kb.job(first).state, kb.job(second).state} == {JobState.DONE}


def test_cancelling_leaves_the_attempt_that_was_started_meanwhile(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = add(kb, "a.md")
    assert kb._worker._prepare_some(large=None)
    drop = kb._worker._pipeline.queue.drop

    def dropping(ended: str) -> bool:
        monkeypatch.undo()
        was_there = drop(ended)
        kb.retry(ended)
        assert kb._worker._prepare_some(large=None)
        return drop(ended) or was_there

    monkeypatch.setattr(kb._worker._pipeline.queue, "drop", dropping)
    kb.cancel(job_id)
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE


def test_texts_that_another_process_never_gives_up_are_embedded_here_in_the_end(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    @contextmanager
    def held_elsewhere(model: str, hashes: Sequence[bytes]) -> Iterator[set[bytes]]:
        nonlocal asked
        asked += 1
        yield set()

    monkeypatch.setattr(kb.catalog.embeddings, "claimed", held_elsewhere)
    monkeypatch.setattr(lane, "LOOK_AGAIN_S", 0.01)
    monkeypatch.setattr(lane, "PATIENCE_S", 0.1)
    job_id = add(kb, "a.md")
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE
    assert asked > 2


def test_what_another_process_kept_meanwhile_is_not_embedded_again(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeddings, embed = kb.catalog.embeddings, kb._embedder.embed_passages
    missing, given = embeddings.missing, 0

    def kept_meanwhile(version_id: int, model: str, after: int, limit: int) -> object:
        page = missing(version_id, model, after, limit)
        texts = embeddings.texts_of([each.digest for each in page])
        if texts:
            embeddings.add(model, list(texts), embed(list(texts.values())))
        return page

    def counting(texts: Sequence[str]) -> Vector:
        nonlocal given
        given += len(texts)
        return embed(texts)

    monkeypatch.setattr(embeddings, "missing", kept_meanwhile)
    monkeypatch.setattr(kb._embedder, "embed_passages", counting)
    job_id = add(kb, "a.md")
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE
    assert given == 0
