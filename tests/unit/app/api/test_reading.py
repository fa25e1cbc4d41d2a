"""What a request may carry: strict JSON, described fields only, and documents told one by one and page by page."""

from __future__ import annotations

from urllib.parse import quote

from flask.testing import FlaskClient

from core.ingest.parsers import legacy
from core.model import Document, Preview, Upload, Version
from core.model.codec import from_dict
from tests import programs
from tests.builders import add
from tests.unit.app.api.test_documents import assert_problem

TEXTS = "/api/v1/texts"


ODD_BODIES = [
    b'{"name": "a.txt", "name": "b.txt", "text": "x"}',
    b'{"name": "a.txt", "text": NaN}',
    b"{" * 100_000,
    b'{"name": "a.txt", "text": "x", "priority": 1e999}',
    b'{"name": "a.txt", "text": "\\ud800"}',
    b"[1]",
    b"null",
    b'{"name": "a.txt", "text": "x", "a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    b"\xff\xfe{}",
    b"",
    b'{"name": "a.txt", "text": "x", "priority": ' + b"9" * 5_000 + b"}",
    '{"name": "é"}'.encode("latin-1"),
]


def test_json_that_could_be_read_two_ways_is_refused(client: FlaskClient, kb) -> None:
    for body in ODD_BODIES:
        assert_problem(client.post(TEXTS, data=body, content_type="application/json"), 400, "invalid_input")
    assert kb.documents() == []


def test_json_in_another_charset_or_under_another_name_is_refused(client: FlaskClient) -> None:
    body = '{"name": "a.txt", "text": "x"}'
    charset = "application/json; charset=shift_jis"
    assert_problem(client.post(TEXTS, data=body, content_type=charset), 400, "invalid_input")
    assert_problem(client.post(TEXTS, data=body, content_type="text/plain"), 415, "invalid_input")
    assert_problem(client.post(TEXTS, data=b"x" * 1_100_000, content_type="application/json"), 413, "too_large")


ODD_FIELDS = [
    {"text": 5},
    {"extra": 1},
    {"tags": "x"},
    {"tags": [1]},
    {"draft": "perhaps"},
    {"priority": 11},
    {"priority": 1.5},
    {"publish_at": "tomorrow"},
    {"publish_at": "0001-01-01T00:00:00+23:59"},
    {"note": None},
    {"name": ""},
]


def test_field_that_is_not_as_described_is_refused_by_its_name(client: FlaskClient, kb) -> None:
    for fields in ODD_FIELDS:
        answer = client.post(TEXTS, json={"name": "a.txt", "text": "x", **fields})
        assert_problem(answer, 400, "invalid_input")
        assert next(iter(fields)) in answer.get_json()["detail"]
    assert kb.documents() == []


def test_text_is_added_with_all_that_is_said_of_it(client: FlaskClient, kb) -> None:
    body = {"name": "A.txt", "text": "Open.", "title": "Hours", "tags": ["shop"], "label": "2.1", "draft": True}
    answer = client.post(TEXTS, json=body)
    receipt = from_dict(Upload, answer.get_json())
    assert answer.status_code == 202 and answer.headers["Location"] == f"/api/v1/jobs/{receipt.job_id}"
    kb.work_off()
    shown = from_dict(Version, client.get("/api/v1/documents/a.txt/versions/1").get_json())
    assert (shown.label, shown.is_draft) == ("2.1", True) and kb.document("a.txt").title == "Hours"
    again = client.post(TEXTS, json=body)
    assert again.status_code == 200 and client.get(again.headers["Location"]).status_code == 200


def test_documents_are_listed_page_by_page_and_narrowed(client: FlaskClient, kb) -> None:
    for name in ("b.txt", "a.md", "c.txt"):
        kb.add_text(name, f"Text of {name}.", tags=["x", name])
    kb.work_off()
    kb.delete("c.txt")

    def keys(search: str) -> list[str]:
        return [each["doc_key"] for each in client.get(f"/api/v1/documents?{search}").get_json()["documents"]]

    first = client.get("/api/v1/documents?limit=1").get_json()
    assert (first["total"], first["next"], keys(f"limit=1&after={first['next']}")) == (2, "a.md", ["b.txt"])
    assert keys("extension=MD") == ["a.md"] and keys("tag=x&tag=b.txt") == ["b.txt"] and keys("search=A.M") == ["a.md"]
    assert keys("state=deleted") == ["c.txt"] and keys("deleted=yes") == ["a.md", "b.txt", "c.txt"]
    for odd in ("limit=0", "limit=1e3", "limit=1000000000000", "state=gone", "deleted=perhaps"):
        assert_problem(client.get(f"/api/v1/documents?{odd}"), 400, "invalid_input")


def test_one_document_is_told_tagged_and_read(client: FlaskClient, kb) -> None:
    add(kb, "手順.txt", "点検は毎月行います。")
    path = f"/api/v1/documents/{quote('手順.txt')}"
    for _ in range(2):
        assert client.put(f"{path}/tags", json={"tags": ["点検", " 点検 "]}).get_json()["tags"] == ["点検"]
    assert from_dict(Document, client.get(path).get_json()).tags == ("点検",)
    assert client.get("/api/v1/tags").get_json() == {"tags": ["点検"]}
    assert client.get(f"{path}/text").text == client.get(f"{path}/text?version=1").text == "点検は毎月行います。"
    preview = from_dict(Preview, client.get(f"{path}/versions/1/chunks?limit=1").get_json())
    assert preview.total_chunks == 1 and preview.chunks[0].content_hash
    assert_problem(client.get(f"{path}/versions/0/chunks"), 400, "invalid_input")
    assert_problem(client.get(f"{path}/versions/2"), 404, "not_found")


def test_document_is_deleted_once_however_often_it_is_said(client: FlaskClient, kb) -> None:
    add(kb, "a.txt", "Open.")
    answers = [client.delete("/api/v1/documents/a.txt") for _ in range(2)]
    assert [answer.get_json()["action"] for answer in answers] == ["delete", "delete"]
    assert answers[0].get_json()["seq"] == answers[1].get_json()["seq"]
    assert client.get("/api/v1/documents/a.txt").get_json()["state"] == "deleted"


def test_odd_keys_name_nothing(client: FlaskClient) -> None:
    for key in ['d7" or 1 == 1', "{k}", "a\nb", "~", "~~a", "~nobody/a.txt", "%", "..", "\u3000", "a?b#c"]:
        for rest in ("", "/versions", "/versions/1", "/text", "/publications", "/versions/1/impact"):
            answer = client.get(f"/api/v1/documents/{quote(key, safe='')}{rest}")
            assert_problem(answer, 404, "not_found")


def test_sample_is_loaded(client: FlaskClient, kb) -> None:
    answer = client.post("/api/v1/sample")
    assert answer.status_code == 202 and len(answer.get_json()["uploads"]) == len(kb.jobs())
    left_out = [each["name"] for each in answer.get_json()["left_out"]]
    assert left_out == ([] if programs.find("soffice") else ["company-overview.ppt", "incident-report-2026-014.doc"])


def test_sample_without_libreoffice_is_loaded_but_for_what_needs_it(client: FlaskClient, kb, monkeypatch) -> None:
    monkeypatch.setattr(legacy, "PROGRAMS", ("no-such-program",))
    told = client.get("/api/v1/sample").get_json()["left_out"]
    assert [each["name"] for each in told] == ["company-overview.ppt", "incident-report-2026-014.doc"]
    assert {each["code"] for each in told} == {"converter_missing"} and all(each["remedy"] for each in told)
    answer = client.post("/api/v1/sample")
    assert answer.status_code == 202 and answer.get_json()["left_out"] == told
    assert {job.name.rpartition(".")[2] for job in kb.jobs()}.isdisjoint({"doc", "ppt"})
