"""Routes of evaluation: from a file to a run, its failures, a comparison, and the warning before a draft is shown."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask.testing import FlaskClient

import core
from tests.builders import add

LINES = "question,doc,answers,answerable\nWhere is lunch served?,lunch.txt,canteen,\nWho painted it?,nowhere.txt,Bob,\n"
SETS, RUNS = "/api/v1/question-sets", "/api/v1/evaluations"


@pytest.fixture
def filled(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    add(kb, "lunch", "Lunch is served in the canteen from noon to one.")
    return kb


def send(client: FlaskClient, data: bytes, file: str = "staff.csv", **fields: str) -> Any:
    return client.post(SETS, data={"file": (io.BytesIO(data), file), **fields}, content_type="multipart/form-data")


def finished(client: FlaskClient, kb: core.KnowledgeBase, **asked: Any) -> dict[str, Any]:
    started = client.post(RUNS, json=asked)
    assert (started.status_code, started.get_json()["state"]) == (202, "running")
    kb.evaluations.wait(started.get_json()["id"])
    return client.get(started.headers["Location"]).get_json()


@pytest.mark.long
def test_file_becomes_a_run_with_its_failures_first(client: FlaskClient, filled: core.KnowledgeBase) -> None:
    made = send(client, LINES.encode("utf-8-sig"))
    assert (made.status_code, made.get_json()["name"], made.get_json()["size"]) == (201, "staff", 2)
    set_id = made.get_json()["id"]
    run = finished(client, filled, set_id=set_id, label="first", top_k=3)
    assert (run["state"], run["label"], run["settings"]["top_k"]) == ("done", "first", 3)
    assert run["measures"]["final"]["recall_at_1"] == 0.5
    page = client.get(f"{RUNS}/{run['id']}/outcomes?limit=1").get_json()
    assert (page["outcomes"][0]["question"]["text"], page["next"]) == ("Who painted it?", 1)
    trace = client.get(f"/api/v1/traces/{page['outcomes'][0]['trace_id']}").get_json()
    assert trace["query"]["text"] == "Who painted it?"
    again = finished(client, filled, set_id=set_id)
    found = client.get(f"{RUNS}/compare?old={run['id']}&new={again['id']}").get_json()
    assert found["better"] == found["worse"] == []
    assert [each["id"] for each in client.get(f"{RUNS}?set={set_id}").get_json()["runs"]] == [again["id"], run["id"]]
    assert client.delete(f"{RUNS}/{run['id']}").status_code == 204
    assert client.delete(f"{SETS}/{set_id}").status_code == 204
    assert client.get(f"{RUNS}/{again['id']}").status_code == 404


def test_set_is_read_page_by_page_and_exported(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    lines = b'{"question": "One?"}\n{"question": "Two?"}\n'
    set_id = send(client, lines, "x.jsonl", name="Two questions").get_json()["id"]
    first = client.get(f"{SETS}/{set_id}/questions?limit=1").get_json()
    rest = client.get(f"{SETS}/{set_id}/questions?limit=1&after={first['next']}").get_json()
    assert [first["questions"][0]["text"], rest["questions"][0]["text"], rest["next"]] == ["One?", "Two?", None]
    exported = client.get(f"{SETS}/{set_id}/export?form=jsonl")
    assert exported.mimetype == "application/x-ndjson"
    assert exported.headers["Content-Disposition"].startswith("attachment")
    assert client.get(f"{SETS}/{set_id}").get_json()["name"] == "Two questions"
    assert send(client, exported.data, "Two questions.jsonl").status_code == 409


def test_wrong_file_is_refused_with_its_line(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    refused = send(client, b"question,answerable\nWhen?,perhaps\n")
    assert refused.status_code == 400 and refused.get_json()["detail"].startswith("Line 2:")
    assert send(client, b"question\n" + b"When?\n" * 10_001).status_code == 413
    assert client.get(SETS).get_json()["sets"] == []


def test_history_becomes_a_set(client: FlaskClient, filled: core.KnowledgeBase) -> None:
    trace = core.EvoRAG(kb=filled).ask("Where is lunch served?")
    made = client.post(f"{SETS}/from-history", json={"name": "asked", "trace_ids": [trace.id]})
    assert (made.status_code, made.get_json()["size"]) == (201, 1)


def test_gate_warns_and_forbids_nothing(client: FlaskClient, filled: core.KnowledgeBase) -> None:
    set_id = send(client, LINES.encode()).get_json()["id"]
    assert client.patch(f"{SETS}/{set_id}", json={"gates": True}).get_json()["gates"] is True
    filled.add_text("lunch", "Lunch is no longer served anywhere.", draft=True)
    filled.work_off()
    [verdict] = client.get("/api/v1/documents/lunch.txt/versions/2/gate").get_json()["verdicts"]
    assert verdict["warns"] and "1 of 2 questions" in verdict["reasons"][0]
    assert client.post("/api/v1/documents/lunch.txt/versions/2/publish", json={}).status_code == 200
