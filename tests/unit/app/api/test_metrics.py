"""The measures: what was asked, by route, and what there is; and nothing that somebody wrote."""

from __future__ import annotations

import io

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

import core
from app.main import create_app
from core.model import Role
from tests.builders import add

SECRET = "mirrorcoating"


def measured(client: FlaskClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(client.get("/metrics").get_data(as_text=True))
    return {(each.name, frozenset(each.labels.items())): each.value for family in families for each in family.samples}


def value(client: FlaskClient, name: str, **labels: str) -> float:
    return measured(client)[name, frozenset(labels.items())]


def test_requests_are_counted_by_route_and_status(client: FlaskClient) -> None:
    client.get("/api/v1/documents/one.txt")
    client.get("/api/v1/documents/two.txt")
    route = "/api/v1/documents/<doc_key:doc_key>"
    assert value(client, "evorag_requests_total", method="GET", route=route, status="404") == 2
    assert value(client, "evorag_request_seconds_count", method="GET", route=route) == 2


def test_holdings_are_those_of_the_catalogue(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "a.txt", "One chunk of text.")
    kb.add_text("b.txt", "Another one.")
    assert value(client, "evorag_documents") == 1
    assert value(client, "evorag_chunks") == 1
    assert value(client, "evorag_jobs", state="done") == 1
    assert value(client, "evorag_jobs", state="queued") == 1
    assert value(client, "evorag_store_up", store="keyword", engine="memory") == 1
    assert value(client, "evorag_outbox_rows") == 0
    assert value(client, "process_resident_memory_bytes") > 1e6


def test_questions_and_bodies_are_measured(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    client.post("/api/v1/ask", json={"question": "How many days?"})
    client.post("/upload_file", data={"file": (io.BytesIO(b"x" * 5000), "a.txt"), "background": "1"})
    assert value(client, "evorag_question_seconds_count", route="/api/v1/ask") == 1
    assert value(client, "evorag_received_bytes_total") > 5000
    assert value(client, "evorag_uploads_active") == 0
    assert value(client, "evorag_requests_active") == 1  # the one that reads the measures


def test_no_word_of_a_user_is_in_a_label(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, f"{SECRET}.txt", SECRET)
    client.get(f"/api/v1/documents/{SECRET}.txt")
    client.get(f"/api/v1/search?q={SECRET}")
    client.get(f"/{SECRET}")
    client.open("/api/v1/documents", method="SECRETMETHOD")
    text = client.get("/metrics").get_data(as_text=True)
    assert SECRET not in text and "SECRETMETHOD" not in text


def test_two_applications_count_apart(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    client.get("/api/v1/documents")
    other = create_app(kb).server.test_client()
    assert not [labels for (name, labels) in measured(other) if name == "evorag_requests_total"]


@pytest.mark.long
@pytest.mark.parametrize(("role", "status"), [(Role.READER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200)])
def test_measures_are_for_administrators(kb: core.KnowledgeBase, client: FlaskClient, role: Role, status: int) -> None:
    kb.accounts.create_user("ada", "correct horse battery", Role.ADMIN)
    _, secret = kb.accounts.create_key("robot", role, user="ada")
    assert client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code == status
    assert client.get("/metrics").status_code == 401
