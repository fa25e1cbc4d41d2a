"""The REST interface of conversations, of questions that go on with them, and of kept answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from flask.testing import FlaskClient

import core
from core.model import Conversation, Trace, Turn
from core.model.codec import from_dict
from tests.builders import add
from tests.doubles import QueuedGenerator, use
from tests.unit.app.api.test_documents import assert_problem

PATH = "/api/v1/conversations"
OPENING = "When does the museum open?"


@pytest.fixture
def museum(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "museum", "The museum opens at nine.")
    kb._projector.flush()
    return kb


def begun(client: FlaskClient, **body: Any) -> str:
    answer = client.post(PATH, json=body) if body else client.post(PATH)
    assert answer.status_code == 201
    return str(answer.get_json()["id"])


def ask(client: FlaskClient, question: str = OPENING, **body: Any) -> Any:
    return client.post("/api/v1/ask", json={"question": question, **body})


def test_a_conversation_is_begun_gone_on_with_and_read(client: FlaskClient, museum) -> None:
    conversation = begun(client)
    ask(client, conversation_id=conversation)
    trace = from_dict(Trace, ask(client, "Is it free?", conversation_id=conversation).get_json())
    assert trace.analysis.standalone == "Is the museum free?"
    found = client.get(f"{PATH}/{conversation}").get_json()
    assert from_dict(Conversation, found["conversation"]).title == OPENING
    turns = [from_dict(Turn, turn) for turn in found["turns"]]
    assert [(turn.number, turn.summary.id == trace.id) for turn in turns] == [(1, False), (2, True)]


def test_conversations_are_listed_page_by_page_renamed_and_forgotten(client: FlaskClient, museum) -> None:
    ids = [begun(client, title=name) for name in ("one", "two", "three")]
    first = client.get(f"{PATH}?limit=2").get_json()
    rest = client.get(f"{PATH}?limit=2&before={first['next']}").get_json()
    assert [each["id"] for each in first["conversations"] + rest["conversations"]] == ids[::-1]
    assert rest["next"] is None and client.get(f"{PATH}?limit=3").get_json()["next"] is None
    assert client.patch(f"{PATH}/{ids[0]}", json={"title": "first"}).get_json()["title"] == "first"
    assert_problem(client.patch(f"{PATH}/{ids[0]}", json={"title": ""}), 400, "invalid_input")
    assert_problem(client.patch(f"{PATH}/{ids[0]}", json={"title": "x" * 201}), 400, "invalid_input")
    assert client.delete(f"{PATH}/{ids[0]}").status_code == 204
    assert_problem(client.get(f"{PATH}/{ids[0]}"), 404, "not_found")
    assert_problem(ask(client, conversation_id=ids[0]), 404, "not_found")


def test_a_conversation_is_downloaded(client: FlaskClient, museum) -> None:
    conversation = begun(client)
    ask(client, conversation_id=conversation)
    told = client.get(f"{PATH}/{conversation}/export")
    assert (told.mimetype, told.text.splitlines()[0]) == ("text/markdown", f"# {OPENING}")
    assert told.headers["Content-Disposition"] == "attachment; filename=conversation.md"
    data = client.get(f"{PATH}/{conversation}/export?form=json")
    assert data.mimetype == "application/json" and json.loads(data.text)["turns"][0]["question"] == OPENING
    assert_problem(client.get(f"{PATH}/{conversation}/export?form=pdf"), 400, "invalid_input")


def test_a_kept_answer_says_so_and_is_asked_afresh_or_forgotten(client: FlaskClient, museum) -> None:
    first = ask(client).get_json()
    again = ask(client).get_json()
    assert (again["cache"]["kind"], again["cache"]["trace_id"]) == ("exact", first["id"])
    assert ask(client, fresh=True).get_json()["cache"] is None
    assert client.delete("/api/v1/cached-answers").get_json() == {"forgotten": 1}
    assert ask(client).get_json()["cache"] is None


def test_what_a_generator_writes_comes_before_the_answer(client: FlaskClient, museum) -> None:
    use(museum, QueuedGenerator("The museum opens at nine. [1]"))
    headers = {"Accept": "text/event-stream"}
    told = client.post("/api/v1/ask", json={"question": OPENING, "generator": "queued"}, headers=headers).text
    names = [line.removeprefix("event: ") for line in told.splitlines() if line.startswith("event: ")]
    assert list(dict.fromkeys(names)) == ["analysis", "passages", "writing", "answer", "done"]
    written = [
        json.loads(block.partition("data: ")[2])["text"]
        for block in told.split("\n\n")
        if block.startswith("event: writing")
    ]
    assert len(written) > 1 and "".join(written) == "The museum opens at nine. [1]"


def test_options_of_a_question_reach_its_query(client: FlaskClient, museum) -> None:
    options = {
        "rerank": "none",
        "recency": True,
        "read_filters": False,
        "dismissed": ["extension:pdf"],
        "syntax": "advanced",
        "generator": "none",
        "fresh": True,
        "zone": "Asia/Tokyo",
    }
    asked = from_dict(Trace, ask(client, **options).get_json()).query
    assert {name: getattr(asked, name) for name in options} == {**options, "dismissed": ("extension:pdf",)}
    for odd in ({"rerank": "magic"}, {"recency": "yes"}, {"syntax": "sql"}, {"generator": "oracle"}, {"fresh": 1}):
        assert_problem(ask(client, **odd), 400, "invalid_input")
    for zone in ("Asia/Nowhere", "../../etc/passwd", "x" * 65, 9):
        assert_problem(ask(client, zone=zone), 400, "invalid_input")


def test_moment_without_a_zone_is_one_of_the_zone_of_the_question(client: FlaskClient, museum) -> None:
    asked = from_dict(Trace, ask(client, as_of="2026-11-21T09:00", zone="Asia/Tokyo").get_json()).query
    assert asked.as_of == datetime(2026, 11, 21, tzinfo=UTC)
    assert not from_dict(Trace, ask(client).get_json()).query.zone
