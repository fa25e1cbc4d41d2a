"""Every route that there is, found in the map of the server itself, is closed to whoever may not use it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import websocket
from dash import Dash
from flask.testing import FlaskClient

import core
from app.api.description.describe import operation_of
from app.main import create_app
from app.security.public_paths import OPEN
from app.security.sockets import UNAUTHORIZED
from core.model import Role
from core.settings import Settings
from tests.builders import knowledge_base
from tests.live import serving

PASSWORD = "a long enough password"
FILES = (
    "/assets/modules/shell/account.js",
    "/assets/upload.css",
    "/assets/vendor/bootstrap-icons/icons.css",
    "/assets/../app/main.py",
)
STRANGE = (
    "/favicon.ico",
    "/robots.txt",
    "/nothing/at/all",
    "/static/x",
    "/data/catalog.sqlite",
    "/.env",
    "/api",
    "/ws",
)
SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Route:
    """One method of one route, with its parameters filled in."""

    method: str
    path: str
    role: Role | None
    is_open: bool
    is_socket: bool


@dataclass(frozen=True)
class House:
    """An application with users and keys of every kind."""

    window: Dash
    client: FlaskClient
    keys: dict[str, str]
    token: str

    @property
    def routes(self) -> Iterator[Route]:
        server = self.window.server
        for rule in server.url_map.iter_rules():
            path = re.sub(r"<[^>]*>", "1", rule.rule)
            described = operation_of(server.view_functions[rule.endpoint])
            for method in sorted(rule.methods or {"GET"}):
                yield Route(
                    method,
                    path,
                    described.role if described else None,
                    path in OPEN or bool(described and described.is_open),
                    bool(rule.websocket),
                )

    def status(self, route: Route, **headers: str) -> int:
        return self.client.open(route.path, method=route.method, headers=headers).status_code


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    # Nobody is slowed down here, because so many requests come from one place.
    with knowledge_base(tmp_path_factory.mktemp("house"), rate_limit=0) as kb:
        yield furnished(kb)


def furnished(kb: core.KnowledgeBase) -> House:
    accounts = kb.accounts
    accounts.create_user("admin", PASSWORD, Role.ADMIN)
    for role in (Role.READER, Role.EDITOR):
        accounts.create_user(f"one.{role}", PASSWORD, role)
    keys = {str(role): accounts.create_key("k", role, user=f"one.{role}")[1] for role in (Role.READER, Role.EDITOR)}
    keys["admin"] = accounts.create_key("k", Role.ADMIN, user="admin")[1]
    revoked, keys["revoked"] = accounts.create_key("k", Role.ADMIN, user="admin")
    accounts.revoke(revoked.id)
    soon = datetime.now(UTC) + timedelta(seconds=2)
    keys["expired"] = accounts.create_key("k", Role.ADMIN, soon, user="admin")[1]
    keys["wrong"] = "evo_" + "A" * 43
    window = create_app(kb)
    token, _ = accounts.sign_in("admin", PASSWORD)
    time.sleep(max((soon - datetime.now(UTC)).total_seconds(), 0))
    return House(window, window.server.test_client(use_cookies=False), keys, token)


def closed(house: House) -> list[Route]:
    found = [route for route in house.routes if not route.is_open]
    assert len(found) > 150
    return found


def is_closed(route: Route, status: int) -> bool:
    """Whether an answer gives nothing away: 401, or the way to the sign-in page for what may be a page."""
    may_be_page = route.role is None and (route.method in ("GET", "HEAD") or route.path == "/sign-out")
    return status == 401 or (status == 302 and may_be_page)


def test_nothing_is_there_without_a_key(house: House) -> None:
    assert [route for route in closed(house) if not is_closed(route, house.status(route))] == []


@pytest.mark.parametrize("kind", ["wrong", "expired", "revoked"])
def test_key_that_does_not_work_opens_nothing(house: House, kind: str) -> None:
    given = {"Authorization": f"Bearer {house.keys[kind]}"}
    assert [route for route in closed(house) if not is_closed(route, house.status(route, **given))] == []


@pytest.mark.parametrize("name", ["key", "api_key", "token", "access_token", "authorization"])
def test_key_in_the_address_is_none(house: House, name: str) -> None:
    for path in ("/api/v1/documents", "/_dash-layout", "/metrics", "/assets/modules/shell/account.js"):
        assert house.client.get(f"{path}?{name}={house.keys['admin']}").status_code == 401, path


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Bearer evo_", "Basic YWRtaW46YWRtaW4=", "evo_", "Bearer " + "x" * 5000, "Bearer é\udcff"],
)
def test_header_that_is_no_key_opens_nothing(house: House, given: str) -> None:
    headers = {"Authorization": given.encode("utf-8", "surrogateescape").decode("latin-1")}
    assert house.client.get("/api/v1/documents", headers=headers).status_code == 401


@pytest.mark.parametrize("kind", [Role.READER, Role.EDITOR])
def test_lesser_role_is_refused_where_a_greater_one_is_needed(house: House, kind: Role) -> None:
    given = {"Authorization": f"Bearer {house.keys[kind]}"}
    greater = [route for route in closed(house) if route.role is not None and not kind.includes(route.role)]
    assert len(greater) > 5
    assert [route for route in greater if route.method != "OPTIONS" and house.status(route, **given) != 403] == []


def test_write_from_another_site_is_refused_whoever_is_signed_in(house: House) -> None:
    writes = [route for route in house.routes if route.method not in SAFE]
    cookie = f"evorag_session={house.token}"
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {},
    ):
        assert [route for route in writes if house.status(route, Cookie=cookie, **headers) != 403] == []


def test_socket_from_another_site_is_refused_whoever_is_signed_in(house: House) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Cookie": f"evorag_session={house.token}"}
    sockets = {route.path for route in house.routes if route.is_socket}
    assert sockets
    for path in sockets:
        assert house.client.get(path, headers={**headers, "Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("path", [*FILES, *STRANGE])
def test_files_and_unknown_addresses_are_closed(house: House, path: str) -> None:
    assert house.client.get(path).status_code == 401


def test_what_is_open_is_what_the_sign_in_page_needs_and_a_sign_of_life(house: House) -> None:
    open_paths = {route.path for route in house.routes if route.is_open}
    assert open_paths == {"/sign-in", "/health/live", "/api/v1/health/live"}
    page = house.client.get("/sign-in").text
    needed = set(re.findall(r'(?:href|src)="(/assets/[^"?]+)"', page))
    assert needed == OPEN - {"/sign-in"}
    assert [path for path in needed if house.client.get(path).status_code != 200] == []


def test_socket_of_a_stranger_is_closed_with_a_code_of_its_own(house: House) -> None:
    with (
        serving(house.window.server, Settings().server) as url,
        closing(websocket.WebSocket()) as socket,
    ):
        socket.connect(f"ws{url[4:]}/ws/progress/1", timeout=30)
        _, frame = socket.recv_data()
    assert int.from_bytes(frame[:2], "big") == UNAUTHORIZED == 4401


def test_administrator_with_a_key_needs_no_page_of_ours(house: House) -> None:
    given = {"Authorization": f"Bearer {house.keys['admin']}", "Sec-Fetch-Site": "cross-site"}
    answer = house.client.post("/api/v1/texts", json={"name": "a", "text": "Some words."}, headers=given)
    assert answer.status_code == 202
