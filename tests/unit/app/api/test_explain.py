"""The routes of insight answer what the knowledge base says, to whom may ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from core.model import JobState
from tests.builders import add, knowledge_base


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("insight")) as opened:
        add(opened, "laptop.txt", "Every laptop is replaced after four years.")
        add(opened, "train.txt", "Train expenses are paid within ten days.")
        yield opened


@pytest.fixture(scope="module")
def client(kb: core.KnowledgeBase) -> FlaskClient:
    return create_app(kb).server.test_client()


def test_passage_that_a_filter_leaves_out_is_explained(client: FlaskClient) -> None:
    asked = {"q": "When is a laptop replaced?", "doc_key": "laptop.txt", "extensions": "pdf"}
    found = client.get("/api/v1/why-not", query_string=asked).get_json()
    assert (found["obstacle"], found["obstacle_detail"]) == ("filtered", "type: pdf")
    assert found["advice"] == [{"code": "remove_filter", "values": {"filter": "type", "rank": "1"}}]
    assert found["trace"]["query"]["text"] == asked["q"]
    plain = {name: asked[name] for name in ("q", "doc_key")}
    found = client.get("/api/v1/why-not", query_string=plain | {"position": 0, "version": 1}).get_json()
    assert (found["obstacle"], found["final_rank"], found["vector"]["of"]) == ("none", 1, 2)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"q": "laptop"}, 400),
        ({"q": "laptop", "doc_key": "nothing.txt"}, 404),
        ({"q": "laptop", "doc_key": "laptop.txt", "position": 7}, 404),
        ({"q": "laptop", "doc_key": "laptop.txt", "version": 2}, 404),
        ({"q": "laptop", "doc_key": "laptop.txt", "position": "x"}, 400),
        ({"q": " ", "doc_key": "laptop.txt"}, 400),
    ],
)
def test_what_cannot_be_explained_is_refused(client: FlaskClient, given: dict[str, object], status: int) -> None:
    assert client.get("/api/v1/why-not", query_string=given).status_code == status


def test_text_is_analysed(client: FlaskClient) -> None:
    found = client.post("/api/v1/analyse", json={"text": "サーバーを買う"}).get_json()
    assert [token["reading"] for token in found["tokens"]] == ["サーバー", "ヲ", "カウ"]
    assert found["engines"] == {"memory": ["サーバ", "買う"]}
    assert client.post("/api/v1/analyse", json={"text": " "}).status_code == 400
    assert client.post("/api/v1/analyse", json={"text": "a" * 10_001}).status_code == 400


def test_vocabulary_is_replaced_and_takes_effect(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    given = {"words": [["社内便", "シャナイビン"], ["AB 1"]], "synonyms": [["laptop", "notebook computer"]]}
    kept = client.put("/api/v1/vocabulary", json=given).get_json()
    assert kept == {
        "words": [["社内便", "シャナイビン"], ["AB 1", ""]],
        "synonyms": [["laptop", "notebook computer"]],
        "number": 1,
        "indexed_number": 0,
    }
    assert client.get("/api/v1/vocabulary").get_json() == kept
    answer = client.post("/api/v1/vocabulary/reindex")
    assert answer.status_code == 202
    kb.work_off()
    assert kb.job(answer.get_json()["job_id"]).state is JobState.DONE
    assert client.get("/api/v1/vocabulary").get_json()["indexed_number"] == 1
    assert client.get("/api/v1/jobs", query_string={"kind": "reindex"}).get_json()["jobs"][0]["doc_key"] == ""
    found = client.get("/api/v1/search", query_string={"q": "notebook computer"}).get_json()
    assert [term["stands_for"] for term in found["keyword"]["hits"][0]["terms"]] == ["notebook computer"]


@pytest.mark.parametrize(
    "given",
    [{"words": [["a"]]}, {"words": ["ab"]}, {"words": [["ab", "b", "c"]]}, {"synonyms": [["one"]]}, {"else": 1}],
)
def test_what_is_no_vocabulary_is_refused(client: FlaskClient, given: dict[str, object]) -> None:
    before = client.get("/api/v1/vocabulary").get_json()
    assert client.put("/api/v1/vocabulary", json=given).status_code == 400
    assert client.get("/api/v1/vocabulary").get_json() == before
