"""Uploads claim versions: numbered without gap, the same bytes found again."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import core
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


def test_sixty_four_threads_number_one_name_without_gap_or_duplicate(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:

        def fifty(thread: int) -> list[int]:
            return [upload(kb, "busy.txt", f"thread {thread} text {n}").version for n in range(50)]

        with ThreadPoolExecutor(64) as threads:
            numbers = [number for taken in threads.map(fifty, range(64)) for number in taken]
        assert sorted(numbers) == list(range(1, 64 * 50 + 1))
        assert [version.number for version in kb.versions("busy.txt")] == list(range(64 * 50, 0, -1))
