"""Publishing, rolling back, hiding and restoring: each is one row, and costs what differs."""

from __future__ import annotations

import pytest
from sqlalchemy import select

import core
from core.catalog.schema import outbox
from core.errors import Conflict, InvalidInput, NotFound
from core.model import Part, Publication
from tests.builders import add


def names(kb: core.KnowledgeBase, question: str, **options: object) -> set[tuple[str, int]]:
    trace = core.EvoRAG(kb=kb).search(core.Query(question, **options))  # type: ignore[arg-type]
    return {(hit.placed.doc_key, hit.placed.version) for hit in trace.candidates}


@pytest.fixture
def three(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    for text in ("first medlar", "second quince", "third pear"):
        add(kb, "a", text)
    return kb


def test_rolling_back_shows_the_version_before(three: core.KnowledgeBase) -> None:
    done = three.rollback("a.txt", actor="Ada", note="wrong figures")
    assert (done.action, done.version, done.subject, done.actor, done.note) == (
        "rollback",
        2,
        None,
        "Ada",
        "wrong figures",
    )
    assert names(three, "quince") == {("a.txt", 2)}
    assert three.rollback("a.txt").version == 3


def test_rolling_back_to_a_version_shows_that_one(three: core.KnowledgeBase) -> None:
    assert three.rollback("a.txt", 1).version == 1
    assert names(three, "medlar") == {("a.txt", 1)}
    with pytest.raises(Conflict):
        three.rollback("a.txt", 1)
    with pytest.raises(NotFound):
        three.rollback("a.txt", 9)


def test_rolling_back_passes_over_what_was_purged(three: core.KnowledgeBase) -> None:
    three.purge("a.txt", 2)
    assert three.rollback("a.txt").version == 1


def test_an_unpublished_document_stays_listed_and_shows_nothing(three: core.KnowledgeBase) -> None:
    done = three.unpublish("a.txt", note="under revision")
    assert (done.action, done.version, done.subject) == ("unpublish", None, 3)
    assert [(document.state, document.published_version) for document in three.documents()] == [("unpublished", None)]
    assert names(three, "medlar quince pear") == set()
    assert names(three, "pear", as_of=3) == {("a.txt", 3)}
    with pytest.raises(Conflict):
        three.unpublish("a.txt")
    assert three.restore("a.txt").version == 3
    assert three.document("a.txt").state == "published"


def test_an_upload_from_before_a_document_was_hidden_does_not_show_it_again(three: core.KnowledgeBase) -> None:
    three.add_text("a", "fourth fig")
    three.unpublish("a.txt")
    three.work_off()
    assert (three.version("a.txt", 4).state, three.document("a.txt").state) == ("ready", "unpublished")
    assert three.publish("a.txt", 4).version == 4


def test_purging_another_version_does_not_stop_an_upload(three: core.KnowledgeBase) -> None:
    three.unpublish("a.txt")
    three.add_text("a", "fourth fig")
    three.purge("a.txt", 1)
    three.work_off()
    assert three.document("a.txt").published_version == 4


def test_the_audit_lists_everything_that_was_shown_and_hidden(three: core.KnowledgeBase) -> None:
    add(three, "b", "other")
    three.rollback("a.txt", actor="Ada")
    three.delete("b.txt", actor="Ben", note="old")
    audit = three.audit()
    assert [(entry.doc_key, entry.action) for entry in audit] == [
        ("b.txt", "delete"),
        ("a.txt", "rollback"),
        ("b.txt", "publish"),
        *[("a.txt", "publish")] * 3,
    ]
    assert (audit[0].subject, audit[0].actor, audit[0].note) == (1, "Ben", "old")
    assert three.audit(limit=2) == audit[:2]
    assert three.audit(before=audit[1].seq) == audit[2:]
    assert three.audit(key="b.txt") == [audit[0], audit[2]] == three.publications("b.txt")
    assert three.audit(action="rollback") == [audit[1]]
    assert three.sequence() == audit[0].seq


def test_an_upload_is_published_in_the_name_of_who_uploaded_it(kb: core.KnowledgeBase) -> None:
    kb.add_text("a", "text", actor="Ada")
    kb.work_off()
    assert kb.audit()[0].actor == "Ada"


def test_a_note_of_a_decision_has_its_limit(three: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        three.unpublish("a.txt", note="x" * 2001)
    assert three.document("a.txt").published_version == 3


def test_a_rollback_tells_the_indexes_of_what_differs_alone(kb: core.KnowledgeBase) -> None:
    paragraphs = [f"Paragraph {n} tells about topic {n}. " * 60 for n in range(30)]
    add(kb, "book", "\n\n".join(paragraphs))
    add(kb, "book", "\n\n".join([*paragraphs[:-1], "Another ending. " * 60]))
    old, new = (set(kb.catalog.chunks.ids_of(kb.version("book.txt", number).id)) for number in (1, 2))
    kb._projector.flush()
    kb._projector.flush = lambda: None  # type: ignore[method-assign]
    kb._projector.flush_soon = lambda: None  # type: ignore[method-assign]
    kb.rollback("book.txt")
    told = _outbox(kb)
    assert {chunk for _, chunk, part in told if part == Part.HEAD} == old - new
    assert {chunk for _, chunk, part in told if part == Part.HISTORY} == new - old
    assert len(told) == 2 * len(old ^ new) < len(old)


def test_a_rollback_embeds_nothing(three: core.KnowledgeBase) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a rollback embeds nothing")

    three._embedder.embed_passages = refuse  # type: ignore[method-assign, assignment]
    assert three.rollback("a.txt").version == 2
    assert names(three, "quince") == {("a.txt", 2)}


def _outbox(kb: core.KnowledgeBase) -> list[tuple[str, int, str]]:
    with kb.catalog.database.read() as tx:
        return [tuple(row) for row in tx.execute(select(outbox.c.store, outbox.c.chunk_id, outbox.c.part))]


@pytest.mark.parametrize("act", ["publish", "rollback", "restore"])
def test_a_decision_that_was_taken_twice_is_one_publication(
    three: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    if act == "restore":
        three.unpublish("a.txt")
    commit = three.catalog.publications.commit
    before = len(three.publications("a.txt"))

    def meeting(*args: object, **options: object) -> Publication | None:
        monkeypatch.setattr(three.catalog.publications, "commit", commit)
        three.restore("a.txt") if act == "restore" else getattr(three, act)("a.txt", 1)
        return commit(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(three.catalog.publications, "commit", meeting)
    with pytest.raises(Conflict):
        three.restore("a.txt") if act == "restore" else getattr(three, act)("a.txt", 1)
    assert len(three.publications("a.txt")) == before + 1


def test_what_is_shown_is_not_published_again(three: core.KnowledgeBase) -> None:
    with pytest.raises(Conflict):
        three.publish("a.txt", 3)
    assert [entry.version for entry in three.publications("a.txt")] == [3, 2, 1]


@pytest.mark.long
@pytest.mark.parametrize("error", [Conflict("no"), OSError("the disk is full")])
def test_what_was_prepared_and_not_published_leaves_head(
    three: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def failing(*_: object, **__: object) -> None:
        assert len(_head(three)) == 2
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(three.catalog.publications, "commit", failing)
        with pytest.raises(type(error)):
            three.publish("a.txt", 1)
    three._projector.flush()
    assert _head(three) == set(three.catalog.chunks.ids_of(three.version("a.txt", 3).id))


def test_what_a_killed_process_had_prepared_leaves_head_at_the_next_start(three: core.KnowledgeBase) -> None:
    doc_id = three.catalog.documents.id_of("a.txt")
    three.catalog.publications.prepare(doc_id, three.version("a.txt", 1).id)
    three._projector.flush()
    assert len(_head(three)) == 2
    three._versions._history.resume()
    three._projector.flush()
    assert _head(three) == set(three.catalog.chunks.ids_of(three.version("a.txt", 3).id))
    assert three.catalog.publications.prepared() == []


@pytest.mark.long
def test_nothing_is_taken_back_at_a_start_after_what_was_prepared_was_published(three: core.KnowledgeBase) -> None:
    three.rollback("a.txt", 1)
    three.add_text("a", "fourth fig", draft=True)
    three.work_off()
    assert three.catalog.publications.prepared() == []


def _head(kb: core.KnowledgeBase) -> set[int]:
    return {chunk for chunk, part in kb._keywords.ids() if part is Part.HEAD}
