"""The REST interface of recordings, and the Ask page of an answer that was recorded."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.components.ask.options import Offer
from app.components.shared.links import ask_search, query_of
from app.pages.ask.form import body_of
from core.model import GeneratorHealth, GeneratorState, Query, Recording, Trace
from core.model.codec import from_dict
from core.snn.recording import save
from tests.builders import add
from tests.doubles import RecordedGenerator, tiny_recording, use
from tests.unit.app.api.test_documents import assert_problem
from tests.unit.app.drawn import by_id, open_page, text

PATH = "/api/v1/recordings"
QUESTION = "When does the museum open?"


@pytest.fixture
def octets(tmp_path: Path) -> bytes:
    save(tiny_recording(), tmp_path / "sample.pt")
    return (tmp_path / "sample.pt").read_bytes()


def upload(client: FlaskClient, octets: bytes, file_name: str = "sample.pt", **fields: str) -> Any:
    return client.post(PATH, data={"file": (io.BytesIO(octets), file_name), **fields})


def museum(kb: core.KnowledgeBase, *answers: str) -> RecordedGenerator:
    add(kb, "museum", "The museum opens at nine.")
    kb._projector.flush()
    generator = RecordedGenerator(*(answers or ("The museum opens at nine. [1]",)))
    use(kb, generator)
    return generator


def test_a_question_is_asked_to_be_recorded_and_answers_the_id(client: FlaskClient, kb: core.KnowledgeBase) -> None:
    museum(kb)
    trace = from_dict(Trace, client.post("/api/v1/ask", json={"question": QUESTION, "record": True}).get_json())
    kept = from_dict(Recording, client.get(f"{PATH}/{trace.generation['recording']['id']}").get_json())
    assert (kept.trace_id, kept.question) == (trace.id, QUESTION)
    assert_problem(
        client.post("/api/v1/ask", json={"question": QUESTION, "record": True, "generator": "none"}),
        400,
        "invalid_input",
    )
    assert client.post("/api/v1/search", json={"question": QUESTION, "record": True}).status_code == 400


def test_a_file_is_uploaded_listed_renamed_sent_back_and_deleted(client: FlaskClient, octets: bytes) -> None:
    answer = upload(client, octets, "記録 “1”.pt")
    assert answer.status_code == 201
    kept = from_dict(Recording, answer.get_json())
    assert (kept.name, kept.is_uploaded) == ("記録 “1”", True)
    assert answer.headers["Location"] == f"{PATH}/{kept.id}"
    listed = client.get(PATH).get_json()
    assert (from_dict(Recording, listed["recordings"][0]), listed["size_bytes"], listed["next"]) == (
        kept,
        kept.size_bytes,
        None,
    )
    assert client.patch(f"{PATH}/{kept.id}", json={"name": 'a/b\\"c'}).get_json()["name"] == 'a/b\\"c'
    sent = client.get(f"{PATH}/{kept.id}/file")
    assert sent.data == octets
    assert sent.headers["Content-Disposition"] == 'attachment; filename="a_b_\\"c.pt"'
    assert client.get(f"{PATH}/{kept.id}/file", headers={"Range": "bytes=0-3"}).data == octets[:4]
    assert client.delete(f"{PATH}/{kept.id}").status_code == 204
    assert_problem(client.get(f"{PATH}/{kept.id}/file"), 404, "not_found")


@pytest.mark.long
def test_a_file_that_is_deleted_while_it_is_asked_for_is_not_found(
    client: FlaskClient, kb: core.KnowledgeBase, octets: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, whole = upload(client, octets).get_json()["id"], kb.recordings.path

    def lost(recording_id: str) -> Path:
        path = whole(recording_id)
        path.unlink()
        return path

    monkeypatch.setattr(kb.recordings, "path", lost)
    assert_problem(client.get(f"{PATH}/{kept}/file"), 404, "not_found")


def test_pages_of_the_list_follow_each_other(client: FlaskClient, octets: bytes) -> None:
    made = [upload(client, octets, name=name).get_json()["id"] for name in "abc"]
    first = client.get(PATH, query_string={"limit": 2}).get_json()
    second = client.get(PATH, query_string={"limit": 2, "before": first["next"]}).get_json()
    assert [each["id"] for page in (first, second) for each in page["recordings"]] == made[::-1]
    assert second["next"] is None
    assert first["size_bytes"] == second["size_bytes"] == sum(each["size_bytes"] for each in first["recordings"]) * 1.5
    assert_problem(client.get(PATH, query_string={"before": "gone"}), 404, "not_found")


def test_files_over_a_megabyte_are_let_in_and_those_over_the_limit_are_not(
    client: FlaskClient, kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_problem(upload(client, b"x" * 1_500_000), 422, "unreadable_recording")
    limited = kb.settings.model_copy(update={"recording_upload_bytes": 2_000_000})
    monkeypatch.setattr(kb, "settings", limited)
    assert_problem(upload(client, b"x" * 2_100_000), 413, "too_large")
    assert kb.recordings.list() == []


def test_a_form_with_another_field_or_without_a_file_is_refused(client: FlaskClient, octets: bytes) -> None:
    assert_problem(upload(client, octets, owner="ann"), 400, "invalid_input")
    assert_problem(client.post(PATH, data={"name": "x"}), 400, "invalid_input")


def test_spikes_come_as_octets_that_a_browser_asks_for_again(client: FlaskClient, octets: bytes) -> None:
    kept = upload(client, octets).get_json()["id"]
    address = f"{PATH}/{kept}/spikes?population=layers.1.query"
    answer = client.get(address)
    record = tiny_recording().populations["layers.1.query"]
    assert answer.data == record.spikes_pos.tobytes() + record.spikes_neg.tobytes()
    assert (answer.headers["X-Shape"], answer.mimetype) == ("8,5,12", "application/octet-stream")
    assert answer.headers["Cache-Control"] == "private, no-cache"
    again = {"If-None-Match": answer.headers["ETag"]}
    assert client.get(address, headers=again).status_code == 304
    assert client.get(address.replace("layers.1", "layers.0"), headers=again).status_code == 200
    client.delete(f"{PATH}/{kept}")
    assert client.get(address, headers=again).status_code == 404


def test_what_is_read_out_of_a_recording(client: FlaskClient, octets: bytes) -> None:
    kept, other = (upload(client, octets).get_json()["id"] for _ in range(2))
    told = client.get(f"{PATH}/{kept}/tokens").get_json()
    assert [each["name"] for each in told["populations"]] == list(tiny_recording().populations)
    summary = client.get(f"{PATH}/{kept}/summary?layer=1&kind=value&from=1&to=3").get_json()
    assert [row["name"] for row in summary["table"]] == ["layers.1.value"]
    assert (summary["first"], summary["end"]) == (1, 3)
    assert client.get(f"{PATH}/{kept}/heat-map").get_json()["maps"][0]["layers"] == [0, 1]
    membrane = client.get(f"{PATH}/{kept}/membrane?population=layers.0.value&from=4").get_json()
    assert (len(membrane["potential"]), len(membrane["potential"][0]), len(membrane["idx"])) == (8, 1, 2)
    assert client.get(f"{PATH}/{kept}/compare?with={other}").get_json()["cosine"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("spikes?population=nothing", 400, "invalid_input"),
        ("spikes", 400, "invalid_input"),
        ("summary?layer=9", 400, "invalid_input"),
        ("summary?from=3&to=3", 400, "invalid_input"),
        ("summary?from=-1", 400, "invalid_input"),
        ("compare", 400, "invalid_input"),
        ("compare?with=gone", 404, "not_found"),
        ("export?form=exe", 400, "invalid_input"),
    ],
)
def test_what_is_not_there_is_refused_in_words(
    client: FlaskClient, octets: bytes, path: str, status: int, code: str
) -> None:
    assert_problem(client.get(f"{PATH}/{upload(client, octets).get_json()['id']}/{path}"), status, code)


def test_spikes_are_exported_as_a_table(client: FlaskClient, octets: bytes) -> None:
    kept = upload(client, octets, name="Mine").get_json()["id"]
    answer = client.get(f"{PATH}/{kept}/export?layer=0&kind=query")
    assert (answer.mimetype, answer.headers["Content-Disposition"]) == ("text/csv", "attachment; filename=Mine.csv")
    spikes = int(tiny_recording().populations["layers.0.query"].counts.sum())
    assert len(answer.data.splitlines()) == 1 + spikes


def test_an_answer_that_was_recorded_leads_to_its_neurons_until_that_is_deleted(
    window: Dash, kb: core.KnowledgeBase
) -> None:
    museum(kb)
    trace = core.EvoRAG(kb=kb).ask(Query(QUESTION, record=True))
    recording = trace.generation["recording"]["id"]
    address = "/ask" + ask_search(trace.query, trace.id)
    shown = str(open_page(window, address, "en"))
    assert f"/neurons?recording={recording}" in shown
    kb.recordings.delete(recording)
    gone = open_page(window, address, "en")
    assert "/neurons?recording=" not in str(gone)
    assert "The recording of this answer was deleted." in text(gone)


def test_recording_is_offered_where_a_spiking_model_can_be_had(window: Dash, kb: core.KnowledgeBase) -> None:
    ready = GeneratorHealth("snn", "tiny", GeneratorState.IDLE)
    missing = GeneratorHealth("snn", "tiny", GeneratorState.UNAVAILABLE)
    assert [Offer((each,)).can_record for each in (ready, missing)] == [True, False]
    assert not Offer().can_record
    museum(kb)
    assert by_id(open_page(window, "/ask?q=&record=1", "en"), "ask-record").value is True


def test_the_address_and_the_body_of_a_question_say_that_it_is_recorded() -> None:
    query = Query(QUESTION, record=True)
    address = parse_qs(urlsplit(ask_search(query)).query)
    assert address["record"] == ["1"]
    assert query_of(q=QUESTION, record="1").record
    assert "record" not in parse_qs(urlsplit(ask_search(Query(QUESTION))).query)
    assert body_of(query)["record"] is True
    assert "record" not in body_of(Query(QUESTION))
