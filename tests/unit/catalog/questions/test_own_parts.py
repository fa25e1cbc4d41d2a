"""The account of an answer from the cache is kept as what is its own, and read whole whatever becomes of the rest."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

import core
from core.catalog.questions.history import Questions
from core.catalog.questions.own_parts import REDACTED, account
from core.catalog.questions.packing import LITTLE_BYTES, packed, unpacked
from core.catalog.schema import questions
from core.cli.transfer import import_from
from core.errors import NotFound, Purged
from core.model import RetentionDays, Trace
from core.model.codec import to_dict, to_json
from tests.builders import add, begin, knowledge_base, settings

QUESTION = "When does the museum open?"
LONG = "The museum opens at nine. " * 300


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "hours", LONG)
    return core.EvoRAG(kb=kb)


def asked_twice(rag: core.EvoRAG) -> tuple[Trace, Trace]:
    first, again = rag.ask(QUESTION), rag.ask(QUESTION)
    assert again.cache is not None and again.cache.trace_id == first.id
    return first, again


def kept(kb: core.KnowledgeBase, question_id: str) -> bytes:
    with kb.catalog.database.read() as tx:
        return bytes(tx.scalar(select(questions.c.trace).where(questions.c.id == question_id)) or b"")


def keep(kb: core.KnowledgeBase, question_id: str, trace: bytes) -> None:
    with kb.catalog.database.write() as tx:
        tx.execute(update(questions).where(questions.c.id == question_id).values(trace=trace))


def test_a_small_row_is_read_as_the_account_that_was_given_to_the_byte(rag: core.EvoRAG) -> None:
    _, again = asked_twice(rag)
    row = kept(rag.kb, again.id)
    assert len(row) <= LITTLE_BYTES < len(to_json(again))
    with rag.kb.catalog.database.read() as tx:
        assert account(tx, row) == to_dict(again)
        assert packed(account(tx, row)) == packed(again)
    assert rag.kb.trace(again.id) == again


def test_another_process_reads_it_whole(rag: core.EvoRAG) -> None:
    first, again = asked_twice(rag)
    elsewhere = Questions(rag.kb.catalog.database)
    assert [elsewhere.get(each.id) for each in (again, first, again, first)] == [again, first, again, first]


def test_it_stays_when_the_question_that_has_the_rest_goes(rag: core.EvoRAG) -> None:
    first, again = asked_twice(rag)
    kb = rag.kb
    with kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=40)
        tx.execute(update(questions).where(questions.c.id == first.id).values(asked_at=before))
    kb.catalog.retention.days = RetentionDays(questions=30)
    assert kb.catalog.retention.apply()["questions"] == 1
    with pytest.raises(NotFound):
        kb.trace(first.id)
    assert unpacked(kept(kb, again.id)) == to_dict(again)
    assert kb.trace(again.id) == again


def test_a_question_that_is_gone_before_its_answer_is_given_again_leaves_the_account_whole(rag: core.EvoRAG) -> None:
    _, again = asked_twice(rag)
    kb = rag.kb
    with kb.catalog.database.write() as tx:
        tx.execute(questions.delete())
    assert kb.catalog.questions.keep(again)
    assert unpacked(kept(kb, again.id)) == to_dict(again)
    assert kb.trace(again.id) == again


def test_a_purge_reaches_it(rag: core.EvoRAG) -> None:
    first, again = asked_twice(rag)
    kb = rag.kb
    kb.purge(first.hits[0].placed.doc_key)
    for each in (first, again):
        with pytest.raises(Purged):
            kb.trace(each.id)
        assert unpacked(kept(kb, each.id)) == REDACTED
    assert [each.answer for each in kb.history()] == ["", ""]


def test_a_purge_that_was_interrupted_reaches_it_the_next_time(rag: core.EvoRAG) -> None:
    first, again = asked_twice(rag)
    kb, placed = rag.kb, first.hits[0].placed
    keep(kb, first.id, packed(REDACTED))
    with pytest.raises(Purged):
        Questions(kb.catalog.database).get(again.id)
    kb.catalog.questions.redact({(placed.doc_key, placed.version)})
    assert unpacked(kept(kb, again.id)) == REDACTED
    assert "nine" not in kb.history()[0].answer


def test_an_archive_carries_it(rag: core.EvoRAG, tmp_path: Path) -> None:
    _, again = asked_twice(rag)
    archive = io.BytesIO(b"".join(rag.kb.backup()))
    new = settings(tmp_path / "new")
    begin(new.data_dir)
    import_from(new, archive)
    with knowledge_base(tmp_path / "new") as other:
        assert other.trace(again.id) == again
