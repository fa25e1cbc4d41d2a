"""What is shown before its vectors are there: answers and searches that could have needed them say so."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import flask
import pytest
from sqlalchemy.event import listen, remove

import core
from app.components.ask.answer_card import degraded_notices
from core.access import acting
from core.catalog.documents.views import View
from core.cli import output
from core.errors import ModelUnavailable
from core.model import Filters, Indexing, JobState, Principal, Query, Role, Trace, VersionRef, to_dict
from core.model.codec import from_dict
from core.ports import Progress, Vector
from tests.builders import add
from tests.unit.app.drawn import text

QUESTION = "When does the medlar shop open?"
ROOT, ANN, BOB = Principal("root", Role.ADMIN, 1), Principal("ann", Role.EDITOR, 2), Principal("bob", Role.READER, 3)


def pages(name: str, count: int) -> bytes:
    sentence = f"The medlar shop {name} number {{}} opens at nine. "
    return "\n\n".join(f"# Part {at}\n\n" + sentence.format(at) * 30 for at in range(count)).encode()


def begin(kb: core.KnowledgeBase, name: str = "book.md", count: int = 3, **filing: Any) -> None:
    """Upload a text and take it to where its words are indexed, and nothing is embedded."""
    kb.add_file(name, io.BytesIO(pages(name, count)), **filing)
    kb._worker._prepare_some(large=None)


def search(kb: core.KnowledgeBase, **options: Any) -> Trace:
    return core.EvoRAG(kb=kb).search(Query(QUESTION, **options))


def test_what_is_found_by_its_words_alone_is_told_until_its_vectors_are_there(kb: core.KnowledgeBase) -> None:
    assert search(kb).indexing is None
    begin(kb, count=100)
    chunks = kb.version("book.md", 1).chunk_count
    trace = search(kb)
    assert trace.keyword.hits and not trace.vector.hits
    assert (trace.indexing, trace.degraded) == (Indexing(1, chunks, 0), ("vector",))
    kb._worker._pipeline.embed()
    assert search(kb).indexing == Indexing(1, chunks, 64)
    kb.work_off()
    again = search(kb)
    assert again.vector.hits and (again.indexing, again.degraded) == (None, ())


def test_only_what_the_question_could_have_found_counts(kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The medlar shop opens at nine.")
    before = kb.catalog.publications.sequence()
    begin(kb, "one.md", tags=["a"])
    begin(kb, "two.md", tags=["b"])
    begin(kb, "draft.md", draft=True)
    begin(kb, "whole.md", early=False)
    found = search(kb).indexing
    assert found is not None and found.documents == 2
    one = search(kb, filters=Filters(tags=("a",))).indexing
    assert one is not None and (one.documents, one.chunks) == (1, kb.version("one.md", 1).chunk_count)
    assert search(kb, filters=Filters(doc_keys=("hours",))).indexing is None
    assert search(kb, as_of=before).indexing is None
    assert search(kb, as_of=before + 1).indexing == one
    pinned = search(kb, as_of=VersionRef("one.md", 1)).indexing
    assert pinned is not None and pinned.documents == 2
    ever = search(kb, versions="all").indexing
    assert ever is not None and ever.documents == 2


def test_a_hidden_version_counts_only_for_questions_about_when_it_was_shown(kb: core.KnowledgeBase) -> None:
    begin(kb)
    shown = kb.catalog.publications.sequence()
    kb.unpublish("book.md")
    assert search(kb).indexing is None
    assert search(kb, as_of=shown).indexing is not None
    pinned = search(kb, as_of=VersionRef("book.md", 1)).indexing
    assert pinned is not None and pinned.documents == 1


def test_nothing_is_told_of_documents_that_the_asker_does_not_see(kb: core.KnowledgeBase) -> None:
    with acting(ANN):
        begin(kb, "secret.md", private=True)
        own = search(kb).indexing
    with acting(BOB):
        trace = search(kb)
    with acting(ROOT):
        told = search(kb).indexing
    assert own == told and own is not None and own.documents == 1
    assert (trace.indexing, trace.degraded) == (None, ())


def test_an_answer_that_lacked_vectors_is_not_given_again(kb: core.KnowledgeBase) -> None:
    rag = core.EvoRAG(kb=kb)
    begin(kb)
    asked = rag.ask(QUESTION)
    assert kb.trace(asked.id).indexing is not None
    assert rag.ask(QUESTION).cache is None
    kb.work_off()
    again = rag.ask(QUESTION)
    assert (again.cache, again.indexing) == (None, None)
    assert rag.ask(QUESTION).cache is not None


def test_a_version_whose_embedding_failed_is_told_until_it_was_started_again(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(texts: Sequence[str], progress: Progress | None = None) -> Vector:
        raise ModelUnavailable("The model is gone.")

    rag = core.EvoRAG(kb=kb)
    with monkeypatch.context() as broken:
        broken.setattr(kb._embedder, "embed_passages", fail)
        begin(kb, "lost.md")
        kb.work_off()
    [failed] = kb.jobs()
    assert failed.state is JobState.FAILED
    chunks = kb.version("lost.md", 1).chunk_count
    begin(kb, "late.md")
    found = search(kb).indexing
    assert found == Indexing(2, chunks + kb.version("late.md", 1).chunk_count, 0, failed=1)
    kb.work_off()
    assert search(kb).indexing == Indexing(1, chunks, 0, failed=1)
    rag.ask(QUESTION)
    assert rag.ask(QUESTION).cache is None
    kb.retry(failed.id)
    kb.work_off()
    assert search(kb).indexing is None


def test_the_notice_reads_no_version_but_those_that_lack_vectors(kb: core.KnowledgeBase) -> None:
    asked: list[tuple[str, Any]] = []
    database = kb.catalog.database

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        asked.append((statement, values))

    listen(database.engine, "before_cursor_execute", note)
    kb.catalog.publications.asked_of()
    kb.catalog.indexing.awaited(View(0), None)
    kb.catalog.answers.state()
    remove(database.engine, "before_cursor_execute", note)
    lacking = [each for each in asked if "embedded_chunks" in each[0]]
    assert len(lacking) == 3
    for statement, values in lacking:
        with database.read() as tx:
            ways = [row[3] for row in tx.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
        assert any("INDEX versions_lacking" in way for way in ways), ways
        assert any("jobs USING INDEX jobs_version" in way for way in ways), ways


def test_nobody_looks_for_such_documents_while_nothing_is_indexed(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(kb, "hours", "The medlar shop opens at nine.")
    looked: list[Sequence[Any]] = []
    monkeypatch.setattr(kb.catalog.indexing, "awaited", lambda *given: looked.append(given))
    search(kb)
    assert looked == []
    begin(kb)
    search(kb)
    assert len(looked) == 1


@pytest.mark.parametrize(
    ("language", "one", "two", "lost"),
    [
        (
            "en",
            "1 document is still being indexed: found by words, by meaning 0%",
            "2 documents are still being indexed: found by words, by meaning 37%",
            "1 document could not be indexed whole: it is found by its words, but not all of it by meaning",
        ),
        (
            "ja",
            "1件の文書の索引を作成しています",
            "2件の文書の索引を作成しています。語句では検索でき、意味での検索は 37%",
            "1件の文書は索引の作成に失敗しました。語句では検索できます",
        ),
    ],
)
def test_people_are_told(
    kb: core.KnowledgeBase, capsys: pytest.CaptureFixture[str], language: str, one: str, two: str, lost: str
) -> None:
    begin(kb)
    trace = core.EvoRAG(kb=kb).ask(QUESTION)
    far = {"documents": 2, "chunks": 1000, "embedded_chunks": 379}
    both = from_dict(Trace, to_dict(trace) | {"indexing": far})
    failed = from_dict(Trace, to_dict(trace) | {"indexing": far | {"documents": 3, "failed": 1}})
    with flask.Flask(__name__).test_request_context(headers={"Accept-Language": language}):
        for each, words in ((trace, one), (both, two)):
            [notice] = degraded_notices(each)
            assert words in text(notice)
        going_on, stopped = degraded_notices(failed)
        assert two in text(going_on) and lost in text(stopped)
    if language == "en":
        assert output.warn_of_failures(trace) and output.warn_of_failures(both)
        told = capsys.readouterr().err
        assert f"warning: {one}.\n" in told and f"warning: {two}.\n" in told
        assert output.warn_of_failures(failed)
        told = capsys.readouterr().err
        assert f"warning: {two}.\n" in told and "warning: the embedding of 1 document failed" in told


def test_a_trace_of_a_release_before_is_read(kb: core.KnowledgeBase) -> None:
    trace = search(kb)
    data = json.loads(json.dumps(to_dict(trace)))
    del data["indexing"]
    assert from_dict(Trace, data) == trace
