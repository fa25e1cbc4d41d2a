"""Requests that no page of ours makes: each is refused as the caller's mistake, and the log repeats nothing of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from dash import Dash
from flask.testing import FlaskClient

from app.main import create_app
from core.errors import NotFound
from core.settings.log import LOG_FORMAT, DiscreetFormatter
from tests.builders import add, knowledge_base

MARK = "marzipan"
"""Stands in all that the caller sends."""
ODD_ADDRESSES = (
    "/_dash-component-suites",
    "/_dash-component-suites/",
    f"/_dash-component-suites/{MARK}",
    f"/_dash-component-suites/../{MARK}",
    f"/_dash-component-suites/../../app/{MARK}.py",
    f"/_dash-component-suites/dash/{MARK}.js",
    f"/_dash-component-suites/dash/../{MARK}.py",
    f"/_dash-component-suites/dash/%2e%2e/%2e%2e/{MARK}",
    f"/_dash-component-suites/dash/dcc/..%2f..%2f{MARK}",
    "/_dash-component-suites/dash/dcc/../../../../etc/passwd",
    "/_dash-component-suites/dash/deps/%00.js",
    "/_dash-component-suites/dash/deps/%ff%fe.js",
    "/_dash-component-suites/dash_ag_grid/../dash/dash.py",
    f"/_dash-component-suites/os/{MARK}",
    f"/_dash-component-suites/core/{MARK}.npz",
    f"/_dash-component-suites/dash/{MARK}.v1m1.js",
    f"/assets/../{MARK}",
    f"/assets/..%2f..%2f{MARK}",
    f"/assets/%00{MARK}",
    f"/assets/{MARK * 400}",
    "/assets/%ff",
    f"/_favicon.ico/{MARK}",
    f"/_reload-hash?{MARK}=1",
    f"/_alive_{MARK}",
    f"/documents/{MARK}%00",
    f"/documents/%ff{MARK}",
    f"/ask?q=%ff%fe{MARK}",
    f"/ask?q={MARK}&as_of={MARK}&conversation={MARK}&q={MARK}",
    f"/compare?doc={MARK}&from=-1&to=999999999999999999999",
    f"/ask/{MARK}/{MARK}/{MARK}",
    "//",
    f"//{MARK}.example/",
    f"/{MARK}\\..\\..",
    f"/sign-in?next=%00{MARK}",
)
BODIES: tuple[Any, ...] = (None, [], "x", 1, {}, {MARK: MARK})


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dash]:
    with knowledge_base(tmp_path_factory.mktemp("odd")) as kb:
        add(kb, "hours", "The museum opens at nine.")
        yield create_app(kb)


@pytest.fixture
def client(window: Dash) -> FlaskClient:
    return window.server.test_client()


def written(caplog: pytest.LogCaptureFixture) -> str:
    """What the log of a server holds of the records."""
    formatter = DiscreetFormatter(LOG_FORMAT)
    return "\n".join(map(formatter.format, caplog.records))


@pytest.mark.parametrize("path", ODD_ADDRESSES)
def test_odd_address_is_the_callers_mistake_and_told_to_nobody(
    client: FlaskClient, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "app"), caplog.at_level(logging.DEBUG, "core"):
        answers = [client.open(path, method=method) for method in ("GET", "HEAD", "POST", "OPTIONS", "PROPFIND")]
    assert [answer.status_code for answer in answers if answer.status_code >= 500] == []
    assert MARK not in caplog.text and "Traceback" not in caplog.text
    assert b"root:" not in answers[0].data


@pytest.mark.parametrize("path", ["/", "/ask", "/assets/theme.css", "/api/v1/documents", "/_dash-layout", "/nothing"])
def test_nothing_is_traced(client: FlaskClient, path: str) -> None:
    answer = client.open(path, method="TRACE", headers={"X-Mark": MARK})
    assert answer.status_code == 405 and MARK not in answer.text


def test_odd_body_is_refused_by_every_address_of_dash(
    window: Dash, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    client.get("/_dash-dependencies")
    paths = [rule.rule for rule in window.server.url_map.iter_rules() if rule.rule.startswith("/_dash")]
    assert len(paths) > 3
    for path in paths:
        for body in BODIES:
            answer = client.post(path.replace("<string:package_name>", "dash"), json=body)
            assert 400 <= answer.status_code < 500, (path, body)
        answer = client.post(path, data=b'{"' + MARK.encode(), content_type="application/json")
        assert 400 <= answer.status_code < 500, path
    assert MARK not in caplog.text and "Traceback" not in caplog.text


@pytest.mark.parametrize("value", [None, [], {}, -1, 1e300, True, MARK, "\0", "😀", [[MARK]], {"id": MARK}])
def test_odd_value_of_a_callback_breaks_nothing_and_is_not_logged(
    window: Dash, client: FlaskClient, caplog: pytest.LogCaptureFixture, value: Any
) -> None:
    """Each callback is called with a value that its page never sends, in the form in which Dash sends values."""
    client.get("/_dash-dependencies")
    broken, called = [], 0
    for output, known in list(window.callback_map.items()):
        body = {
            "output": output,
            "outputs": _outputs(output),
            "inputs": [_given(each, value) for each in known["inputs"]],
            "state": [_given(each, value) for each in known["state"]],
            "changedPropIds": [],
        }
        answer = client.post("/_dash-update-component", json=body)
        called += answer.status_code < 400
        if answer.status_code >= 500:
            broken.append((output, answer.status_code))
    assert broken == []
    assert called > 30
    assert MARK not in written(caplog)


def test_half_a_character_is_refused(window: Dash, client: FlaskClient) -> None:
    client.get("/_dash-dependencies")
    output, known = next((name, each) for name, each in window.callback_map.items() if each["inputs"])
    body = {
        "output": output,
        "outputs": _outputs(output),
        "inputs": [_given(each, "a\ud800") for each in known["inputs"]],
    }
    assert client.post("/_dash-update-component", json=body).status_code == 400


def test_error_is_logged_by_its_place_and_kind_and_without_what_it_was_raised_for() -> None:
    formatter = DiscreetFormatter(LOG_FORMAT)
    try:
        try:
            int(MARK)
        except ValueError as error:
            raise NotFound(f"There is no {MARK}.") from error
    except NotFound:
        record = logging.LogRecord("app", logging.ERROR, "", 0, "error 1", None, sys.exc_info())
    said = formatter.format(record)
    assert "ValueError" in said and "NotFound: not_found" in said and "int(MARK)" in said
    assert MARK not in said


def _outputs(output: str) -> Any:
    def one(name: str) -> dict[str, str]:
        told, _, prop = name.rpartition(".")
        return {"id": told, "property": prop.partition("@")[0]}

    return [one(name) for name in output[2:-2].split("...")] if output.startswith("..") else one(output)


def _given(each: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"id": each["id"], "property": each["property"], "value": value}
