"""Documents are found by their words first, by meaning as their embeddings come, and nothing is lost meanwhile."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, event, select

import core
from core.catalog.schema import chunks, embeddings, job_events, jobs
from core.errors import Conflict, ModelUnavailable
from core.model import JobState
from core.platform import failpoints
from core.ports import Vector
from tests.builders import add, knowledge_base
from tests.indexes import assert_indexes_follow_the_catalogue, assert_nothing_is_left_to_do


def book(mark: str, paragraphs: int = 60) -> bytes:
    """A text of about as many chunks as paragraphs, in which each paragraph has a number and all have the mark."""
    sentence = f"The {mark} number{{}} of the gate is turquoise. "
    return "\n\n".join(f"# Part {at}\n\n" + sentence.format(at) * 30 for at in range(paragraphs)).encode()


class Meeting:
    """The real embedder of a knowledge base; what is to happen between its batches happens there."""

    def __init__(self, kb: core.KnowledgeBase, happenings: dict[int, Callable[[], Any]] | None = None) -> None:
        self.texts: list[str] = []
        self._embed = kb._embedder.embed_passages
        self._happenings = happenings or {}
        self._batch = 0
        kb._embedder.embed_passages = self  # type: ignore[method-assign]

    def __call__(self, texts: Sequence[str], progress: Any = None) -> Vector:
        self._batch += 1
        self._happenings.pop(self._batch, lambda: None)()
        self.texts += texts
        return self._embed(texts)


def words(kb: core.KnowledgeBase, text: str) -> set[tuple[str, int]]:
    found = core.EvoRAG(kb=kb).search(core.Query(text, top_k=50, per_document=0))
    return {(hit.placed.doc_key, hit.placed.version) for hit in found.candidates}


def put(kb: core.KnowledgeBase, data: bytes, name: str = "book.md", **filing: Any) -> str:
    return str(kb.add_file(name, io.BytesIO(data), **filing).job_id)


def test_a_version_that_is_published_early_is_found_by_its_words_before_it_is_embedded(kb: core.KnowledgeBase) -> None:
    seen: list[Any] = []

    def look() -> None:
        version, job = kb.version("book.md", 1), kb.job(job_id)
        assert words(kb, "number7 gate") == {("book.md", 1)}
        seen.append((version.is_published, version.keyword_ready, job.state, job.keyword_ready))
        found = core.EvoRAG(kb=kb).search("number7")
        seen.append((bool(found.keyword.hits), len(found.vector.hits)))

    meeting = Meeting(kb, {1: look})
    job_id = put(kb, book("colour"), early=True)
    kb.work_off()
    assert seen[0] == (True, True, JobState.RUNNING, True)
    assert seen[1] == (True, 0)
    assert kb.job(job_id).state is JobState.DONE
    assert len(meeting.texts) == len(set(meeting.texts)) == kb.version("book.md", 1).chunk_count > 50
    assert_nothing_is_left_to_do(kb)


def test_unpublishing_just_before_an_early_publication_stands(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kb, book("colour"))
    kb.work_off()
    put(kb, book("shade"), early=True)
    is_settled = kb.catalog.publications.is_settled
    looks = 0

    def looking(version_id: int) -> bool:
        nonlocal looks
        looks += 1
        settled = is_settled(version_id)
        if looks == 1:
            # What is shown changes nothing, but the version has to be placed once more.
            kb.catalog.publications.shelve(kb.catalog.documents.id_of("book.md"), version_id)
        if looks == 2:
            kb.unpublish("book.md")
        return settled

    monkeypatch.setattr(kb.catalog.publications, "is_settled", looking)
    kb.work_off()
    assert looks >= 2
    assert [each.action for each in kb.publications("book.md")] == ["unpublish", "publish"]
    assert kb.document("book.md").published_version is None
    assert_nothing_is_left_to_do(kb)


def shown_during(kb: core.KnowledgeBase, number: int, **filing: Any) -> tuple[str, int | None]:
    """Upload the book's next version; return its state and what the book shows while it is being embedded."""
    seen: list[Any] = []

    def look() -> None:
        seen.append((kb.version("book.md", number).state, kb.document("book.md").published_version))

    embed = kb._embedder.embed_passages
    Meeting(kb, {2: look})
    put(kb, book(f"mark{number}"), **filing)
    kb.work_off()
    kb._embedder.embed_passages = embed  # type: ignore[method-assign]
    assert_nothing_is_left_to_do(kb)
    [found] = seen
    return found


def test_a_first_version_is_shown_by_its_words_and_a_later_one_replaces_it_whole(kb: core.KnowledgeBase) -> None:
    assert shown_during(kb, 1) == ("ready", 1)
    assert shown_during(kb, 2) == ("stored", 1)
    assert shown_during(kb, 3, early=True) == ("ready", 3)
    kb.unpublish("book.md")
    assert shown_during(kb, 4) == ("ready", 4)
    kb.delete("book.md")
    assert shown_during(kb, 5) == ("ready", 5)


def test_a_first_version_that_is_not_to_be_early_is_published_once_all_is_embedded(kb: core.KnowledgeBase) -> None:
    assert shown_during(kb, 1, early=False) == ("stored", None)
    assert kb.document("book.md").published_version == 1


def test_of_two_versions_that_wait_the_first_alone_is_shown_early(kb: core.KnowledgeBase) -> None:
    for mark in ("first", "second"):
        put(kb, book(mark, 5))
    early = [kb.catalog.indexing.of(version.id).publish_early for version in kb.versions("book.md")]
    assert sorted(early) == [False, True]
    kb.work_off()
    assert kb.document("book.md").published_version == 2
    assert_nothing_is_left_to_do(kb)


def test_a_first_version_waits_for_its_vectors_once_another_is_published_by_hand(kb: core.KnowledgeBase) -> None:
    put(kb, book("draft", 2), draft=True)
    kb.work_off()
    put(kb, book("second", 5))
    kb.publish("book.md", 1)
    assert [kb.catalog.indexing.of(version.id).publish_early for version in kb.versions("book.md")] == [False, False]
    kb.work_off()
    assert kb.document("book.md").published_version == 2
    assert_nothing_is_left_to_do(kb)


def test_a_draft_is_not_shown_early_until_it_is_asked_for_as_no_draft(kb: core.KnowledgeBase) -> None:
    put(kb, book("colour", 5), draft=True)
    assert not kb.catalog.indexing.of(kb.version("book.md", 1).id).publish_early
    put(kb, book("colour", 5))
    assert kb.catalog.indexing.of(kb.version("book.md", 1).id).publish_early
    kb.work_off()
    assert kb.document("book.md").published_version == 1


def test_a_failed_first_version_is_shown_early_when_it_is_uploaded_again(kb: core.KnowledgeBase) -> None:
    job_id = put(kb, book("colour", 5), early=False)
    kb.cancel(job_id)
    put(kb, book("colour", 5))
    assert kb.catalog.indexing.of(kb.version("book.md", 1).id).publish_early


def test_what_is_embedded_already_is_found_by_meaning(kb: core.KnowledgeBase) -> None:
    counts: list[tuple[int, int]] = []

    def look() -> None:
        kb._projector.flush()
        counts.append((len(dict(kb._vectors.ids())), kb.version("book.md", 1).embedded_chunks))

    Meeting(kb, {1: look, 5: look})
    put(kb, book("colour", 100), early=True)
    kb.work_off()
    assert counts[0] == (0, 0)
    assert counts[1][0] == counts[1][1] == 64


@pytest.mark.parametrize(("early", "large"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("act", ["rollback", "newer", "unpublish", "delete", "purge", "cancel", "draft", "restart"])
def test_whatever_happens_during_embedding_the_indexes_end_as_the_catalogue_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool, large: bool, act: str
) -> None:
    if large:
        monkeypatch.setattr("core.ingest.index_by_keyword._AT_ONCE", 10)
        monkeypatch.setattr("core.ingest.index_by_keyword._SOON", 10)
    kb = knowledge_base(tmp_path)
    for number in (1, 2):
        put(kb, book(f"colour{number}", 5) + book("common", 5))
        kb.work_off()
    job_id = ""

    def happen() -> None:
        assert_indexes_follow_the_catalogue(kb)
        match act:
            case "rollback":
                kb.rollback("book.md", 1)
            case "newer":
                kb.add_file("book.md", io.BytesIO(book("newer", 8) + book("common", 5)))
                kb._worker._prepare_some(large=None)
            case "unpublish" | "delete":
                getattr(kb, act)("book.md")
            case "purge":
                kb.purge("book.md")
            case "cancel" if early:
                with pytest.raises(Conflict):
                    kb.cancel(job_id)
            case "cancel":
                kb.cancel(job_id)
            case "restart":
                kb._worker._stop.set()
        assert_indexes_follow_the_catalogue(kb)

    Meeting(kb, {2: happen})
    job_id = put(kb, book("third", 40) + book("common", 5), early=early, draft=act == "draft")
    kb.work_off()
    if act == "restart":
        assert kb.job(job_id).state is JobState.RUNNING
        kb.close()
        kb = knowledge_base(tmp_path)
        kb.work_off()
    assert_nothing_is_left_to_do(kb)
    shown = {"rollback": 1 if early else 3, "newer": 4, "cancel": 3 if early else 2, "draft": 2, "restart": 3}
    assert kb.document("book.md").published_version == shown.get(act)
    kb.close()


def test_a_short_document_is_not_held_up_behind_a_long_one_of_the_same_user(kb: core.KnowledgeBase) -> None:
    long = put(kb, book("colour", 400), "long.md")
    kb._worker._prepare_some(large=None)
    kb._worker._embed_some()
    short = put(kb, book("page", 1), "short.md")
    kb._worker._prepare_some(large=None)
    assert words(kb, "page gate") & {("short.md", 1)}
    kb._worker._embed_some()
    assert (kb.job(short).state, kb.job(long).state) == (JobState.DONE, JobState.RUNNING)
    assert any(hit.chunk_id in chunk_ids(kb, "short.md") for hit in core.EvoRAG(kb=kb).search("page gate").vector.hits)
    assert kb.version("long.md", 1).embedded_chunks < 150


def chunk_ids(kb: core.KnowledgeBase, name: str) -> set[int]:
    with kb.catalog.database.read() as tx:
        return set(tx.scalars(select(chunks.c.id).where(chunks.c.doc_id == kb.document(name).id)))


def test_a_cancelled_upload_leaves_no_trace(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    add(kb, "other", "Something else.")

    def everything() -> Any:
        kb._projector.flush()
        with kb.catalog.database.read() as tx:
            rows = [set(tx.scalars(select(column))) for column in (chunks.c.id, embeddings.c.content_hash)]
        return rows, dict(kb._keywords.ids()), dict(kb._vectors.ids())

    before = everything()
    Meeting(kb, {3: lambda: kb.cancel(job_id)})
    job_id = put(kb, book("colour"), early=False)
    kb.work_off()
    assert everything() == before
    version = kb.version("book.md", 1)
    assert (version.state, version.chunk_count, version.keyword_ready) == ("cancelled", 0, False)
    blobs = [path.name for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]
    with kb.catalog.database.read() as tx:
        named = set(tx.execute(select(core.catalog.schema.versions.c.sha256)).scalars())
        named |= set(tx.execute(select(core.catalog.schema.versions.c.parsed_sha256)).scalars())
    assert all(any(name.startswith(blob) or blob.startswith(name) for name in named if name) for blob in blobs)
    kb.retry(job_id)
    kb.work_off()
    assert kb.document("book.md").published_version == 1
    assert_nothing_is_left_to_do(kb)


def test_a_published_version_whose_embedding_fails_stays_published_and_its_job_can_be_started_again(
    kb: core.KnowledgeBase,
) -> None:
    def fail() -> None:
        raise ModelUnavailable("The model is gone.")

    Meeting(kb, {2: fail})
    job_id = put(kb, book("colour"), early=True)
    kb.work_off()
    assert (kb.job(job_id).state, kb.version("book.md", 1).state) == (JobState.FAILED, "ready")
    assert words(kb, "number9") == {("book.md", 1)}
    assert kb.job_log(job_id)[-1].code == "failed"
    assert [job.id for job in kb.retry_failed()] == [job_id]
    kb.work_off()
    assert kb.job(job_id).state is JobState.DONE
    assert_nothing_is_left_to_do(kb)


def test_a_text_that_two_documents_share_is_embedded_once_and_found_in_both(kb: core.KnowledgeBase) -> None:
    meeting = Meeting(kb)
    for name in ("one", "two"):
        kb.add_text(name, "The very same text about turquoise gates.", title="Gates")
    kb.work_off()
    assert len(meeting.texts) == 1
    assert len(dict(kb._vectors.ids())) == 2
    assert_nothing_is_left_to_do(kb)


def test_cancelling_what_was_shown_early_ends_the_job_with_the_transaction_that_hides_it(
    kb: core.KnowledgeBase,
) -> None:
    told: list[tuple[JobState, int | None]] = []

    def look(_: Any) -> None:
        told.append((kb.job(job_id).state, kb.document("book.md").published_version))

    def cancel() -> None:
        event.listen(kb.catalog.database.engine, "commit", look)
        kb.cancel(job_id)
        event.remove(kb.catalog.database.engine, "commit", look)
        look(None)

    Meeting(kb, {2: cancel})
    job_id = put(kb, book("colour", 200))
    kb.work_off()
    assert told[0] == (JobState.RUNNING, 1)
    assert set(told) == {(JobState.RUNNING, 1), (JobState.CANCELLED, None)}
    assert kb.version("book.md", 1).embedded_chunks < 200


@pytest.mark.parametrize("way", ["upload", "publish", "restore", "schedule"])
@pytest.mark.parametrize("ledger", ["keeps its job", "has forgotten it"])
def test_what_was_cancelled_while_it_was_embedded_is_embedded_to_its_end_however_it_is_shown_again(
    kb: core.KnowledgeBase, way: str, ledger: str
) -> None:
    Meeting(kb, {2: lambda: kb.cancel(job_id)})
    job_id = put(kb, book("colour", 200))
    kb.work_off()
    assert 0 < kb.version("book.md", 1).embedded_chunks < 200
    if ledger == "has forgotten it":
        with kb.catalog.database.write() as tx:
            tx.execute(delete(job_events))
            tx.execute(delete(jobs))
    match way:
        case "upload":
            put(kb, book("colour", 200))
        case "publish":
            kb.publish("book.md", 1)
        case "restore":
            kb.restore("book.md")
        case "schedule":
            soon = datetime.now(UTC) + timedelta(hours=1)
            kb.schedule("book.md", 1, soon)
            kb.publish_due(soon)
    assert kb.document("book.md").published_version == 1
    kb.work_off()
    assert kb.version("book.md", 1).embedded_chunks == 200
    assert_nothing_is_left_to_do(kb)


class Killed(BaseException):
    """The process ends here, as far as a thread can."""


def reached(folder: Path) -> list[str]:
    """Index a few documents; return the points that were passed, in order."""
    seen: list[str] = []
    failpoints.on_failpoint(seen.append)
    try:
        with knowledge_base(folder) as kb:
            work(kb)
    finally:
        failpoints.on_failpoint(None)
    return seen


def work(kb: core.KnowledgeBase) -> None:
    # All happens in this thread, in the same order each time.
    kb._projector.close()
    put(kb, book("early", 6), "early.md", early=True)
    put(kb, book("late", 6), "late.md")
    put(kb, book("draft", 1), "draft.md", draft=True)
    kb.work_off()
    put(kb, book("later", 6), "late.md")
    kb.work_off()


def test_a_process_that_dies_at_any_point_leaves_what_the_next_one_finishes(tmp_path: Path) -> None:
    names = sorted({name for name in reached(tmp_path / "all") if name.startswith(("ingest.", "jobs.", "index."))})
    assert len(names) >= 20
    # All points are killed at by tests/faults, with real processes.
    for name in random.Random(3).sample(names, 5):
        kill_at(tmp_path / name, name)


def kill_at(folder: Path, name: str) -> None:
    def die(reached: str) -> None:
        if reached == name:
            failpoints.on_failpoint(None)
            raise Killed

    kb = knowledge_base(folder)
    failpoints.on_failpoint(die)
    try:
        with pytest.raises(Killed):
            work(kb)
    finally:
        failpoints.on_failpoint(None)
        # Nothing is put back, as after kill -9.
        kb._worker._taken.clear()
        kb.close()
    with knowledge_base(folder) as kb:
        kb.work_off()
        assert_nothing_is_left_to_do(kb)
        for document in kb.documents():
            expected = None if document.doc_key == "draft.md" else document.latest_version
            assert document.published_version == expected, name
            assert {version.state for version in kb.versions(document.doc_key)} == {"ready"}, name
