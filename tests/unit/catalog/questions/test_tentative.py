"""The history knows which answers were not certain, without reading their accounts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import core
from core.backup.rows import RowReader, RowWriter
from core.catalog.schema import questions
from core.model import Query, Trace
from tests.builders import add, knowledge_base
from tests.unit.catalog.test_taking_back import taken_back

QUESTION = "When does the museum open?"


def kept_twice(kb: core.KnowledgeBase) -> tuple[str, Trace]:
    """Keep a certain answer, and then one that is not, in one conversation."""
    add(kb, "hours", "The museum opens at nine.")
    talk = kb.conversations.create().id
    first = core.EvoRAG(kb=kb).ask(Query(QUESTION, conversation_id=talk))
    second = replace(first, id="f" * 32, answer=replace(first.answer, is_tentative=True))
    assert kb.catalog.questions.keep(second)
    return talk, second


def told(kb: core.KnowledgeBase) -> list[bool]:
    return [each.is_tentative for each in sorted(kb.history(), key=lambda each: each.id == "f" * 32)]


def test_an_answer_that_is_not_certain_is_told_by_the_history_and_its_conversation(kb: core.KnowledgeBase) -> None:
    talk, second = kept_twice(kb)
    assert told(kb) == [False, True] and kb.trace(second.id).answer.is_tentative
    assert [turn.summary.is_tentative for turn in kb.conversations.turns(talk)] == [False, True]


def test_answers_that_were_kept_before_count_as_certain(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        _, second = kept_twice(kb)
        before = kb.history()
    taken_back(tmp_path / "data" / "catalog.db", "0018")
    with knowledge_base(tmp_path) as kb:
        assert kb.history() == [replace(each, is_tentative=False) for each in before]
        assert kb.trace(second.id) == second


def test_rows_of_archives_tell_it_and_those_of_earlier_releases_count_as_certain(kb: core.KnowledgeBase) -> None:
    kept_twice(kb)
    with kb.catalog.database.read() as tx:
        rows = [dict(row) for row in tx.execute(questions.select().order_by(questions.c.turn)).mappings()]
    lines = [RowWriter(questions).line(row) for row in rows]
    read = RowReader(questions).row
    assert [read(line) for line in lines] == rows
    earlier = [line.replace(b',"is_tentative":true', b"").replace(b',"is_tentative":false', b"") for line in lines]
    assert [read(line) for line in earlier] == [{**row, "is_tentative": False} for row in rows] and earlier != lines
