"""The description of the interface: it is valid, it leaves no route out, and the server does what it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

# Imported here and not within a test: CPython 3.11 fails now and then to parse source far down a stack.
from schemathesis.specs.openapi import checks, schemas  # noqa: F401

import core
from app.api.description.describe import operation_of
from app.api.description.openapi import address, codes, document, is_described
from app.main import create_app
from core import errors
from core.model import JobState
from tests.builders import knowledge_base

KEY = "hours.txt"
OTHER = "prices.csv"
METHODS = ("get", "put", "post", "patch", "delete")
EXAMPLES = 2
ANSWERS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
LEFT_OUT = {
    "follow_jobs": "does not end by itself",
    "override": "is another method in the end, and that one is sent",
    "start_training": "goes on for minutes in a process of its own",
    "delete_own_data": "takes the jobs and questions that the other operations are asked for",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """A knowledge base with a bit of everything that can be asked for."""
    with knowledge_base(tmp_path_factory.mktemp("openapi")) as opened:
        for text in ("Open at nine.\n\nClosed on Sundays.", "Open at ten.\n\nClosed on Sundays."):
            opened.add_text(KEY, text, tags=["shop"])
            opened.work_off()
        opened.add_text(KEY, "Open at eleven.", draft=True)
        opened.add_text(OTHER, "item,price\ntea,3\ncake,4\n")
        opened.work_off()
        opened.add_text("waiting.txt", "Not indexed yet.")
        opened.save_question("When does the shop open?")
        core.EvoRAG(kb=opened).ask("When does the shop open?")
        yield opened


@pytest.fixture(scope="module")
def server(kb: core.KnowledgeBase) -> Iterator[Any]:
    """The server, which waits for no job: nobody works here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["app.api.system.seed_names"], "WAIT_S", 0.0)
        patch.setattr(sys.modules["app.api.uploads.routes"], "CHECK_WAIT_S", 0.0)
        yield create_app(kb).server


@pytest.fixture(scope="module")
def described(server: Any) -> dict[str, Any]:
    return document(server)


@pytest.fixture
def client(server: Any) -> FlaskClient:
    return server.test_client()


def entries(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, entry in methods.items():
            yield path, method, entry


@pytest.mark.long
def test_description_is_valid_openapi(described) -> None:
    assert described["openapi"].startswith("3.1")
    validate(described)


def test_every_route_of_the_interface_is_described(server, described) -> None:
    described_rules = {
        rule.rule for rule in server.url_map.iter_rules() if operation_of(server.view_functions[rule.endpoint])
    }
    left_out = {rule.rule for rule in server.url_map.iter_rules() if is_described(rule)} - described_rules
    assert left_out == set()
    assert {address(rule) for rule in server.url_map.iter_rules() if rule.rule in described_rules} == set(
        described["paths"]
    )


def test_operations_have_names_of_their_own_and_say_what_they_do(described) -> None:
    names = [entry["operationId"] for _, _, entry in entries(described)]
    assert len(names) == len(set(names))
    for _, _, entry in entries(described):
        assert entry["summary"] and entry["description"].endswith((".", "`")), entry["operationId"]
        assert any(status < "400" for status in entry["responses"]), entry["operationId"]
        assert entry["x-role"] in ("reader", "editor", "admin")


def test_what_changes_something_needs_more_than_a_reader(described) -> None:
    asking = {"search_by_body", "ask", "compare_answers", "analyse"}
    # Who has asked a question says whether its answer is wrong.
    asking |= {"mark_wrong", "unmark_wrong"}
    # To compute a comparison changes nothing that others see, and those who wait for it still get it.
    asking |= {"begin_comparison", "cancel_comparison"}
    own = {"access", "conversations", "recordings"}
    for _, method, entry in entries(described):
        if (
            method not in ("get", "head", "options")
            and entry["operationId"] not in asking
            and entry["tags"][0] not in own
        ):
            assert entry["x-role"] != "reader", entry["operationId"]


def test_codes_of_errors_are_enumerated(described) -> None:
    enumerated = described["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert {errors.BadFilter.code, errors.QueryTooLong.code, "method_not_allowed", "internal"} <= set(enumerated)
    said = {
        code
        for _, _, e in entries(described)
        for a in e["responses"].values()
        for code in re.findall(r"`(\w+)`", a["description"])
    }
    assert said <= set(codes())


def test_a_field_called_error_is_described(described) -> None:
    answer = described["paths"]["/upload_status/{job_id}"]["get"]["responses"]["200"]
    shape = answer["content"]["application/json"]["schema"]
    assert set(shape["properties"]["error"]["properties"]) == {"code", "title", "detail", "remedy"}
    assert "error" not in shape["required"]


def test_description_is_not_sent_twice(client: FlaskClient) -> None:
    first = client.get("/api/v1/openapi.json")
    again = client.get("/api/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert first.mimetype == "application/json" and again.status_code == 304 and not again.data


def test_root_links_lead_somewhere(client: FlaskClient) -> None:
    links = client.get("/api/v1").get_json()["links"]
    assert {"documents", "jobs", "openapi.json"} <= set(links)
    for name, path in links.items():
        with client.get(path, buffered=name != "jobs/events") as answer:
            assert answer.status_code < 400, path


def test_methods_that_an_address_has_not_are_refused_with_those_that_it_has(client: FlaskClient, described) -> None:
    for path, entries_of_path in described["paths"].items():
        if any(entry.get("x-websocket") for entry in entries_of_path.values()):
            continue
        filled = re.sub(r"\{\w+\}", "1", path)
        there = methods_at(filled, described)
        for method in sorted({*METHODS} - there):
            answer = client.open(filled, method=method.upper())
            assert (answer.status_code, answer.mimetype) == (405, "application/problem+json"), (method, path)
            assert answer.get_json()["code"] == "method_not_allowed"
            assert {name.lower() for name in answer.allow} - {"head", "options"} == there, path


def methods_at(address: str, described: dict[str, Any]) -> set[str]:
    """The methods of every described path that an address fits."""
    return {
        method
        for path, methods in described["paths"].items()
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), address)
        for method in methods
    } - {"head", "options"}


@pytest.mark.parametrize(
    "path", ["/api", "/api/v2", "/api/v1/nothing", "/api/v1/documents/a/b/c", "/api/v1//documents"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_address_is_a_problem(client: FlaskClient, path: str, method: str) -> None:
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
    assert answer.get_json()["code"] == "unknown_address" in codes()
    assert "/api/v1" in answer.get_json()["remedy"]


# ---- the server against its description


def operations(server: Any) -> list[Any]:
    def from_this_machine(environ: dict[str, Any], start_response: Any) -> Any:
        return server({**environ, "REMOTE_ADDR": "127.0.0.1"}, start_response)

    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", from_this_machine)
    return [found.ok() for found in schema.get_all_operations()]


@schemathesis.serializer("application/offset+octet-stream")
def part_of_a_file(_: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


def evaluated(kb: core.KnowledgeBase) -> None:
    """Keep a question set and a run of it, where none is left: what is sent also deletes."""
    if not kb.evaluations.runs():
        kept = next((each for each in kb.evaluations.sets() if each.name == "shop"), None)
        kept = kept or kb.evaluations.import_set("shop", b"question,doc\nWhen does it open?,hours.txt\n", "csv")
        kb.evaluations.set_gate(kept.id, True)
        kb.evaluations.wait(kb.evaluations.run(kept.id).id)


def known_places(kb: core.KnowledgeBase) -> dict[str, list[str]]:
    """Values for paths that lead somewhere."""
    evaluated(kb)
    return {
        "doc_key": [KEY, OTHER, "nothing.txt"],
        "number": ["1", "2"],
        "job_id": [job.id for job in kb.jobs() if job.state is JobState.DONE][:2],
        "trace_id": [summary.id for summary in kb.history(1)],
        "set_id": [each.id for each in kb.evaluations.sets()],
        "run_id": [run.id for run in kb.evaluations.runs()],
    }


def takes_anything(entry: dict[str, Any]) -> bool:
    """Tell whether nothing that can be sent is other than described: there are only ids, or nothing at all."""
    limited = [each for each in entry["parameters"] if each["in"] != "path" or each["schema"]["type"] != "string"]
    return not limited and "requestBody" not in entry


def send(operation: Any, mode: GenerationMode, places: dict[str, list[str]]) -> None:
    """Send an operation what schemathesis makes of its description, half of it to places that there are."""
    raw = operation.definition.raw
    # In a form everything is a text, so that a wrong type may arrive as a right one; protocols say what to do with
    # odd headers: ignore them, or answer 412.
    is_form = "multipart/form-data" in raw.get("requestBody", {}).get("content", {})
    has_headers = any(each["in"] == "header" for each in raw["parameters"])
    is_strict = mode is GenerationMode.NEGATIVE and not is_form and not has_headers
    wanted = [*ANSWERS, checks.negative_data_rejection] if is_strict else ANSWERS

    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def each(case: Any, data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            for name in places.keys() & (case.path_parameters or {}).keys():
                case.path_parameters[name] = data.draw(st.sampled_from(places[name]))
        asked = case.query or {}
        if is_strict:
            # A number that is left empty counts as not given.
            assume("" not in asked.values())
        elif "wait_s" in asked:
            asked["wait_s"] = 0
        if isinstance(case.body, dict) and case.body.get("record") is True:
            # It would have a spiking network write an answer, for minutes.
            case.body["record"] = False
        answer = case.call()
        # What is too large is refused unread, whatever else is wrong with it.
        case.validate_response(answer, checks=ANSWERS if answer.status_code == 413 else wanted)

    each()


@pytest.mark.long
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_server_answers_as_described(server, kb, mode: GenerationMode) -> None:
    """Schemathesis sends what the description allows, and what it does not, to every operation."""
    places = known_places(kb)
    if mode is GenerationMode.NEGATIVE:
        # A wrong number must stay wrong for the check that it is refused.
        del places["number"]
    failures = []
    for operation in operations(server):
        raw = operation.definition.raw
        if raw.get("x-websocket") or raw["operationId"] in LEFT_OUT:
            continue
        if mode is GenerationMode.NEGATIVE and takes_anything(raw):
            continue
        try:
            send(operation, mode, places)
        except (Exception, BaseExceptionGroup) as failure:
            failures.append(f"{operation.label}: {failure}")
    assert failures == [], "\n\n".join(failures)
