"""The way of asking, from the words of a question to its account."""

from __future__ import annotations

import time
from typing import Any

import pytest

import core
from core.errors import InvalidInput
from core.model import DoneStep, Query
from core.query import ask, pipeline
from core.query.understand import understanding
from tests.builders import add

QUESTION = "When does the museum open?"


@pytest.mark.parametrize("keep", [True, False])
def test_a_question_is_understood_once_and_its_account_has_the_time(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    add(kb, "hours", "The museum opens at nine.")
    understand, asked = pipeline.understand, []

    def slowly(query: Query, *given: Any) -> Any:
        asked.append(query.text)
        time.sleep(0.02)
        return understand(query, *given)

    monkeypatch.setattr(pipeline, "understand", slowly)
    steps = core.EvoRAG(kb=kb).ask_events(QUESTION, keep=keep)
    trace = next(step.trace for step in steps if isinstance(step, DoneStep))
    assert asked == [QUESTION]
    assert trace.timings_ms["analyse"] >= 20
    assert trace.analysis.normalised


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checks and analyses of whole questions from now on."""
    calls: list[str] = []

    def count(place: Any, name: str) -> None:
        real = getattr(place, name)

        def call(*given: Any, **named: Any) -> Any:
            calls.append(name)
            return real(*given, **named)

        monkeypatch.setattr(place, name, call)

    for place, name in ((ask, "check_query"), (pipeline, "check_query"), (understanding, "analyse")):
        count(place, name)
    return calls


@pytest.mark.parametrize("way", ["ask", "ask again", "ask_events", "search", "run"])
def test_a_question_is_checked_once_and_analysed_once(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    add(kb, "hours", "The museum opens at nine.")
    rag = core.EvoRAG(kb=kb)
    if way == "ask again":
        rag.ask(QUESTION)
    calls = counted(monkeypatch)
    ways = {
        "ask": lambda: rag.ask(QUESTION),
        "ask again": lambda: rag.ask(QUESTION),
        "ask_events": lambda: list(rag.ask_events(QUESTION)),
        "search": lambda: rag.search(QUESTION),
        "run": lambda: kb.queries.run(Query(QUESTION), answering=True),
    }
    ways[way]()
    assert sorted(calls) == ["analyse", "check_query"]


@pytest.mark.parametrize("way", ["ask", "search"])
def test_a_wrong_question_of_a_conversation_is_refused_before_it_is_made_standalone(
    kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    rag = core.EvoRAG(kb=kb)
    monkeypatch.setattr(kb.conversations, "standalone", lambda query: pytest.fail("it was made standalone"))
    with pytest.raises(InvalidInput, match="top_k"):
        getattr(rag, way)(Query(QUESTION, top_k=0, conversation_id=kb.conversations.create("museums").id))
