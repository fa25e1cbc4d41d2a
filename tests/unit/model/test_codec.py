"""Every value survives the way to plain data and back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import core
from core.model import Filters, Query, Trace, to_dict
from core.model.codec import from_dict
from tests.builders import add


def test_a_trace_survives_json(kb: core.KnowledgeBase) -> None:
    add(kb, "a", "walnut bread")
    trace = core.EvoRAG(kb=kb).ask(Query("walnut", filters=Filters(tags=()), as_of=1))
    assert from_dict(Trace, json.loads(json.dumps(to_dict(trace)))) == trace


def test_as_of_a_moment_stays_a_moment() -> None:
    query = Query("text", as_of=datetime(2026, 1, 2, tzinfo=UTC))
    assert from_dict(Query, to_dict(query)) == query
    number = replace(query, as_of=7)
    assert from_dict(Query, to_dict(number)) == number


def test_missing_fields_take_their_defaults() -> None:
    assert from_dict(Query, {"text": "only"}) == Query("only")
