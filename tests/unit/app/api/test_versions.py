"""The REST interface of versions and of the audit: publish, plan, go back, take away, remove for good, list, export."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

import core
from tests.builders import add
from tests.unit.app.api.test_documents import assert_problem, send

KEY = "hours.txt"
PATH = f"/api/v1/documents/{KEY}"


@pytest.fixture
def three(kb: core.KnowledgeBase) -> core.KnowledgeBase:
    """Two versions that were shown, and a third one that is a draft."""
    add(kb, KEY, "Open at nine.")
    add(kb, KEY, "Open at ten.")
    kb.add_text(KEY, "Open at eleven.", draft=True)
    kb.work_off()
    return kb


def post(client: FlaskClient, path: str, **body: Any) -> Any:
    return client.post(f"{PATH}/{path}", json=body) if body else client.post(f"{PATH}/{path}")


def later(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def test_versions_and_publications_are_listed_newest_first(client: FlaskClient, three) -> None:
    body = client.get(f"{PATH}/versions").get_json()
    assert [(each["number"], each["is_draft"]) for each in body["versions"]] == [(3, True), (2, False), (1, False)]
    assert [each["version"] for each in body["publications"]] == [2, 1]
    assert body["document"]["published_version"] == 2


def test_draft_is_uploaded_with_its_note_and_label_and_published_later(client: FlaskClient, kb) -> None:
    fields = {"draft": "true", "note": "asked for by sales", "label": "Spring 2026"}
    receipt = send(client, KEY, b"Open at nine.", **fields).get_json()
    kb.work_off()
    version = kb.version(KEY, receipt["version"])
    assert (version.is_draft, version.note, version.label) == (True, "asked for by sales", "Spring 2026")
    assert kb.document(KEY).state == "draft"
    answer = post(client, "versions/1/publish", note="agreed")
    assert answer.get_json()["action"] == "publish" and answer.get_json()["note"] == "agreed"
    assert kb.document(KEY).published_version == 1


def test_text_entry_is_taken_as_a_draft(client: FlaskClient, kb) -> None:
    body = {"name": KEY, "text": "Open at nine.", "draft": True, "note": "first try"}
    assert client.post("/api/v1/texts", json=body).status_code == 202
    kb.work_off()
    assert kb.document(KEY).published_version is None and kb.version(KEY, 1).note == "first try"


def test_upload_is_published_at_its_time(client: FlaskClient, kb) -> None:
    send(client, KEY, b"Open at nine.", publish_at=later(1))
    kb.work_off()
    assert kb.document(KEY).published_version is None
    kb.publish_due(datetime.now(UTC) + timedelta(hours=2))
    assert kb.document(KEY).published_version == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "fields",
    [{"draft": "perhaps"}, {"publish_at": "tomorrow"}, {"publish_at": "2030-01-01T09:00"}, {"publish_at": "9" * 90},
     {"publish_at": "2001-01-01T00:00:00Z"}, {"label": "x" * 201}, {"note": "x" * 2_001}],
)  # fmt: skip
def test_odd_fields_of_an_upload_are_refused_and_nothing_is_kept(client: FlaskClient, kb, fields) -> None:
    assert_problem(send(client, KEY, b"Open at nine.", **fields), 400, "invalid_input")
    assert kb.documents() == []


def test_version_is_planned_and_the_plan_is_taken_back(client: FlaskClient, three) -> None:
    path = f"{PATH}/versions/3/schedule"
    assert client.put(path, json={"at": later(1)}).get_json()["publish_at"] is not None
    for _ in range(2):
        assert client.delete(path).get_json()["publish_at"] is None
    assert three.document(KEY).published_version == 2
    for at in (later(-1), "noon", None):
        assert_problem(client.put(path, json={"at": at}), 400, "invalid_input")


def test_rollback_shows_what_was_shown_before_or_the_named_version(client: FlaskClient, three) -> None:
    assert post(client, "rollback").get_json()["version"] == 1
    answer = post(client, "rollback", version=2, note="wrong one").get_json()
    assert (answer["action"], answer["version"], answer["note"]) == ("rollback", 2, "wrong one")
    assert_problem(post(client, "rollback", version="2"), 400, "invalid_input")
    assert_problem(post(client, "rollback", version=9), 404, "not_found")


def test_unpublished_document_is_shown_again(client: FlaskClient, three) -> None:
    assert post(client, "unpublish").get_json()["version"] is None
    assert three.document(KEY).state == "unpublished"
    assert_problem(post(client, "unpublish"), 409, "conflict")
    assert post(client, "restore").get_json()["version"] == 2


def test_deleted_document_is_restored(client: FlaskClient, three) -> None:
    assert post(client, "delete").get_json()["action"] == "delete"
    assert three.documents() == []
    assert post(client, "restore").get_json()["version"] == 2


def test_nothing_is_purged_without_the_key_of_the_document(client: FlaskClient, three) -> None:
    for body in ({"version": 1}, {"version": 1, "confirm": "other.txt"}, {"version": 1, "confirm": True}):
        assert_problem(post(client, "purge", **body), 400, "invalid_input")
    assert three.version(KEY, 1).state == "ready"


def test_purged_version_stays_as_a_tombstone(client: FlaskClient, three) -> None:
    assert_problem(post(client, "purge", version=2, confirm=KEY), 409, "conflict")
    answer = post(client, "purge", version=1, confirm=KEY, note="held a name").get_json()
    assert (answer["action"], answer["subject"], answer["note"]) == ("purge", 1, "held a name")
    one = next(each for each in client.get(f"{PATH}/versions").get_json()["versions"] if each["number"] == 1)
    assert one["state"] == "purged" and one["purged_at"] is not None
    assert_problem(client.get(f"{PATH}/versions/1/original"), 410, "purged")


def test_whole_document_is_purged(client: FlaskClient, three) -> None:
    assert post(client, "purge", confirm=KEY).get_json()["action"] == "purge"
    assert {version.state for version in three.versions(KEY)} == {"purged"}


def test_note_and_label_are_changed_one_by_one(client: FlaskClient, three) -> None:
    client.patch(f"{PATH}/versions/1", json={"label": "2025", "note": "as signed"})
    answer = client.patch(f"{PATH}/versions/1", json={"note": "as printed"}).get_json()
    assert (answer["label"], answer["note"]) == ("2025", "as printed")
    for body in ({}, {"label": "x" * 201}, {"note": 5}):
        assert_problem(client.patch(f"{PATH}/versions/1", json=body), 400, "invalid_input")


@pytest.mark.parametrize("path", ["versions/1/publish", "rollback", "unpublish", "restore", "delete"])
def test_unknown_document_is_not_found(client: FlaskClient, path: str) -> None:
    for key in ("nothing.txt", "../../etc/passwd", 'x" or 1'):
        code = "unknown_address" if "../" in key else "not_found"
        assert_problem(client.post(f"/api/v1/documents/{quote(key, safe='')}/{path}"), 404, code)


def test_another_site_cannot_change_versions(client: FlaskClient, three) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert_problem(client.post(f"{PATH}/unpublish", headers=foreign), 403, "cross_site")
    assert_problem(client.patch(f"{PATH}/versions/1", json={"note": "x"}, headers=foreign), 403, "cross_site")
    assert three.document(KEY).published_version == 2


def test_audit_is_read_page_by_page(client: FlaskClient, three) -> None:
    post(client, "unpublish")
    first = client.get("/api/v1/audit?limit=2").get_json()
    assert [each["action"] for each in first["publications"]] == ["unpublish", "publish"]
    rest = client.get(f"/api/v1/audit?limit=2&before={first['next']}").get_json()
    assert [each["version"] for each in rest["publications"]] == [1] and rest["next"] is None


def test_audit_is_narrowed_to_a_document_and_an_action(client: FlaskClient, three) -> None:
    add(three, "other.txt", "Something else.")
    listed = client.get(f"/api/v1/audit?doc={KEY}&action=publish").get_json()["publications"]
    assert [(each["doc_key"], each["version"]) for each in listed] == [(KEY, 2), (KEY, 1)]
    assert_problem(client.get("/api/v1/audit?action=drop"), 400, "invalid_input")
    assert_problem(client.get("/api/v1/audit.csv?doc=nothing.txt"), 404, "not_found")
    assert_problem(client.get("/api/v1/audit?limit=0"), 400, "invalid_input")


def test_audit_is_exported_whole_as_json_and_as_a_table(client: FlaskClient, three) -> None:
    exported = client.get("/api/v1/audit.json")
    assert exported.headers["Content-Disposition"].startswith("attachment")
    assert [each["version"] for each in exported.get_json()] == [2, 1]
    table = list(csv.DictReader(io.StringIO(client.get("/api/v1/audit.csv").data.decode("utf-8-sig"))))
    assert [(row["action"], row["doc_key"], row["version"]) for row in table] == [
        ("publish", KEY, "2"),
        ("publish", KEY, "1"),
    ]


@pytest.mark.long
def test_empty_audit_is_exported_as_an_empty_list(client: FlaskClient) -> None:
    assert client.get("/api/v1/audit.json").get_json() == []


def test_note_that_looks_like_a_formula_is_exported_as_text(client: FlaskClient, three) -> None:
    post(client, "versions/3/publish", note='=HYPERLINK("http://e","x")')
    row = next(csv.DictReader(io.StringIO(client.get("/api/v1/audit.csv").data.decode("utf-8-sig"))))
    assert row["note"] == '\'=HYPERLINK("http://e","x")'


def test_no_cell_of_the_table_is_computed_wherever_cells_are_cut(client: FlaskClient, three) -> None:
    notes = ["x;=2+2;", 'x; "=2+2";', "＝1+1", "＋1", "－1", "＠x", " =1", "a\t=1"]
    for number, note in enumerate(notes):
        post(client, f"versions/{3 - number % 2}/publish", note=note)
    sent = client.get("/api/v1/audit.csv").data.decode("utf-8-sig")
    noted = [row["note"] for row in csv.DictReader(io.StringIO(sent))][: len(notes)]
    assert [note.replace("'", "").strip() for note in noted] == [note.strip() for note in reversed(notes)]
    for sign in (",", ";", "\t"):
        for line in csv.reader(io.StringIO(sent), delimiter=sign):
            assert not any(cell.strip(' "').startswith(tuple("=+-@＝＋－＠")) for cell in line)
    assert all(line.startswith('"') and line.endswith('"') for line in sent.splitlines())


def test_largest_number_is_accepted_as_it_is_said(client: FlaskClient, three) -> None:
    assert len(client.get(f"/api/v1/audit?before={2**63 - 1}").get_json()["publications"]) == 2
    assert_problem(client.get(f"/api/v1/audit?before={2**63}"), 400, "invalid_input")
