"""The routes of the stores queue jobs and answer what these have found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from core.model import Fault
from tests.builders import add, knowledge_base
from tests.contracts.consistency import of_version, plant


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        yield opened


@pytest.fixture
def client(kb: core.KnowledgeBase) -> FlaskClient:
    return create_app(kb).server.test_client()


def test_fault_is_told_and_mended(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "leave.txt", "There are 14 days of leave.")
    assert client.get("/api/v1/stores/report").status_code == 404
    chunk_id = plant(kb, "vector", Fault.STALE, of_version(kb, "leave.txt", 1))
    looked = client.post("/api/v1/stores/repair", json={"store": "vector"})
    assert looked.status_code == 202
    kb.work_off()
    found = client.get("/api/v1/stores/report", query_string=looked.get_json()).get_json()
    assert (found["act"], found["store"], found["after"]) == ("check", "vector", [])
    assert (found["before"][0]["stale"], found["before"][0]["examples"]["stale"]) == (1, [str(chunk_id)])
    assert found["before"][0]["versions"][0]["doc_key"] == "leave.txt"
    client.post("/api/v1/stores/repair", json={"dry_run": False})
    kb.work_off()
    mended = client.get("/api/v1/stores/report").get_json()
    assert (mended["act"], mended["mended"]) == ("repair", 1)
    assert [each["stale"] for each in mended["after"]] == [0, 0]


@pytest.mark.long
def test_store_is_written_anew(kb: core.KnowledgeBase, client: FlaskClient) -> None:
    add(kb, "leave.txt", "There are 14 days of leave.")
    assert client.post("/api/v1/stores/reindex", json={"store": "keyword"}).status_code == 202
    kb.work_off()
    assert client.get("/api/v1/stores/report").get_json()["after"][0]["store"] == "keyword"


@pytest.mark.parametrize("body", [{"store": "other"}, {"dry_run": "perhaps"}, {"unknown": 1}])
def test_what_makes_no_sense_is_refused(client: FlaskClient, body: dict[str, object]) -> None:
    assert client.post("/api/v1/stores/repair", json=body).status_code == 400
