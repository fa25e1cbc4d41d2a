"""Passages that questions have found lately are not read again, and are never older than what is shown."""

from __future__ import annotations

from pathlib import Path

import core
from core.catalog.documents.known_passages import KnownPassages
from core.catalog.documents.views import View
from core.model import Query
from tests.builders import add, knowledge_base, placed

FIRST, SECOND = (1, 1), (1, 2)
VIEW = View(1)


def known(passages: KnownPassages, revision: tuple[int, ...], view: View = VIEW) -> set[int]:
    return set(passages.of(revision, view))


def test_another_revision_makes_all_of_them_unknown() -> None:
    passages = KnownPassages()
    assert known(passages, FIRST) == set()
    passages.add(FIRST, VIEW, [(1, placed(1)), (2, None)])
    assert passages.of(FIRST, VIEW) == {1: placed(1), 2: None}
    assert known(passages, FIRST, View(2)) == set()
    assert known(passages, SECOND) == set()
    passages.add(FIRST, VIEW, [(3, placed(3))])
    assert known(passages, SECOND) == set()


def test_the_oldest_are_forgotten_where_there_is_no_room() -> None:
    passages = KnownPassages(most_bytes=5_000)
    known(passages, FIRST)
    for number in range(10):
        passages.add(FIRST, VIEW, [(number, placed(number, "x" * 500))])
    assert known(passages, FIRST) == {7, 8, 9}
    passages.add(FIRST, View(2), [(1, placed(1, "x" * 500))])
    assert known(passages, FIRST) == set()
    assert known(passages, FIRST, View(2)) == {1}


def texts(rag: core.EvoRAG) -> list[str]:
    return [hit.placed.chunk.text for hit in rag.search(Query("When does the shop open?")).hits]


def test_a_question_sees_what_was_published_purged_and_deleted_a_moment_ago(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        rag = core.EvoRAG(kb=kb)
        for hour in ("eight", "nine"):
            add(kb, "hours", f"The shop opens at {hour}.")
            for _ in range(2):
                assert texts(rag) == [f"The shop opens at {hour}."]
        kb.rollback("hours.txt", 1)
        assert texts(rag) == ["The shop opens at eight."]
        kb.delete("hours.txt")
        assert texts(rag) == []
