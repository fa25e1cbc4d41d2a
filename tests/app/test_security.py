"""Every request passes the guards, every answer carries the headers."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from dash import Dash
from flask.testing import FlaskClient

from app.security import BODY_LIMIT_BYTES, host_name, is_loopback
from tests.builders import knowledge_base

WRITES = (
    "/_dash-update-component",
    "/api/v1/documents",
    "/api/v1/texts",
    "/api/v1/jobs/x/retry",
    "/api/v1/jobs/x/cancel",
)


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
    from app.main import create_app

    with knowledge_base(tmp_path, host="0.0.0.0") as kb:
        client = create_app(kb).server.test_client()
        assert client.get("/health", headers={"Host": "evorag.example"}).status_code == 200


def test_forwarded_headers_of_a_stranger_change_nothing(client: FlaskClient) -> None:
    headers = {"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    assert client.post("/api/v1/texts", json={"name": "a", "text": "b"}, headers=headers).status_code == 403


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
