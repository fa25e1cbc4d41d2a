"""The packaged reader in a whole knowledge base: it is accounted for, repeats itself, and can be switched off."""

from __future__ import annotations

from pathlib import Path

from core import EvoRAG, Query
from tests.builders import add, knowledge_base

PAGE = (
    "--checksum skips files by checksum, not by time and size. "
    "--dry-run performs a trial run with no changes made. "
    "--max-size does not transfer any file larger than the size that is given. The default is no limit. "
    "--timeout sets the maximum I/O timeout in seconds. The default is 0, which means no timeout."
)
QUESTIONS = ("What does --dry-run do?", "--dry-runは何をしますか?")


def test_a_question_is_read_the_same_each_time_and_the_trace_tells_it(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, test_mode=False) as kb:
        add(kb, "copying", PAGE)
        first, second = (EvoRAG(kb=kb).ask(Query(QUESTIONS[0], fresh=True)) for _ in range(2))
    assert "trial run" in first.answer.text
    told = first.generation["reader"]
    assert told["name"] == "evorag-reader"
    assert told["stretches"] == 1
    assert 0 <= told["answers"] <= 1
    assert told["ms"] > 0
    assert first.answer == second.answer


def test_without_the_reader_nothing_is_read(tmp_path: Path) -> None:
    for how in ({"reader": "off"}, {"embedder": "hash"}):
        with knowledge_base(tmp_path / "".join(how), test_mode=False, **how) as kb:
            add(kb, "copying", PAGE)
            trace = EvoRAG(kb=kb).ask(Query(QUESTIONS[0]))
        assert "reader" not in trace.generation


def test_what_is_answered_from_is_ordered_by_the_reader_and_what_is_searched_is_not(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, test_mode=False) as kb:
        add(kb, "copying", PAGE)
        add(kb, "cleaning", "--force cleans without asking. --dry-run is told of in the page on copying.")
        rag = EvoRAG(kb=kb)
        asked, searched = rag.ask(Query(QUESTIONS[0])), rag.search(Query(QUESTIONS[0]))
        why = kb.insight.why_not(Query(QUESTIONS[0]), "cleaning.txt")
    assert asked.rerank is not None and searched.rerank is not None
    assert set(asked.rerank.weights) - set(searched.rerank.weights) == {"reader", "document"}
    assert all(hit.rerank and "reader" in hit.rerank.parts for hit in asked.hits)
    assert asked.timings_ms["read"] > 0 and "read" not in searched.timings_ms
    assert [hit.placed.id for hit in why.trace.candidates] == [hit.placed.id for hit in asked.candidates]
