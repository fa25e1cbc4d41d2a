"""Small documents that are worked on together: few transactions for all, and each as if it had come alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select

import core
from core.catalog.schema import (
    chunks,
    documents,
    job_events,
    jobs,
    publications,
    version_chunks,
    version_deltas,
    versions,
)
from core.model import JobState, UploadOutcome
from core.platform import failpoints
from tests.builders import knowledge_base
from tests.indexes import assert_indexes_follow_the_catalogue, assert_nothing_is_left_to_do

MANY = 24


def text(number: int) -> bytes:
    return f"Record {number} tells of lantern{number}. {'It burns. ' * 40}\n\nIts keeper is keeper{number}.".encode()


def add(kb: core.KnowledgeBase, number: int, **filing: Any) -> str:
    return str(kb.add_file(f"record-{number}.txt", io.BytesIO(text(number)), **filing).job_id)


def long_text(number: int, ending: str) -> str:
    """A text of some passages, of which another ending changes the last ones."""
    told = [f"Lantern {part} of record {number} burns. {'Its keeper comes at dusk. ' * 70}" for part in range(4)]
    return "\n\n".join([*told, f"It ends with {ending} of record {number}. {'Nobody reads on. ' * 70}"])


def edit(kb: core.KnowledgeBase, ending: str, numbers: Iterable[int]) -> list[str]:
    """Give documents their next versions in one claim; return their jobs."""
    uploads = kb.add_texts([(f"record-{number}", "", long_text(number, ending)) for number in numbers])
    return [str(upload.job_id) for upload in uploads]


def shown_endings(kb: core.KnowledgeBase, numbers: Iterable[int]) -> list[str]:
    """Return what the texts end with that documents show, and nothing for those that show none."""
    found = {document.name: document for document in kb.documents(include_deleted=True)}
    endings = []
    for number in numbers:
        is_shown = found[f"record-{number}.txt"].published_version is not None
        told = kb.text_of(f"record-{number}.txt") if is_shown else ""
        endings.append(told.partition("It ends with ")[2].partition(" of record")[0])
    return endings


def sent(kb: core.KnowledgeBase) -> list[str]:
    """Return a list that gets each statement from now on."""
    said: list[str] = []
    event.listen(kb.catalog.database.engine, "before_cursor_execute", lambda *told: said.append(told[2]))
    return said


def when(point: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Act the first time that a failpoint is reached."""

    def reached(name: str) -> None:
        if name == point:
            failpoints.on_failpoint(None)
            act()

    return reached


def work_off(kb: core.KnowledgeBase, reached: Callable[[str], None]) -> None:
    failpoints.on_failpoint(reached)
    try:
        kb.work_off()
    finally:
        failpoints.on_failpoint(None)


@pytest.mark.parametrize("early", [False, True])
def test_many_small_documents_take_few_transactions_and_statements_each(kb: core.KnowledgeBase, early: bool) -> None:
    for number in range(MANY):
        add(kb, number, early=early)
    said = sent(kb)
    kb.work_off()
    assert {job.state for job in kb.jobs()} == {JobState.DONE}
    assert sum(statement.startswith("BEGIN IMMEDIATE") for statement in said) < 2 * MANY
    assert len(said) < 15 * MANY


def test_an_edit_of_many_documents_takes_as_many_transactions_as_that_of_few(kb: core.KnowledgeBase) -> None:
    edit(kb, "dawn", range(MANY))
    kb.work_off()
    transactions, statements = [], []
    for ending, count in (("noon", 4), ("dusk", MANY)):
        said = sent(kb)
        edit(kb, ending, range(count))
        claimed = len(said)
        kb.work_off()
        transactions.append(sum(statement.startswith("BEGIN IMMEDIATE") for statement in said))
        statements.append((claimed, len(said)))
        assert shown_endings(kb, range(count)) == [ending] * count
    # One more for each round of embedding.
    assert transactions[1] <= transactions[0] + 4
    assert statements[1][0] - statements[0][0] < 3 * MANY
    assert statements[1][1] - statements[0][1] < 20 * MANY


def test_documents_of_one_zip_are_claimed_with_few_statements(kb: core.KnowledgeBase) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(MANY):
            archive.writestr(f"record-{number}.txt", text(number))
    buffer.seek(0)
    kb.add_archive("records.zip", buffer, tags=("shelf",))
    said = sent(kb)
    kb.work_off()
    assert {document.tags for document in kb.documents()} == {("shelf",)}
    assert kb.counts().documents == MANY
    assert sum(" INTO versions" in statement for statement in said) == 1
    assert sum(" INTO jobs" in statement for statement in said) == 1


@pytest.mark.parametrize("early", [False, True])
def test_what_is_kept_of_documents_that_came_together_is_what_is_kept_of_each_alone(
    tmp_path: Path, early: bool
) -> None:
    kept = []
    for folder, batch in (("alone", 1), ("together", 32)):
        with knowledge_base(tmp_path / folder, job_batch=batch) as kb:
            for number in range(4):
                add(kb, number, early=early, tags=("a",))
            kb.work_off()
            assert_nothing_is_left_to_do(kb)
            assert_indexes_follow_the_catalogue(kb)
            kept.append(_kept(kb))
    assert kept[0] == kept[1]


def test_what_is_kept_of_an_edit_of_documents_together_is_what_is_kept_of_each_alone(tmp_path: Path) -> None:
    kept = []
    for folder, batch in (("alone", 1), ("together", 32)):
        with knowledge_base(tmp_path / folder, job_batch=batch) as kb:
            for ending in ("dawn", "noon", "dusk"):
                edit(kb, ending, range(4))
                kb.work_off()
            kb.publish("record-0.txt", 1)
            kb.unpublish("record-1.txt")
            # They show another version than their base, nothing, and their base.
            edit(kb, "dusk again", range(3))
            kb.work_off()
            assert shown_endings(kb, range(4)) == ["dusk again"] * 3 + ["dusk"]
            assert [kb.version("record-2.txt", 4).chunks_added, kb.version("record-2.txt", 4).chunks_removed] == [1, 1]
            assert_nothing_is_left_to_do(kb)
            kept.append(_kept(kb))
    assert kept[0] == kept[1]


def _kept(kb: core.KnowledgeBase) -> list[Any]:
    """Return what tables hold, without moments, names drawn at random and numbers of rows."""
    random_ones = {"at", "created_at", "updated_at", "started_at", "finished_at", "id", "job_id", "change", "seq"}
    measured = {"stage_seconds", "resources", "values", "metadata", "claimed_seq", "created_seq"}
    found: list[Any] = []
    with kb.catalog.database.read() as tx:
        for table in (documents, versions, version_chunks, version_deltas, publications, jobs):
            names = [column for column in table.c if column.name not in random_ones | measured]
            found.append(sorted(map(repr, tx.execute(select(*names)).all())))
        found.append(sorted(map(repr, tx.execute(select(*chunks.c)).all())))
        logged = select(documents.c.name, job_events.c.code, job_events.c.stage)
        logged = logged.join(jobs, jobs.c.id == job_events.c.job_id).join(documents, documents.c.id == jobs.c.doc_id)
        for name in tx.scalars(select(documents.c.name).order_by(documents.c.name)).all():
            rows = tx.execute(logged.where(documents.c.name == name).order_by(job_events.c.id)).all()
            found.append([tuple(row) for row in rows])
    return found


def test_one_that_cannot_be_read_drops_out_of_its_group_alone(kb: core.KnowledgeBase) -> None:
    for number in range(3):
        add(kb, number)
    broken = str(kb.add_file("broken.pdf", io.BytesIO(b"%PDF-1.7 nothing")).job_id)
    add(kb, 3)
    kb.work_off()
    assert kb.job(broken).state is JobState.FAILED
    assert sorted(document.name for document in kb.documents() if document.state == "published") == [
        f"record-{number}.txt" for number in range(4)
    ]


@pytest.mark.parametrize("point", ["ingest.parsing.answered", "ingest.parsed.kept", "ingest.chunking.finished"])
def test_one_that_is_cancelled_within_its_group_leaves_nothing(
    kb: core.KnowledgeBase, tmp_path: Path, point: str
) -> None:
    cancelled, *others = [add(kb, number) for number in range(4)]
    work_off(kb, when(point, lambda: kb.cancel(cancelled)))
    assert [kb.job(job_id).state for job_id in others] == [JobState.DONE] * 3
    assert kb.version("record-0.txt", 1).state == "cancelled"
    assert_nothing_is_left_to_do(kb)
    assert_indexes_follow_the_catalogue(kb)
    # Seven originals and parsed texts: the parsed one of the first is gone.
    assert len([each for each in (tmp_path / "data" / "blobs").rglob("*") if each.is_file()]) == 7


POINTS = ("ingest.chunking.finished", "ingest.keywords.flushed", "ingest.jobs.ending")


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("act", ["cancel", "delete", "unpublish", "publish", "purge"])
def test_what_is_decided_of_one_document_of_an_edit_leaves_the_others_right(
    kb: core.KnowledgeBase, point: str, act: str
) -> None:
    for ending in ("dawn", "noon"):
        edit(kb, ending, range(4))
        kb.work_off()
    first, *others = edit(kb, "dusk", range(4))
    decided: dict[str, Callable[[], object]] = {
        "cancel": lambda: kb.cancel(first),
        "delete": lambda: kb.delete("record-0.txt"),
        "unpublish": lambda: kb.unpublish("record-0.txt"),
        "publish": lambda: kb.publish("record-0.txt", 1),
        "purge": lambda: kb.purge("record-0.txt", 2),
    }
    work_off(kb, when(point, decided[act]))
    wanted = {"cancel": "noon", "delete": "", "unpublish": "", "publish": "dusk", "purge": "dusk"}[act]
    assert shown_endings(kb, range(4)) == [wanted, "dusk", "dusk", "dusk"]
    assert [kb.job(job_id).state for job_id in others] == [JobState.DONE] * 3
    assert_nothing_is_left_to_do(kb)


def test_one_of_an_edit_that_has_no_text_any_more_drops_out_alone(kb: core.KnowledgeBase) -> None:
    kb.add_file("page.html", io.BytesIO(b"<p>The first text of the page.</p>"))
    edit(kb, "dawn", range(3))
    kb.work_off()
    empty = str(kb.add_file("page.html", io.BytesIO(b"<p></p>")).job_id)
    edit(kb, "dusk", range(3))
    kb.work_off()
    assert kb.job(empty).state is JobState.FAILED
    assert kb.document("page.html").published_version == 1
    assert shown_endings(kb, range(3)) == ["dusk"] * 3
    assert_nothing_is_left_to_do(kb)


def test_two_versions_of_one_document_in_a_group_keep_their_order(kb: core.KnowledgeBase) -> None:
    add(kb, 1)
    kb.add_file("record-0.txt", io.BytesIO(b"The first text of the record."))
    kb.add_file("record-0.txt", io.BytesIO(b"The first text of the record.\n\nAnd more of it."))
    kb.work_off()
    assert [version.is_published for version in kb.versions("record-0.txt")] == [True, False]
    assert_nothing_is_left_to_do(kb)
    assert_indexes_follow_the_catalogue(kb)


@pytest.mark.parametrize("point", ["ingest.keywords.asked", "ingest.jobs.ending"])
def test_what_was_deleted_while_its_group_was_at_work_is_not_shown(kb: core.KnowledgeBase, point: str) -> None:
    for number in range(3):
        add(kb, number)
    work_off(kb, when(point, lambda: kb.delete("record-0.txt")))
    shown = {document.name for document in kb.documents() if document.state == "published"}
    assert shown == {"record-1.txt", "record-2.txt"}
    assert_nothing_is_left_to_do(kb)
    assert_indexes_follow_the_catalogue(kb)


def test_the_same_new_name_twice_in_one_claim_is_a_second_version(kb: core.KnowledgeBase) -> None:
    receipts = kb.add_texts([("note", "", "One text."), ("other", "", "A text."), ("note", "", "Another text.")])
    assert [(receipt.doc_key, receipt.version) for receipt in receipts] == [
        ("note.txt", 1),
        ("other.txt", 1),
        ("note.txt", 2),
    ]
    assert {receipt.outcome for receipt in receipts} == {UploadOutcome.NEW}
    kb.work_off()
    assert kb.version("note.txt", 2).is_published


def test_a_shown_version_of_a_group_is_hidden_where_it_is_cancelled(kb: core.KnowledgeBase) -> None:
    first, *others = [add(kb, number, early=True) for number in range(3)]
    work_off(kb, when("ingest.early.published", lambda: kb.cancel(first)))
    assert kb.job(first).state is JobState.CANCELLED
    assert not kb.version(kb.job(first).doc_key, 1).is_published
    assert [kb.job(other).state for other in others] == [JobState.DONE] * 2
