"""The knowledge base as its users know it: what is published is found, what is not is not, errors lose nothing."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import core
import core.jobs.local_queue
from core.catalog.jobs.ledger import Choice
from core.errors import (
    BadFilename,
    Conflict,
    DataFolderInUse,
    EmptyDocument,
    NotFound,
    TooLarge,
    TypeMismatch,
    UnsupportedType,
)
from core.model import JobState, Part, Stage
from tests.builders import add, knowledge_base
from tests.waiting import until


def snapshot(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in (folder / "data" / "blobs").rglob("*")}


def names(kb: core.KnowledgeBase, question: str, **options: object) -> set[tuple[str, int]]:
    trace = core.EvoRAG(kb=kb).search(core.Query(question, **options))  # type: ignore[arg-type]
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("a\0.txt", b"text", BadFilename),
        ("a.exe", b"text", UnsupportedType),
        ("a.pdf", b"\x7fELF\x02\x01\x01" + b"\0" * 100, TypeMismatch),
        ("a.txt", b"", EmptyDocument),
        ("a.txt", b" \n\t ", EmptyDocument),
        ("a.txt", b"x" * 3000, TooLarge),
    ],
)
def test_a_refused_upload_stores_nothing(tmp_path: Path, name: str, data: bytes, error: type[Exception]) -> None:
    with knowledge_base(tmp_path, max_upload_bytes=2000) as kb:
        before = snapshot(tmp_path)
        with pytest.raises(error):
            kb.add_file(name, io.BytesIO(data))
        assert snapshot(tmp_path) == before
        assert not list((tmp_path / "data" / "incoming").iterdir())
        assert kb.documents(include_deleted=True) == []


def test_a_path_in_the_name_never_leaves_the_data_folder(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        outside = {path for path in tmp_path.rglob("*") if "data" not in path.parts}
        upload = kb.add_file("../../etc/cron.d/x.txt", io.BytesIO(b"text"))
        assert upload.doc_key == "x.txt"
        assert {path for path in tmp_path.rglob("*") if "data" not in path.parts} == outside


def test_an_uploaded_text_is_found_with_its_exact_span(kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The shop opens at nine.\n\nIt closes at six.")
    hit = core.EvoRAG(kb=kb).search("When does it close?").hits[0]
    text = kb.text_of("hours.txt")
    chunk = hit.placed.chunk
    assert text[chunk.start : chunk.end] == chunk.text


def test_a_deleted_document_is_never_shown_and_comes_back_when_restored(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "pomegranate")
    kb.delete("a.txt")
    assert names(kb, "pomegranate") == set()
    assert kb.documents() == []
    kb.restore("a.txt")
    assert names(kb, "pomegranate") == {("a.txt", 1)}


def test_an_old_version_is_found_as_of_its_moment_alone(kb: core.KnowledgeBase) -> None:
    add(kb, "fees", "The fee is ten euros.")
    moment = datetime.now(UTC)
    add(kb, "fees", "The fee is twelve euros.")
    assert names(kb, "fee") == {("fees.txt", 2)}
    assert names(kb, "fee", as_of=1) == {("fees.txt", 1)}
    assert names(kb, "fee", as_of=moment) == {("fees.txt", 1)}
    assert names(kb, "fee", as_of=0) == set()


def test_as_of_the_future_is_refused(kb: core.KnowledgeBase) -> None:
    for as_of in (5, datetime.now(UTC) + timedelta(days=1), -1):
        with pytest.raises(core.errors.InvalidInput):
            names(kb, "anything", as_of=as_of)


def test_a_citation_outlives_later_versions(kb: core.KnowledgeBase) -> None:
    add(kb, "fees", "The fee is ten euros.")
    citation = core.EvoRAG(kb=kb).ask("What is the fee?").answer.citations[0]
    add(kb, "fees", "Nothing about money.")
    kb.delete("fees.txt")
    shown = kb.preview(citation.doc_key, citation.version).chunks[citation.position]
    assert kb.text_of(citation.doc_key, citation.version)[citation.start : citation.end] == citation.text
    assert shown.id == citation.chunk_id


def test_unchanged_chunks_keep_their_ids_and_are_not_embedded_again(kb: core.KnowledgeBase) -> None:
    paragraphs = [f"Paragraph {n} tells about topic {n}. " * 40 for n in range(12)]
    add(kb, "book", "\n\n".join(paragraphs))
    add(kb, "book", "\n\n".join([*paragraphs[:-1], "A new ending. " * 40]))
    newest = kb.version("book.txt", 2)
    assert newest.chunks_kept >= newest.chunk_count - 2
    assert newest.chunks_added == newest.chunk_count - newest.chunks_kept
    assert newest.chunks_added < kb.version("book.txt", 1).chunk_count / 2


def test_replaced_chunks_move_to_history(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    add(kb, "a", "second")
    kb._projector.flush()
    assert sorted(part for _, part in kb._keywords.ids()) == [Part.HEAD, Part.HISTORY]
    assert kb._vectors.count() == kb._keywords.count()


def test_filters_restrict_to_documents_tags_and_types(kb: core.KnowledgeBase) -> None:
    add(kb, "one", "walnut bread")
    kb.add_text("two.md", "# Walnut\n\nwalnut cake", tags=["Sweet"])
    kb.work_off()
    everything = names(kb, "walnut")
    assert everything == {("one.txt", 1), ("two.md", 1)}
    assert names(kb, "walnut", filters=core.Filters(doc_keys=("one.txt",))) == {("one.txt", 1)}
    assert names(kb, "walnut", filters=core.Filters(tags=("Sweet",))) == {("two.md", 1)}
    assert names(kb, "walnut", filters=core.Filters(extensions=("md",))) == {("two.md", 1)}
    assert names(kb, "walnut", filters=core.Filters(tags=('Sweet" or 1 == 1 or "',))) == set()


def test_a_failed_document_says_why_and_shows_nothing(kb: core.KnowledgeBase) -> None:
    upload = kb.add_file("empty.html", io.BytesIO(b"<html><body><hr></body></html>"))
    kb.work_off()
    job = kb.job(str(upload.job_id))
    assert (job.state, job.error and job.error["code"]) == (JobState.FAILED, "empty_document")
    assert kb.document("empty.html").state == "failed"
    assert kb.versions("empty.html")[0].error == job.error


def test_one_bad_file_does_not_stop_the_others(kb: core.KnowledgeBase) -> None:
    kb.add_file("bad.html", io.BytesIO(b"<html><body><hr></body></html>"))
    kb.add_text("good", "quince")
    kb.work_off()
    assert names(kb, "quince") == {("good.txt", 1)}


def test_a_failed_new_version_leaves_the_old_one_shown(kb: core.KnowledgeBase) -> None:
    kb.add_file("page.html", io.BytesIO(b"<p>quince jam</p>"))
    kb.work_off()
    kb.add_file("page.html", io.BytesIO(b"<html><body><hr></body></html>"))
    kb.work_off()
    assert names(kb, "quince") == {("page.html", 1)}


def test_a_cancelled_upload_is_never_shown_and_leaves_no_rows(kb: core.KnowledgeBase) -> None:
    upload = kb.add_text("a", "medlar")
    kb.cancel(str(upload.job_id))
    kb.work_off()
    assert names(kb, "medlar") == set()
    assert kb.documents(include_deleted=True) == []
    assert list(kb._keywords.ids()) == []


def test_a_cancelled_job_can_be_started_again(kb: core.KnowledgeBase) -> None:
    upload = kb.add_text("a", "medlar")
    kb.cancel(str(upload.job_id))
    kb.retry(str(upload.job_id))
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 1)}


def test_deleting_a_document_cancels_its_upload(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    kb.add_text("a", "second medlar")
    kb.delete("a.txt")
    kb.work_off()
    assert names(kb, "medlar") == set()


def test_an_older_upload_that_finishes_late_does_not_replace_a_newer_one(kb: core.KnowledgeBase) -> None:
    first = kb.add_text("a", "first medlar")
    kb.add_text("a", "second medlar")
    kb.cancel(str(first.job_id))
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 2)}
    with pytest.raises(Conflict):
        kb.retry(str(first.job_id))


def test_jobs_go_through_their_stages_and_time_them(kb: core.KnowledgeBase) -> None:
    upload = kb.add_text("a", "medlar")
    assert kb.job(str(upload.job_id)).stage is Stage.STORED
    kb.work_off()
    job = kb.job(str(upload.job_id))
    assert (job.state, job.stage) == (JobState.DONE, Stage.PUBLISHED)
    assert set(job.stage_seconds) >= {"stored", "parsing", "chunking", "embedding", "indexing"}


def test_an_entry_keeps_its_text_exactly(kb: core.KnowledgeBase) -> None:
    text = "  two spaces\r\nand  a tab\t\n\n\nend  "
    add(kb, "exact", text)
    assert kb.text_of("exact.txt").replace("\r\n", "\n") == text.replace("\r\n", "\n")


def test_an_entry_over_the_limit_is_refused(kb: core.KnowledgeBase) -> None:
    assert kb.add_text("fits", "x" * 65_535).version == 1
    with pytest.raises(TooLarge):
        kb.add_text("long", "x" * 65_536)


def test_the_original_comes_back_byte_for_byte(kb: core.KnowledgeBase) -> None:
    kb.add_file("Größe.TXT", io.BytesIO("Maße: 3 cm".encode("cp1252")))
    path, name = kb.original("größe.txt", 1)
    assert (path.read_bytes(), name) == ("Maße: 3 cm".encode("cp1252"), "Größe.TXT")


def test_a_second_process_is_told_the_first_ones_id(tmp_path: Path) -> None:
    import os

    with knowledge_base(tmp_path), pytest.raises(DataFolderInUse, match=str(os.getpid())):
        knowledge_base(tmp_path)


def test_the_embedder_that_built_the_index_goes_on_serving_where_another_is_configured(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "medlar")
    with knowledge_base(tmp_path, embedder="hash:128") as kb:
        told = {store.name: store for store in kb.health().stores}["embedder"]
        kb._projector.flush()
        assert core.EvoRAG(kb=kb).search("medlar").vector.hits
    assert (told.engine, told.state) == ("hash-384", "ok")
    assert "“hash:128” is configured" in told.detail and "evorag generations build" in told.detail


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "a", "medlar")
        kb.add_text("b", "quince")
        trace = core.EvoRAG(kb=kb).ask("medlar")
    with knowledge_base(tmp_path) as kb:
        kb.work_off()
        assert names(kb, "medlar quince") == {("a.txt", 1), ("b.txt", 1)}
        assert kb.trace(trace.id) == trace
        assert [summary.question for summary in kb.history()] == ["medlar"]


def test_unknown_things_are_not_found(kb: core.KnowledgeBase) -> None:
    for call in (
        lambda: kb.document("../x"),
        lambda: kb.version("a.txt", 1),
        lambda: kb.job("0" * 32),
        lambda: kb.trace("'; drop table questions"),
    ):
        with pytest.raises(NotFound):
            call()


def test_tags_are_listed_and_searched(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "text")
    assert kb.set_tags("a.txt", ["Ü", " b ", ""]).tags == ("b", "Ü")
    assert kb.tags() == ["b", "Ü"]
    assert [document.doc_key for document in kb.documents("ü")] == ["a.txt"]


def test_a_version_cancelled_while_it_is_indexed_is_not_shown_and_the_old_one_stays(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    upload = kb.add_text("a", "second medlar")
    flush = kb._projector.flush

    def cancelling() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        kb.cancel(str(upload.job_id))
        flush()

    kb._projector.flush = cancelling  # type: ignore[method-assign]
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 1)}
    assert kb.job(str(upload.job_id)).state is JobState.CANCELLED


def test_a_document_deleted_and_restored_while_it_is_indexed_keeps_what_it_showed(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    upload = kb.add_text("a", "second medlar")
    flush = kb._projector.flush

    def deleting() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        kb.delete("a.txt")
        kb.restore("a.txt")
        flush()

    kb._projector.flush = deleting  # type: ignore[method-assign]
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 1)}
    kb.retry(str(upload.job_id))
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 2)}


def test_a_question_that_meets_a_publication_still_finds_the_document(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    retrieve = kb.queries._searcher._retriever.retrieve
    calls = []

    def meeting(text: str, depth: int, scope: object) -> object:
        calls.append(scope)
        if len(calls) == 1:
            add(kb, "a", "second medlar")
            kb._projector.flush()
        return retrieve(text, depth, scope)  # type: ignore[arg-type]

    kb.queries._searcher._retriever.retrieve = meeting  # type: ignore[assignment, method-assign]
    assert names(kb, "medlar") == {("a.txt", 1)}
    assert len(calls) == 2


def test_names_with_wide_blanks_are_recognised_as_unchanged(kb: core.KnowledgeBase) -> None:
    add(kb, "営業　報告  第一", "text")
    assert add(kb, "営業　報告  第一", "text").outcome is core.model.UploadOutcome.UNCHANGED


def test_the_text_of_a_file_that_an_entry_replaced_can_still_be_read(kb: core.KnowledgeBase) -> None:
    kb.add_file("a.txt", io.BytesIO("日本語の文章です。とても長い文章です。".encode("shift_jis")))
    kb.work_off()
    add(kb, "a.txt", "plain")
    assert kb.text_of("a.txt", 1) == "日本語の文章です。とても長い文章です。"


def test_an_index_of_another_analyser_is_built_anew(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, test_mode=False, embedder="hash") as kb:
        add(kb, "a", "medlar")
    (tmp_path / "data" / "keywords" / "analyser.txt").write_text("older", encoding="utf-8")
    with knowledge_base(tmp_path, test_mode=False, embedder="hash") as kb:
        until(lambda: not kb.is_starting)
        kb._projector.flush()
        assert core.EvoRAG(kb=kb).search("medlar").keyword.hits


def test_an_error_of_the_catalogue_does_not_end_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.jobs.local_queue, "_RECOVERY_S", 0.01)
    with knowledge_base(tmp_path, job_workers=1) as kb:
        take = kb.catalog.jobs.take
        failures = iter([OSError("disk full")])

        def failing(choice: Choice, *lease: object) -> list[core.model.Job]:
            for error in failures:
                raise error
            return take(choice, *lease)

        kb.catalog.jobs.take = failing  # type: ignore[method-assign]
        kb.finish(str(kb.add_text("a", "medlar").job_id), timeout_s=30)
        assert names(kb, "medlar") == {("a.txt", 1)}


def test_half_a_surrogate_is_refused_as_tag_and_as_filter(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    with pytest.raises(core.errors.InvalidInput):
        kb.add_text("a", "text", tags=["\ud800"])
    assert snapshot(tmp_path) == before
    with pytest.raises(core.errors.BadFilter):
        names(kb, "text", filters=core.Filters(tags=("\ud800",)))
    with pytest.raises(core.errors.BadFilter):
        names(kb, "text", filters=core.Filters(updated_after=datetime(2026, 1, 1)))
