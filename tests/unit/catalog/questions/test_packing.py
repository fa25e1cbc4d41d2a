"""Accounts of questions are made small after they were kept, and read the same before and after."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from sqlalchemy import select, update

import core
from core.catalog.questions.packing import Packer, checksum, packed, unpacked
from core.catalog.schema import questions
from core.errors import Purged
from tests.builders import add, knowledge_base
from tests.waiting import until

QUESTION = "When does the museum open?"
LONG = "The museum opens at nine. " * 300


@pytest.fixture
def rag(kb: core.KnowledgeBase) -> core.EvoRAG:
    add(kb, "hours", LONG)
    return core.EvoRAG(kb=kb)


def kept(kb: core.KnowledgeBase, question_id: str) -> bytes:
    with kb.catalog.database.read() as tx:
        return bytes(tx.scalar(select(questions.c.trace).where(questions.c.id == question_id)) or b"")


def test_an_account_is_stored_as_it_came_and_then_made_small(rag: core.EvoRAG) -> None:
    trace = rag.ask(QUESTION)
    before = kept(rag.kb, trace.id)
    assert before[2] in (0, 1) and len(before) > len(zlib.decompress(before))
    assert rag.kb.trace(trace.id) == trace
    until(lambda: len(kept(rag.kb, trace.id)) < len(before) // 2)
    after = kept(rag.kb, trace.id)
    assert (unpacked(after), checksum(after)) == (unpacked(before), checksum(before))
    assert rag.kb.trace(trace.id) == trace


def test_closing_makes_small_what_was_kept_last(rag: core.EvoRAG) -> None:
    trace = rag.ask(QUESTION)
    size = len(kept(rag.kb, trace.id))
    rag.kb.catalog.questions.close()
    assert len(kept(rag.kb, trace.id)) < size // 2


def left_as_it_came(kb: core.KnowledgeBase, question_id: str) -> bytes:
    """Have the account of a question as a process leaves it that is killed before it makes it small."""
    kb.catalog.questions.close()
    left = zlib.compress(zlib.decompress(kept(kb, question_id)), 0)
    replace(kb, question_id, left)
    return left


def replace(kb: core.KnowledgeBase, question_id: str, account: bytes) -> None:
    with kb.catalog.database.write() as tx:
        tx.execute(update(questions).where(questions.c.id == question_id).values(trace=account))


def test_what_was_redacted_meanwhile_stays_redacted(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    kb, trace, redacted = rag.kb, rag.ask(QUESTION), packed({"purged": True})
    left_as_it_came(kb, trace.id)
    compress = zlib.compress

    def slowly(data: bytes, level: int) -> bytes:
        replace(kb, trace.id, redacted)
        return compress(data, level)

    monkeypatch.setattr(zlib, "compress", slowly)
    Packer(kb.catalog.database)._make_small([trace.id])
    monkeypatch.undo()
    assert kept(kb, trace.id) == redacted
    with pytest.raises(Purged):
        kb.trace(trace.id)


def test_what_a_killed_process_left_is_made_small_by_the_next(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        add(kb, "hours", LONG)
        trace = core.EvoRAG(kb=kb).ask(QUESTION)
        left = left_as_it_came(kb, trace.id)
    with knowledge_base(tmp_path) as kb:
        core.EvoRAG(kb=kb).ask("Is the museum open?")
        until(lambda: len(kept(kb, trace.id)) < len(left) // 2)
        assert kb.trace(trace.id) == trace
