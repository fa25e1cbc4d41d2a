"""Uploads claim versions: numbered without gap, the same bytes found again."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import core
from core.catalog import Claim, NewVersion
from core.catalog.jobs.ledger import Choice
from core.errors import NotFound
from core.model import JobState, UploadOutcome
from tests.builders import add, knowledge_base


def upload(kb: core.KnowledgeBase, name: str, text: str) -> core.model.Upload:
    return kb.add_file(name, io.BytesIO(text.encode()))


def test_uploads_of_one_name_are_numbered_from_one(kb: core.KnowledgeBase) -> None:
    assert [upload(kb, "a.txt", f"text {n}").version for n in range(3)] == [1, 2, 3]


def test_the_same_bytes_again_are_unchanged(kb: core.KnowledgeBase) -> None:
    first = upload(kb, "a.txt", "text")
    again = upload(kb, "A.TXT", "text")
    assert (again.outcome, again.version, again.job_id) == (UploadOutcome.UNCHANGED, 1, first.job_id)
    assert len(kb.versions("a.txt")) == 1


def test_what_is_unchanged_is_finished_with_the_version_that_stands(kb: core.KnowledgeBase) -> None:
    first = add(kb, "Fees", "ten euros")
    for again in (
        kb.add_text("Fees", "ten euros"),
        upload(kb, "fees.txt", "ten euros"),
        kb.add_text("Fees", "ten euros", draft=True),
    ):
        assert (again.outcome, again.job_id, again.pending_job) == (UploadOutcome.UNCHANGED, first.job_id, None)
        job = kb.finish(again.job_id)
        assert (job.doc_key, job.version, job.state) == ("fees.txt", 1, JobState.DONE)
    add(kb, "Fees", "twelve euros")
    kb.rollback("fees.txt")
    restored = kb.add_text("Fees", "twelve euros")
    assert (restored.outcome, restored.pending_job) == (UploadOutcome.RESTORED, None)
    assert kb.finish(restored.job_id).version == kb.document("fees.txt").published_version == 2


def test_what_failed_once_is_finished_with_the_attempt_that_indexed_it(kb: core.KnowledgeBase) -> None:
    first = kb.add_text("Fees", "ten euros")
    kb.cancel(str(first.job_id))
    second = add(kb, "Fees", "ten euros")
    assert second.job_id != first.job_id
    assert kb.finish(kb.add_text("Fees", "ten euros").job_id).id == second.job_id


def test_there_is_nothing_to_finish_without_a_job(kb: core.KnowledgeBase) -> None:
    for unknown in (None, "nothing"):
        with pytest.raises(NotFound):
            kb.finish(unknown)


def test_the_same_bytes_under_two_names_are_one_blob(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    upload(kb, "a.txt", "text")
    upload(kb, "b.txt", "text")
    assert len([path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]) == 1


def test_the_published_bytes_are_unchanged_after_a_newer_version_was_rolled_back(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    add(kb, "a", "second")
    kb.rollback("a.txt")
    assert kb.add_text("a", "first").outcome is UploadOutcome.UNCHANGED


def test_uploading_the_bytes_of_the_newest_version_shows_it_again(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    add(kb, "a", "second")
    kb.rollback("a.txt")
    assert kb.add_text("a", "second").outcome is UploadOutcome.RESTORED
    assert kb.document("a.txt").published_version == 2


def test_going_back_to_older_bytes_is_a_new_version_that_embeds_nothing(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    add(kb, "a", "second")
    add(kb, "a", "first")
    newest = kb.versions("a.txt")[0]
    assert newest.number == 3
    assert kb.catalog.chunks.ids_of(newest.id) == kb.catalog.chunks.ids_of(kb.version("a.txt", 1).id)


def test_the_bytes_of_a_failed_version_start_its_job_again(kb: core.KnowledgeBase) -> None:
    without_text = "<html><body><hr></body></html>"
    first = upload(kb, "a.html", without_text)
    kb.work_off()
    assert kb.job(str(first.job_id)).state is JobState.FAILED
    again = upload(kb, "a.html", without_text)
    assert (again.version, again.outcome) == (1, UploadOutcome.NEW)
    assert again.job_id != first.job_id


@pytest.mark.long
def test_sixty_four_threads_number_one_name_without_gap_or_duplicate(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:

        def twelve(thread: int) -> list[int]:
            return [upload(kb, "busy.txt", f"thread {thread} text {n}").version for n in range(12)]

        with ThreadPoolExecutor(64) as threads:
            numbers = [number for taken in threads.map(twelve, range(64)) for number in taken]
        assert sorted(numbers) == list(range(1, 64 * 12 + 1))
        assert [version.number for version in kb.versions("busy.txt")] == list(range(64 * 12, 0, -1))


def test_an_upload_that_is_sent_again_after_the_document_was_hidden_is_shown(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    sent = kb.add_text("a", "second")
    kb.unpublish("a.txt")
    again = kb.add_text("a", "second")
    assert (again.outcome, again.version, again.job_id) == (UploadOutcome.UNCHANGED, 2, sent.job_id)
    kb.work_off()
    assert kb.document("a.txt").published_version == 2


def test_a_draft_that_is_sent_again_for_all_after_the_document_was_hidden_is_shown(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    kb.add_text("a", "second", draft=True)
    kb.unpublish("a.txt")
    assert kb.add_text("a", "second").outcome is UploadOutcome.RESTORED
    kb.work_off()
    assert kb.document("a.txt").published_version == 2


def test_an_upload_that_is_sent_again_after_a_newer_one_was_shown_and_taken_back_is_shown(
    kb: core.KnowledgeBase,
) -> None:
    add(kb, "a", "first")
    sent = kb.add_text("a", "second")
    (job,) = kb.catalog.jobs.take(Choice(1, 1))
    add(kb, "a", "third")
    kb.rollback("a.txt")
    again = kb.add_text("a", "second")
    assert (again.outcome, again.job_id) == (UploadOutcome.UNCHANGED, sent.job_id)
    kb._worker._work([job])
    kb.work_off()
    assert kb.document("a.txt").published_version == 2


def test_what_is_said_of_an_upload_goes_to_a_restored_version_that_has_nothing_said_of_it(
    kb: core.KnowledgeBase,
) -> None:
    kb.add_text("a", "first", draft=True, note="own")
    kb.add_text("a", "first", note="other", label="approved")
    kb.work_off()
    kb.unpublish("a.txt")
    kb.add_text("a", "first", note="third", label="third")
    version = kb.version("a.txt", 1)
    assert (version.is_published, version.note, version.label) == (True, "own", "approved")


@pytest.mark.parametrize("act", ["publish", "purge"])
def test_the_bytes_of_a_version_that_others_show_or_purge_in_this_moment_are_shown(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    for name in ("a", "b"):
        add(kb, name, f"first {name}")
        kb.unpublish(f"{name}.txt")
    claim_many = kb.catalog.documents.claim_many

    def meeting(news: Sequence[NewVersion], *also: Any) -> list[Claim]:
        monkeypatch.setattr(kb.catalog.documents, "claim_many", claim_many)
        claims = claim_many(news, *also)
        getattr(kb, act)("a.txt", 1)
        return claims

    monkeypatch.setattr(kb.catalog.documents, "claim_many", meeting)
    uploads = kb.add_texts([("a", "", "first a"), ("b", "", "first b"), ("c", "", "first c")])
    kb.work_off()
    wanted = UploadOutcome.UNCHANGED if act == "publish" else UploadOutcome.NEW
    assert [upload.outcome for upload in uploads] == [wanted, UploadOutcome.RESTORED, UploadOutcome.NEW]
    assert [kb.text_of(f"{name}.txt") for name in "abc"] == ["first a", "first b", "first c"]
    assert all(document.published_version for document in kb.documents())
    assert len(kb.publications("b.txt")) == 3
