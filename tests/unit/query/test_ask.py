"""The way of asking, from the words of a question to its account."""

from __future__ import annotations

import time
from typing import Any

import pytest

import core
from core.model import Query, Trace
from core.query import pipeline
from tests.builders import add


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
    steps = core.EvoRAG(kb=kb).ask_events("When does the museum open?", keep=keep)
    trace = next(value for _, value in steps if isinstance(value, Trace))
    assert asked == ["When does the museum open?"]
    assert trace.timings_ms["analyse"] >= 20
    assert trace.analysis.normalised
