"""Drafts are indexed, kept and compared like any version, and shown to nobody before they are published."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest

import core
from core.errors import Conflict, InvalidInput, NotFound
from core.model import JobState, Part, Publication, UploadOutcome, VersionRef
from tests.builders import add


def names(kb: core.KnowledgeBase, question: str, **options: object) -> set[tuple[str, int]]:
    trace = core.EvoRAG(kb=kb).search(core.Query(question, **options))  # type: ignore[arg-type]
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


def draft(kb: core.KnowledgeBase, name: str, text: str, **filing: object) -> core.model.Upload:
    upload = kb.add_text(name, text, draft=True, **filing)  # type: ignore[arg-type]
    kb.work_off()
    return upload


def test_a_draft_is_never_shown(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    before = kb.document("a.txt")
    upload = draft(kb, "a", "second medlar quince")
    assert (upload.outcome, upload.version) == (UploadOutcome.NEW, 2)
    assert kb.job(str(upload.job_id)).state is JobState.DONE
    assert names(kb, "medlar quince") == {("a.txt", 1)}
    assert names(kb, "medlar quince", versions="all") == {("a.txt", 1)}
    assert kb.text_of("a.txt") == "first medlar"
    after = kb.document("a.txt")
    assert (after.state, after.published_version, after.latest_version) == ("published", 1, 2)
    assert (after.name, after.title, after.updated_at) == (before.name, before.title, before.updated_at)
    version = kb.version("a.txt", 2)
    assert (version.is_draft, version.state, version.is_published) == (True, "ready", False)


def test_a_draft_lies_in_history_and_what_it_shares_in_head(kb: core.KnowledgeBase) -> None:
    paragraphs = [f"Paragraph {n} tells about topic {n}. " * 60 for n in range(5)]
    add(kb, "book", "\n\n".join(paragraphs))
    draft(kb, "book", "\n\n".join([*paragraphs[:-1], "Another ending. " * 60]))
    shown, new = (set(kb.catalog.chunks.ids_of(kb.version("book.txt", number).id)) for number in (1, 2))
    assert shown & new
    wanted = {chunk: Part.HEAD if chunk in shown else Part.HISTORY for chunk in shown | new}
    assert dict(kb._vectors.ids()) == dict(kb._keywords.ids()) == wanted


def test_a_draft_is_asked_by_its_name(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    draft(kb, "a", "second quince")
    assert ("a.txt", 2) in names(kb, "quince", as_of=VersionRef("a.txt", 2))


def test_publishing_a_draft_shows_it(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    draft(kb, "a", "second quince")
    done = kb.publish("a.txt", 2, actor="Ada", note="approved")
    assert (done.action, done.version, done.actor, done.note) == ("publish", 2, "Ada", "approved")
    assert names(kb, "quince") == {("a.txt", 2)}
    assert kb.version("a.txt", 2).is_draft is False


def test_a_document_of_drafts_alone_is_listed_as_draft(kb: core.KnowledgeBase) -> None:
    draft(kb, "a", "first medlar")
    assert [(document.doc_key, document.state) for document in kb.documents()] == [("a.txt", "draft")]
    assert names(kb, "medlar") == set()
    for act in (kb.rollback, kb.restore, kb.unpublish):
        with pytest.raises(Conflict):
            act("a.txt")


def test_uploading_the_bytes_of_a_draft_publishes_it(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first medlar")
    draft(kb, "a", "second quince", note="for review")
    upload = add(kb, "a", "second quince")
    assert (upload.outcome, upload.version, upload.pending_job) == (UploadOutcome.RESTORED, 2, None)
    assert names(kb, "quince") == {("a.txt", 2)}
    assert kb.version("a.txt", 2).note == "for review"


def test_uploading_the_bytes_of_a_draft_that_is_being_indexed_has_its_job_publish_it(kb: core.KnowledgeBase) -> None:
    first = kb.add_text("a", "medlar", draft=True)
    again = kb.add_text("a", "medlar")
    assert (again.outcome, again.version, again.job_id) == (UploadOutcome.RESTORED, 1, first.job_id)
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 1)}


def test_a_draft_that_becomes_wanted_while_it_is_indexed_is_published(kb: core.KnowledgeBase) -> None:
    kb.add_text("a", "medlar", draft=True)
    flush = kb._projector.flush

    def wanting() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        kb.add_text("a", "medlar")
        flush()

    kb._projector.flush = wanting  # type: ignore[method-assign]
    kb.work_off()
    assert names(kb, "medlar") == {("a.txt", 1)}
    assert [part for _, part in kb._keywords.ids()] == [Part.HEAD]


def test_a_draft_of_bytes_that_are_there_is_unchanged(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    assert draft(kb, "a", "first").outcome is UploadOutcome.UNCHANGED
    draft(kb, "a", "second", note="mine", label="v2")
    again = draft(kb, "a", "second", note="other", label="other")
    assert (again.outcome, again.version) == (UploadOutcome.UNCHANGED, 2)
    version = kb.version("a.txt", 2)
    assert (version.note, version.label, version.is_draft) == ("mine", "v2", True)


def test_what_is_shown_is_unchanged_beside_a_draft(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    draft(kb, "a", "second")
    assert kb.add_text("a", "first").outcome is UploadOutcome.UNCHANGED
    kb.add_text("a", "third", draft=True)
    assert kb.add_text("a", "first").outcome is UploadOutcome.UNCHANGED


def test_a_draft_uploaded_to_a_deleted_document_can_be_seen_in_the_list(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "first")
    kb.delete("a.txt")
    draft(kb, "a", "second")
    assert [document.state for document in kb.documents()] == ["draft"]


def test_the_name_and_the_kind_of_a_document_follow_what_is_shown(kb: core.KnowledgeBase) -> None:
    add(kb, "notes", "typed")
    kb.add_file("NOTES.txt", io.BytesIO(b"uploaded"), draft=True)
    kb.work_off()
    assert (kb.document("notes.txt").name, kb.document("notes.txt").is_text_entry) == ("notes.txt", True)
    kb.publish("notes.txt", 2)
    assert (kb.document("notes.txt").name, kb.document("notes.txt").is_text_entry) == ("NOTES.txt", False)
    kb.rollback("notes.txt")
    assert (kb.document("notes.txt").name, kb.document("notes.txt").is_text_entry) == ("notes.txt", True)


def test_a_chunk_that_a_draft_takes_while_another_version_is_about_to_be_shown_stays_in_head(
    kb: core.KnowledgeBase,
) -> None:
    add(kb, "a", "first")
    draft(kb, "a", "medlar")
    kb.add_text("a", "medlar \n", draft=True)
    commit = kb.catalog.publications.commit

    def meeting(*args: object, **options: object) -> Publication | None:
        kb.catalog.publications.commit = commit  # type: ignore[method-assign]
        kb.work_off()
        return commit(*args, **options)  # type: ignore[arg-type]

    kb.catalog.publications.commit = meeting  # type: ignore[method-assign]
    assert kb.catalog.chunks.ids_of(kb.version("a.txt", 2).id)
    kb.publish("a.txt", 2)
    kb._projector.flush()
    shown = set(kb.catalog.chunks.ids_of(kb.version("a.txt", 2).id))
    assert set(kb.catalog.chunks.ids_of(kb.version("a.txt", 3).id)) == shown
    assert {chunk for chunk, part in kb._keywords.ids() if part is Part.HEAD} == shown


def test_a_cancelled_upload_gives_back_what_it_had_prepared(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "medlar")
    add(kb, "a", "second")
    upload = kb.add_text("a", "medlar")
    flush = kb._projector.flush

    def cancelling() -> None:
        kb._projector.flush = flush  # type: ignore[method-assign]
        flush()
        kb.cancel(str(upload.job_id))

    kb._projector.flush = cancelling  # type: ignore[method-assign]
    kb.work_off()
    kb._projector.flush()
    head = set(kb.catalog.chunks.ids_of(kb.version("a.txt", 2).id))
    assert {chunk for chunk, part in kb._keywords.ids() if part is Part.HEAD} == head


@pytest.mark.parametrize(
    "filing",
    [
        {"label": "x" * 201},
        {"note": "x" * 2001},
        {"publish_at": datetime(2000, 1, 1, tzinfo=UTC)},
        {"publish_at": datetime.now() + timedelta(days=1)},
    ],
)
def test_what_cannot_be_said_of_an_upload_is_refused_before_it_is_stored(
    kb: core.KnowledgeBase, filing: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput):
        kb.add_text("a", "text", **filing)  # type: ignore[arg-type]
    assert kb.documents(include_deleted=True) == []


def test_notes_and_labels_can_be_changed(kb: core.KnowledgeBase) -> None:
    kb.add_text("a", "text", note="first note", label="first label", actor="Ada")
    kb.work_off()
    version = kb.version("a.txt", 1)
    assert (version.note, version.label, version.actor) == ("first note", "first label", "Ada")
    assert kb.annotate("a.txt", 1, label="approved").note == "first note"
    assert kb.annotate("a.txt", 1, note="").label == "approved"
    assert kb.version("a.txt", 1).note == ""
    for wrong in ({"label": "x" * 201}, {"note": "x" * 2001}):
        with pytest.raises(InvalidInput):
            kb.annotate("a.txt", 1, **wrong)
    with pytest.raises(NotFound):
        kb.annotate("a.txt", 2, note="none")


def test_the_timeline_counts_chunks_kept_added_and_removed(kb: core.KnowledgeBase) -> None:
    paragraphs = [f"Paragraph {n} tells about topic {n}. " * 60 for n in range(8)]
    add(kb, "book", "\n\n".join(paragraphs))
    draft(kb, "book", "\n\n".join([*paragraphs[:5], "Another ending. " * 60]))
    first, second = kb.version("book.txt", 1), kb.version("book.txt", 2)
    old, new = kb.preview("book.txt", 1).chunks, kb.preview("book.txt", 2).chunks
    assert second.chunks_kept == len([chunk for chunk in new if chunk.id in {other.id for other in old}]) > 0
    assert second.chunks_added == second.chunk_count - second.chunks_kept > 0
    assert second.chunks_removed == first.chunk_count - second.chunks_kept > 0
    assert (first.chunks_added, first.chunks_removed) == (first.chunk_count, 0)
