"""Every request passes the guards, every answer carries the headers."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

import flask
import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.main import create_app
from app.security import BODY_LIMIT_BYTES, host_name, is_loopback
from core import access
from tests.builders import knowledge_base

WRITES = (
    "/_dash-update-component",
    "/api/v1/documents",
    "/api/v1/texts",
    "/api/v1/jobs/x/retry",
    "/api/v1/jobs/x/cancel",
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    """One for all tests of what is refused; the others open their own."""
    with knowledge_base(tmp_path_factory.mktemp("guarded")) as opened:
        yield opened


@pytest.fixture(scope="module")
def window(kb: core.KnowledgeBase) -> Dash:
    return create_app(kb)


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
    ],
)
def test_write_from_another_site_is_refused(client: FlaskClient, path: str, headers: dict[str, str]) -> None:
    assert client.post(path, headers=headers).status_code == 403


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://localhost"}, {}])
def test_write_from_our_pages_or_from_a_program_is_accepted(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/v1/texts", json={"name": "a", "text": "Some words."}, headers=headers)
    assert answer.status_code == 202


def test_every_route_that_writes_is_guarded(window: Dash, client: FlaskClient) -> None:
    for rule in window.server.url_map.iter_rules():
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}:
            path = re.sub(r"<[^>]*>", "x", rule.rule)
            answer = client.open(path, method=method, headers={"Sec-Fetch-Site": "cross-site"})
            assert answer.status_code == 403, (method, path)


@pytest.mark.long
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_foreign_host_name_is_not_answered_on_the_loopback_address(client: FlaskClient, host: str) -> None:
    for path in ("/", "/api/v1/documents", "/health", "/assets/theme.css"):
        assert client.get(path, headers={"Host": host}).status_code in (400, 421), path


@pytest.mark.parametrize("host", ["localhost:8050", "127.0.0.1:8050", "[::1]:8050", "LOCALHOST"])
def test_own_names_are_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


def test_any_host_name_is_answered_when_bound_to_the_network(tmp_path) -> None:
    with knowledge_base(tmp_path, host="0.0.0.0", access="open") as kb:
        client = create_app(kb).server.test_client()
        assert client.get("/health", headers={"Host": "evorag.example"}).status_code == 200


def test_only_public_names_are_answered_where_there_are_some(tmp_path) -> None:
    with knowledge_base(tmp_path, host="0.0.0.0", access="open", public_names="evorag.example, docs.example") as kb:
        client = create_app(kb).server.test_client()
        statuses = {
            host: client.get("/health", headers={"Host": host}).status_code
            for host in ("evorag.example", "DOCS.example:8050", "localhost", "evil.example")
        }
        assert statuses == {"evorag.example": 200, "DOCS.example:8050": 200, "localhost": 200, "evil.example": 421}


def test_headers_of_a_trusted_proxy_are_believed_and_those_of_others_are_not(tmp_path) -> None:
    given = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evorag.example"}
    with knowledge_base(tmp_path, trusted_proxies="192.0.2.0/24", public_names="evorag.example") as kb:
        window = create_app(kb)
        seen: list[tuple[str | None, bool, str]] = []

        @window.server.before_request
        def look() -> None:
            seen.append((flask.request.remote_addr, flask.request.is_secure, flask.request.host))

        client = window.server.test_client()
        client.get("/sign-in", headers=given, environ_base={"REMOTE_ADDR": "192.0.2.9"})
        client.get("/sign-in", headers=given, environ_base={"REMOTE_ADDR": "203.0.113.1"})
    assert seen == [("198.51.100.7", True, "evorag.example"), ("203.0.113.1", False, "localhost")]


def test_nobody_from_elsewhere_finds_an_open_server_behind_the_loopback_address(tmp_path) -> None:
    with knowledge_base(tmp_path, trusted_proxies="127.0.0.1", public_names="evorag.example") as kb:
        client = create_app(kb).server.test_client()
        assert client.get("/api/v1/documents").status_code == 200
        assert client.get("/api/v1/documents", headers={"X-Forwarded-For": "198.51.100.7"}).status_code == 401
        assert client.get("/api/v1/documents", headers={"Host": "evorag.example"}).status_code == 401


def test_answer_in_parts_is_made_on_behalf_of_who_asked(tmp_path) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.accounts.create_user("mori", "a long enough password", "admin")
        window = create_app(kb)

        @window.server.get("/parts")
        def parts() -> flask.Response:
            return flask.Response(access.current().name for _ in range(2))

        secret = kb.accounts.create_key("k", "reader", user="mori")[1]
        answer = window.server.test_client().get("/parts", headers={"Authorization": f"Bearer {secret}"})
        assert answer.text == "morimori"
        assert access.current() == access.PROCESS


def test_server_that_strangers_reach_does_not_start_without_users(tmp_path, capsys) -> None:
    from app.server import CANNOT_START, refuse_strangers

    with knowledge_base(tmp_path, host="0.0.0.0") as kb:
        with pytest.raises(SystemExit) as ending:
            refuse_strangers(kb)
        assert ending.value.code == CANNOT_START
        said = capsys.readouterr().err
        assert "evorag user add" in said
        assert "EVORAG_ACCESS=open" in said


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"host": "0.0.0.0", "access": "open"}, False), ({"access": "keys"}, True), ({"access": "auto"}, False)],
)
def test_server_starts_where_it_is_wished_or_nobody_reaches_it(tmp_path, capsys, changes, says) -> None:
    from app.server import refuse_strangers

    with knowledge_base(tmp_path, **changes) as kb:
        refuse_strangers(kb)
        assert ("evorag user add" in capsys.readouterr().err) is says


def test_keys_are_needed_on_the_loopback_address_where_that_is_wished(tmp_path) -> None:
    with knowledge_base(tmp_path, access="keys") as kb:
        client = create_app(kb).server.test_client()
        assert client.get("/api/v1/documents").status_code == 401
        assert "evorag user add" in client.get("/sign-in").text


def test_forwarded_headers_of_a_stranger_change_nothing(tmp_path) -> None:
    headers = {"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    with knowledge_base(tmp_path, access="open") as kb:
        client = create_app(kb).server.test_client()
        assert client.post("/api/v1/texts", json={"name": "a", "text": "b"}, headers=headers).status_code == 403


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP"])
def test_whoever_comes_through_an_unknown_proxy_does_not_find_the_server_open(client: FlaskClient, name: str) -> None:
    assert client.get("/api/v1/documents").status_code == 200
    answer = client.get("/api/v1/documents", headers={name: "198.51.100.7"})
    assert answer.status_code == 401
    assert "EVORAG_TRUSTED_PROXIES" in answer.json["remedy"]


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "x",
        {"output": []},
        {"output": "x.y", "outputs": {"id": "x", "property": "y"}, "inputs": [], "changedPropIds": []},
        {"output": "a known one"},
        {"output": "a known one", "inputs": [1]},
        {"output": "a known one", "inputs": {}, "changedPropIds": [[]]},
    ],
)
def test_what_no_page_asks_of_a_callback_is_refused(
    window: Dash, client: FlaskClient, body: object, caplog: pytest.LogCaptureFixture
) -> None:
    client.get("/_dash-dependencies")
    if isinstance(body, dict) and body.get("output") == "a known one":
        body["output"] = next(name for name, known in window.callback_map.items() if known["inputs"])
    assert client.post("/_dash-update-component", json=body).status_code == 400
    assert caplog.text == ""


@pytest.mark.parametrize(
    "path", ["/", "/upload", "/api/v1/documents", "/api/v1/jobs/nothing", "/assets/theme.css", "/_dash-layout"]
)
def test_answers_carry_the_headers_and_no_cors(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers={"Origin": "https://evil.example"})
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_preflight_of_another_site_gets_no_permission(client: FlaskClient) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/api/v1/documents", headers=headers)
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_page_policy_allows_each_inline_script_by_hash_and_no_other(client: FlaskClient) -> None:
    answer = client.get("/")
    policy = answer.headers["Content-Security-Policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe" not in scripts
    assert "http" not in policy
    inline = re.findall(r"<script(?![^>]*src=)(?![^>]*application/json)[^>]*>(.*?)</script>", answer.text, re.S)
    assert inline
    for script in inline:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in scripts


def test_page_loads_nothing_from_another_host(client: FlaskClient) -> None:
    addresses = re.findall(r"""(?:src|href)=["']([^"']+)""", client.get("/").text)
    assert addresses
    assert [address for address in addresses if not address.startswith("/")] == []


@pytest.mark.parametrize("path", ["/api/v1/texts", "/_dash-update-component", "/api/v1/jobs/x/retry"])
def test_body_over_the_limit_is_refused(client: FlaskClient, path: str) -> None:
    body = b'{"name": "' + b"a" * BODY_LIMIT_BYTES + b'"}'
    assert client.post(path, data=body, content_type="application/json").status_code in (404, 413)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("evil", False)],
)
def test_loopback_addresses_are_known(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_host_header_that_cannot_be_read_names_nobody() -> None:
    assert host_name("[::1") == ""
