"""A second factor that is demanded: whoever has none reaches nothing but the page that sets it up, by any route."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.main import create_app
from app.security.public_paths import OPEN
from core.errors import Conflict
from core.model import Role
from tests.builders import knowledge_base
from tests.unit.app.security.test_code import code

PASSWORD = "a long enough password"
JSON = {"Accept": "application/json"}
ROLES = {"root": Role.ADMIN, "mori": Role.EDITOR, "ann": Role.READER}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("demanded"), rate_limit=0) as opened:
        for name, role in ROLES.items():
            opened.accounts.create_user(name, PASSWORD, role)
        opened.accounts.second_factors.demand(True)
        yield opened


@pytest.fixture(scope="module")
def window(kb: core.KnowledgeBase) -> Dash:
    return create_app(kb)


def client_of(window: Dash) -> FlaskClient:
    made = window.server.test_client()
    made.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
    return made


def half(window: Dash, name: str) -> FlaskClient:
    """Somebody who gave the password, and has no second factor."""
    client = client_of(window)
    assert client.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
    return client


@pytest.mark.parametrize("name", ROLES)
def test_no_route_is_open_before_it_is_set_up(window: Dash, name: str) -> None:
    client, reached, asked = half(window, name), [], 0
    for rule in window.server.url_map.iter_rules():
        path = re.sub(r"<[^>]*>", "1", rule.rule)
        if path in OPEN or path in ("/second-factor", "/sign-out") or path.endswith("/health/live"):
            continue
        for method in sorted(rule.methods or {"GET"}):
            answer = client.open(path, method=method)
            asked += 1
            may_be_page = answer.status_code == 302 and answer.location.startswith("/second-factor")
            if answer.status_code != 401 and not may_be_page:
                reached.append((method, path, answer.status_code))
    assert asked > 300 and reached == []
    assert client.get("/api/v1/documents").json["code"] == "factor_needed"


def test_page_leads_from_the_password_to_the_codes_and_on(window: Dash, kb: core.KnowledgeBase) -> None:
    client = half(window, "mori")
    led = client.get("/history?q=fees")
    assert led.location.startswith("/second-factor?next=")
    page = client.get(led.location)
    assert page.status_code == 200 and 'action="/second-factor"' in page.text
    assert kb.catalog.second_factors.get(kb.accounts.user_id("mori") or 0) is None
    shown = client.post("/second-factor", data={"next": "/history"})
    assert 'src="data:image/png;base64,' in shown.text
    found = re.search(r'class="entrance-secret"[^>]*>([A-Z2-7 ]+)<', shown.text)
    assert found is not None
    secret = found[1].replace(" ", "")
    wrong = client.post("/second-factor", data={"step": "confirm", "code": "AAAAAA", "next": "/history"})
    assert wrong.status_code == 401 and 'role="alert"' in wrong.text and secret not in wrong.text
    assert client.get("/api/v1/me").status_code == 401
    done = client.post("/second-factor", data={"step": "confirm", "code": code(secret, 0), "next": "/history"})
    assert done.status_code == 200 and len(re.findall(r"\b[A-Z2-7]{6}(?:-[A-Z2-7]{6}){3}\b", done.text)) == 10
    assert 'href="/history"' in done.text
    assert client.get("/api/v1/me").json["name"] == "mori"
    assert client.get("/second-factor").status_code == 302
    # Whoever takes it away again stands before the same page.
    removed = client.post("/api/v1/me/second-factor/remove", json={"code": code(secret)})
    assert removed.status_code == 204 and client.get("/api/v1/me").status_code == 401


def test_script_is_told_where_it_is_set_up(window: Dash) -> None:
    client = client_of(window)
    told = client.post("/sign-in", data={"name": "ann", "password": PASSWORD}, headers=JSON)
    assert told.json == {"name": "ann", "role": "reader", "set_up": "/second-factor"}


def test_wrong_codes_are_counted(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, sign_in_limit=3, second_factor="required") as kb:
        kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
        client = half(create_app(kb), "root")
        client.post("/second-factor")
        sent = {"step": "confirm", "code": "AAAAAA"}
        assert [client.post("/second-factor", data=sent).status_code for _ in range(5)] == [401, 401, 401, 429, 429]


def test_page_is_no_strangers_and_takes_nothing_from_another_site(window: Dash) -> None:
    stranger = client_of(window)
    assert stranger.get("/second-factor").location.startswith("/sign-in")
    assert stranger.post("/second-factor").status_code == 401
    client = half(window, "ann")
    for path in ("/second-factor", "/sign-out"):
        assert client.post(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.post("/sign-out").status_code == 303


def test_keys_of_programs_go_on(window: Dash, kb: core.KnowledgeBase) -> None:
    headers = {"Authorization": f"Bearer {kb.accounts.create_key('k', Role.READER, user='ann')[1]}"}
    assert window.server.test_client().get("/api/v1/documents", headers=headers).status_code == 200


def test_sessions_of_before_are_led_there_as_well_and_an_administrator_takes_it_back(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
        kb.accounts.create_user("ann", PASSWORD)
        window = create_app(kb)
        ann, root = half(window, "ann"), half(window, "root")
        assert ann.get("/api/v1/second-factor").json == {"decided_by": "", "is_demanded": False}
        assert ann.put("/api/v1/second-factor", json={"is_demanded": True}).status_code == 403
        assert root.put("/api/v1/second-factor", json={"is_demanded": True}).json["is_demanded"] is True
        assert [each.get("/api/v1/me").status_code for each in (ann, root)] == [401, 401]
        kb.accounts.second_factors.demand(False)
        assert [each.get("/api/v1/me").status_code for each in (ann, root)] == [200, 200]


@pytest.mark.parametrize(("setting", "is_demanded"), [("required", True), ("optional", False)])
def test_setting_wins_over_what_administrators_chose(tmp_path: Path, setting: str, is_demanded: bool) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
        kb.accounts.second_factors.demand(not is_demanded)
    with knowledge_base(tmp_path, second_factor=setting) as kb:
        rule = kb.accounts.second_factors.rule()
        assert (rule.is_demanded, rule.decided_by) == (is_demanded, "EVORAG_SECOND_FACTOR")
        client = half(create_app(kb), "root")
        assert client.get("/api/v1/me").status_code == (401 if is_demanded else 200)
        with pytest.raises(Conflict, match="EVORAG_SECOND_FACTOR"):
            kb.accounts.second_factors.demand(is_demanded)
