"""The seed system's routes: a file is sent, indexed, and told of under the names that its clients know."""

from __future__ import annotations

import hashlib
import io
import sys
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import core
from app.api.system.waiting import Waiting
from app.main import create_app
from tests.builders import knowledge_base

NOTE = b"# Leave\n\nEach colleague has 14 days of leave.\n"
ROUTES = ["/upload_file", "/api/v1/upload_file"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The application with one worker at work."""
    with knowledge_base(tmp_path_factory.mktemp("seed"), job_workers=1) as kb:
        yield create_app(kb).server.test_client()


def send(client: FlaskClient, name: str, content: bytes, route: str = "/upload_file", **fields: Any) -> TestResponse:
    return client.post(route, data={"file": (io.BytesIO(content), name), **fields})


@pytest.mark.parametrize("route", ROUTES)
def test_a_small_file_is_indexed_when_the_answer_comes(client: FlaskClient, route: str) -> None:
    name = f"Leave{len(route)}.md"
    answer = send(client, name, NOTE, route, tags=["a", "b"], session_id="s-1")
    said = answer.get_json()
    assert answer.status_code == 200
    assert said["chunks_indexed"] == len(said["document_ids"]) == 1
    assert (said["doc_key"], said["version"], said["session_id"]) == (name.lower(), 1, "s-1")
    assert said["checksum"] == hashlib.sha1(NOTE).hexdigest()
    assert client.get(f"/api/v1/documents/{name.lower()}").get_json()["tags"] == ["a", "b"]
    chunks = client.get(f"/api/v1/documents/{name.lower()}/versions/1/chunks").get_json()["chunks"]
    assert [str(chunk["id"]) for chunk in chunks] == said["document_ids"]


def test_the_same_file_again_says_what_is_indexed(client: FlaskClient) -> None:
    first = send(client, "same.md", NOTE + b"same").get_json()
    again = send(client, "same.md", NOTE + b"same")
    assert again.status_code == 200
    assert again.get_json() == {**first, "outcome": "unchanged", "job_id": None}


def test_in_the_background_the_answer_comes_at_once_and_the_job_tells_the_rest(client: FlaskClient) -> None:
    answer = send(client, "later.md", NOTE + b"later", background="true")
    said = answer.get_json()
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/api/v1/jobs/{said['job_id']}"
    kb: core.KnowledgeBase = client.application.config["EVORAG_KB"]
    kb.finish(said["job_id"], 30)
    for route in ("/upload_status/", "/api/v1/upload_status/"):
        status = client.get(route + said["job_id"]).get_json()
        assert (status["state"], status["stage"], status["progress"]) == ("done", "published", 1.0)
        assert (status["doc_key"], status["version"], status["chunks_indexed"]) == ("later.md", 1, 1)
        assert status["start_time"] <= status["end_time"]
        assert "error" not in status


def test_a_file_that_is_not_small_is_not_waited_for(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["app.api.system.seed_names"], "SMALL_BYTES", 10)
    assert send(client, "large.md", NOTE + b"large").status_code == 202


def test_a_small_file_is_not_waited_for_where_others_wait_already(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    kb: core.KnowledgeBase = client.application.config["EVORAG_KB"]
    monkeypatch.setattr(kb, "wait", lambda ids, timeout_s: waited.append(timeout_s) or [kb.job(ids[0])])
    monkeypatch.setitem(client.application.extensions, "evorag-waiting", Waiting(0))
    answer = send(client, "crowded.md", NOTE + b"crowded")
    assert waited == [0.0]
    assert answer.status_code in (200, 202)


def test_ids_of_a_large_file_are_cut_and_its_chunks_counted(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = b"".join(b"# Part %d\n\n%s\n\n" % (at, b"words of this part " * 90) for at in range(4))
    whole = send(client, "many.md", many).get_json()
    monkeypatch.setattr(sys.modules["app.api.system.seed_names"], "MOST_IDS", 2)
    again = send(client, "many.md", many).get_json()
    assert whole["chunks_indexed"] == again["chunks_indexed"] == len(whole["document_ids"]) > 2
    assert again["document_ids"] == whole["document_ids"][:2]


def test_an_error_of_indexing_is_its_problem(client: FlaskClient) -> None:
    answer = send(client, "broken.docx", b"PK\x03\x04 and nothing of a document")
    assert answer.status_code in (415, 422)
    assert answer.mimetype == "application/problem+json"
    assert answer.get_json()["code"] != "error"


def test_a_failed_job_tells_its_error(client: FlaskClient) -> None:
    said = send(client, "empty.html", b"<html><body></body></html>", background="true").get_json()
    kb: core.KnowledgeBase = client.application.config["EVORAG_KB"]
    kb.wait([said["job_id"]], 30)
    status = client.get(f"/upload_status/{said['job_id']}").get_json()
    assert (status["state"], status["chunks_indexed"]) == ("failed", 0)
    assert status["error"]["code"] == "empty_document"
    assert send(client, "empty2.html", b"<html><body> </body></html>").get_json()["code"] == "empty_document"


@pytest.mark.parametrize(
    ("name", "content", "fields", "code"),
    [
        ("a.exe", b"MZ", {}, "unsupported_type"),
        ("", b"text", {}, "invalid_input"),
        ("a.md", b"", {}, "empty_document"),
        ("a.md", b"text", {"background": "perhaps"}, "invalid_input"),
        ("a.md", b"text", {"session_id": "x" * 1000}, "invalid_input"),
    ],
)
def test_what_is_wrong_is_a_problem(
    client: FlaskClient, name: str, content: bytes, fields: dict[str, str], code: str
) -> None:
    answer = send(client, name, content, **fields)
    assert answer.mimetype == "application/problem+json"
    assert answer.get_json()["code"] in (code, "bad_filename")


def test_a_job_that_nobody_has_is_not_found(client: FlaskClient) -> None:
    answer = client.get("/upload_status/nothing")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")
