"""The REST interface: receipts, downloads, jobs, and errors a program can read."""

from __future__ import annotations

import io
from pathlib import Path
from urllib.parse import quote

import pytest
from dash import Dash
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import core
from app import context
from app.main import create_app
from tests.builders import knowledge_base


def send(client: FlaskClient, name: str, content: bytes, **fields: object) -> TestResponse:
    form = {"file": (io.BytesIO(content), name), **fields}
    return client.post("/api/v1/documents", data=form, content_type="multipart/form-data")


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file() and "catalog" not in path.name}


def assert_problem(answer: TestResponse, status: int, code: str) -> None:
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    body = answer.get_json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["title"] and body["remedy"]
    assert "Traceback" not in answer.text


def test_upload_is_answered_by_a_receipt_before_it_is_indexed(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    answer = send(client, "Notes.txt", b"The pump is checked every 14 days.", tags="care")
    assert answer.status_code == 202
    receipt = answer.get_json()
    assert receipt["outcome"] == "new"
    assert (receipt["doc_key"], receipt["version"]) == ("notes.txt", 1)
    assert client.get(f"/api/v1/jobs/{receipt['job_id']}").get_json()["state"] == "queued"
    kb.work_off()
    assert client.get(f"/api/v1/jobs/{receipt['job_id']}").get_json()["state"] == "done"
    listed = client.get("/api/v1/documents").get_json()["documents"]
    assert [(row["name"], row["tags"], row["published_version"]) for row in listed] == [("Notes.txt", ["care"], 1)]


def test_same_bytes_again_are_unchanged_and_make_no_job(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    send(client, "a.txt", b"The same text.")
    kb.work_off()
    answer = send(client, "a.txt", b"The same text.")
    assert answer.status_code == 200
    assert answer.get_json()["outcome"] == "unchanged"
    assert answer.get_json()["job_id"] is None
    assert client.get(f"/api/v1/jobs/{answer.get_json()['indexed_by']}").get_json()["state"] == "done"
    assert answer.get_json()["version"] == 1


@pytest.mark.parametrize(
    "name", ["報告書 2026年.txt", "a&b=c#d?.txt", "100%.txt", 'it\'s "quoted".txt', "<b>x</b>.txt"]
)
def test_original_comes_back_byte_for_byte_as_a_download(client: FlaskClient, name: str) -> None:
    content = "点検は毎月行います。\r\nPlain text.".encode()
    receipt = send(client, name, content).get_json()
    answer = client.get(f"/api/v1/documents/{quote(receipt['doc_key'], safe='')}/versions/1/original")
    assert answer.status_code == 200
    assert answer.data == content
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.mimetype == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_japanese_download_name_follows_rfc_5987(client: FlaskClient) -> None:
    key = send(client, "手順書.txt", "本文です。".encode()).get_json()["doc_key"]
    disposition = client.get(f"/api/v1/documents/{quote(key)}/versions/1/original").headers["Content-Disposition"]
    assert f"filename*=UTF-8''{quote('手順書.txt')}" in disposition


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("empty.txt", b"", 422, "empty_document"),
        ("program.exe", b"MZ\x90\x00", 415, "unsupported_type"),
        ("fake.pdf", b"\x7fELF" + bytes(64), 415, "type_mismatch"),
        ("a\u202egpj.txt", b"text", 400, "bad_filename"),
    ],
)
def test_bad_file_is_explained_and_leaves_nothing(
    client: FlaskClient, tmp_path: Path, name: str, content: bytes, status: int, code: str
) -> None:
    before = files_in(tmp_path)
    assert_problem(send(client, name, content), status, code)
    assert files_in(tmp_path) == before
    assert client.get("/api/v1/documents").get_json()["documents"] == []


def test_path_in_a_file_name_reaches_no_folder(client: FlaskClient, tmp_path: Path) -> None:
    answer = send(client, "../../etc/cron.d/x.txt", b"text")
    assert answer.get_json()["doc_key"] == "x.txt"
    assert not list(tmp_path.rglob("x.txt"))


@pytest.mark.parametrize("fields", [0, 2])
def test_exactly_one_file_is_taken(client: FlaskClient, fields: int) -> None:
    form = {"file": [(io.BytesIO(b"text"), f"{n}.txt") for n in range(fields)], "note": "x"}
    answer = client.post("/api/v1/documents", data=form, content_type="multipart/form-data")
    assert_problem(answer, 400, "invalid_input")


def test_file_over_the_limit_is_refused_from_its_real_length(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, max_upload_bytes=100_000) as kb:
        client = create_app(kb).server.test_client()
        assert_problem(send(client, "big.txt", b"word " * 40_000), 413, "too_large")
        assert_problem(send(client, "big.txt", b"word " * 20_001), 413, "too_large")
        unknown_length = client.post(
            "/api/v1/documents",
            input_stream=io.BytesIO(multipart("big.txt", b"word " * 40_000)),
            content_type="multipart/form-data; boundary=cut",
            environ_overrides={"wsgi.input_terminated": True},
        )
        assert_problem(unknown_length, 413, "too_large")
        assert kb.documents() == []


def multipart(name: str, content: bytes) -> bytes:
    head = f'--cut\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--cut--\r\n"


def test_file_of_several_megabytes_arrives_whole(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    data = b"All work and no play.\n" * 200_000
    answer = client.post("/api/v1/documents", data={"file": (io.BytesIO(data), "long.txt")})
    assert answer.status_code == 202
    assert kb.original("long.txt", 1)[0].stat().st_size == len(data)


def test_large_form_field_and_many_parts_are_refused(client: FlaskClient) -> None:
    assert_problem(send(client, "a.txt", b"text", note="x" * 400_000), 413, "too_large")
    assert_problem(send(client, "a.txt", b"text", note="x" * 3_000), 400, "invalid_input")
    assert_problem(send(client, "a.txt", b"text", tags=[str(n) for n in range(5_000)]), 413, "too_large")


@pytest.mark.parametrize("route", ["/api/v1/documents", "/upload_file"])
@pytest.mark.parametrize("is_file", [False, True])
def test_a_form_with_an_unknown_field_adds_nothing(
    client: FlaskClient, kb: core.KnowledgeBase, route: str, is_file: bool
) -> None:
    value = (io.BytesIO(b"text"), "b.txt") if is_file else "private"
    answer = client.post(route, data={"file": (io.BytesIO(b"text"), "a.txt"), "access": value})
    assert_problem(answer, 400, "invalid_input")
    assert "“access”" in answer.get_json()["detail"] and "private" in answer.get_json()["detail"]
    assert kb.documents() == []


def test_broken_multipart_is_a_wrong_request(client: FlaskClient) -> None:
    answer = client.post("/api/v1/documents", data=b"nothing", content_type="multipart/form-data; boundary=cut")
    assert_problem(answer, 400, "invalid_input")


def test_text_entry_is_added(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    answer = client.post("/api/v1/texts", json={"name": "メモ", "text": "保管は三年です。", "tags": ["規則"]})
    assert answer.status_code == 202
    kb.work_off()
    document = kb.document(answer.get_json()["doc_key"])
    assert document.is_text_entry
    assert document.tags == ("規則",)


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'"text"', b'{"name": 1, "text": "x"}', b'{"name": "x"}', b'{"name": "x", "text": "y", "tags": "z"}',
     b'{"name": "x", "text": "y", "tags": [1]}', b"[" * 100_000, b"\xff\xfe"],
)  # fmt: skip
def test_wrong_json_is_a_wrong_request(client: FlaskClient, body: bytes) -> None:
    assert_problem(client.post("/api/v1/texts", data=body, content_type="application/json"), 400, "invalid_input")


@pytest.mark.parametrize(
    "key", ["nothing.txt", "../../etc/passwd", 'd7" or 1 == 1 or dk == "', "{k}", "\u3000", "a\nb"]
)
def test_unknown_document_is_not_found(client: FlaskClient, key: str) -> None:
    answer = client.get(f"/api/v1/documents/{quote(key, safe='')}/versions/1/original")
    # What cannot be a key at all is no address of a document.
    assert_problem(answer, 404, "unknown_address" if "../" in key else "not_found")


@pytest.mark.long
@pytest.mark.parametrize("number", ["0", "-1", "1.5", "ten", "9" * 30, "٣"])
def test_wrong_version_number_is_a_wrong_request(client: FlaskClient, number: str) -> None:
    send(client, "a.txt", b"text")
    answer = client.get(f"/api/v1/documents/a.txt/versions/{quote(number)}/original")
    assert_problem(answer, 400, "invalid_input")


def test_jobs_are_listed_by_id_and_unknown_ids_are_left_out(client: FlaskClient) -> None:
    first = send(client, "a.txt", b"one").get_json()["job_id"]
    second = send(client, "b.txt", b"two").get_json()["job_id"]
    listed = client.get(f"/api/v1/jobs?ids={second},nothing,{first}").get_json()["jobs"]
    assert [job["id"] for job in listed] == [second, first]
    assert {job["id"] for job in client.get("/api/v1/jobs?active=1").get_json()["jobs"]} == {first, second}


@pytest.mark.parametrize("limit", ["-1", "0", "1e9", "ten", "NaN", "100000"])
def test_wrong_limit_is_a_wrong_request(client: FlaskClient, limit: str) -> None:
    assert_problem(client.get(f"/api/v1/jobs?limit={limit}"), 400, "invalid_input")


def test_cancelled_job_can_be_tried_again(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    job = send(client, "a.txt", b"some text").get_json()["job_id"]
    assert client.post(f"/api/v1/jobs/{job}/cancel").get_json()["state"] == "cancelled"
    assert client.post(f"/api/v1/jobs/{job}/retry").get_json()["state"] == "queued"
    kb.work_off()
    assert client.get(f"/api/v1/jobs/{job}").get_json()["state"] == "done"


def test_trace_is_a_download(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    send(client, "a.txt", b"The pump is checked every 14 days.")
    kb.work_off()
    trace = core.EvoRAG(kb=kb).ask("How often is the pump checked?")
    answer = client.get(f"/api/v1/traces/{trace.id}.json")
    assert answer.get_json()["query"]["text"] == "How often is the pump checked?"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert_problem(client.get("/api/v1/traces/nothing.json"), 404, "not_found")


def test_too_many_uploads_at_once_are_asked_to_wait(window: Dash, kb: core.KnowledgeBase) -> None:
    client = window.server.test_client()
    assert send(client, "a.txt", b"text").status_code == 202
    slots = window.server.extensions["evorag-uploads"]
    free = kb.settings.server_threads - 4
    for _ in range(free):
        assert slots.acquire(blocking=False)
    answer = send(client, "b.txt", b"text")
    assert_problem(answer, 503, "busy")
    assert client.get("/health").status_code == 200
    slots.release()
    assert send(client, "b.txt", b"text").status_code == 202


def test_health_answers_the_stores(client: FlaskClient) -> None:
    body = client.get("/health").get_json()
    assert body["status"] == "ok"
    assert {store["name"] for store in body["stores"]} >= {"catalog", "vector", "keyword"}


def test_error_speaks_the_language_of_the_request(client: FlaskClient) -> None:
    answer = client.get("/api/v1/jobs/nothing", headers={"Accept-Language": "ja"})
    assert answer.get_json()["title"] == "見つかりません"


@pytest.mark.parametrize(
    ("path", "list_named"), [("jobs/nothing", "jobs"), ("documents/nothing", "documents"), ("keys/nothing", "keys")]
)
def test_what_is_not_found_is_looked_up_in_its_own_list(client: FlaskClient, path: str, list_named: str) -> None:
    answer = client.delete(f"/api/v1/{path}") if list_named == "keys" else client.get(f"/api/v1/{path}")
    assert_problem(answer, 404, "not_found")
    assert f"list of {list_named}" in answer.get_json()["remedy"]


def test_unforeseen_error_shows_only_an_id(window: Dash, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def jobs(self, **_: object) -> None:
            raise RuntimeError("secret detail")

    window.server.config[context.KB_KEY] = Broken()
    answer = window.server.test_client().get("/api/v1/jobs")
    assert_problem(answer, 500, "internal")
    assert "secret" not in answer.text
    error_id = next(record.getMessage().split()[1] for record in caplog.records)
    assert error_id in answer.get_json()["detail"]
