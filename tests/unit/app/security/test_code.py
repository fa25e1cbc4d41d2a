"""Signing in with a second factor: the password first, then a code, counted and refused as passwords are."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from core.access import acting
from core.model import Principal, Role
from core.second_factors import STEP_S, code_of
from tests.builders import knowledge_base

NAME, PASSWORD = "mori", "a long enough password"
JSON = {"Accept": "application/json"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path, sign_in_limit=3) as kb:
        kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
        kb.accounts.create_user(NAME, PASSWORD, Role.EDITOR)
        yield kb


@pytest.fixture
def client(house: core.KnowledgeBase) -> FlaskClient:
    made = create_app(house).server.test_client()
    made.environ_base["HTTP_SEC_FETCH_SITE"] = "same-origin"
    return made


def code(secret: str, steps: int = 1) -> str:
    """Return a code that is free after ``guarded`` took the present one, also where half a minute ends meanwhile."""
    return code_of(secret, int(time.time()) // STEP_S + steps)


def guarded(kb: core.KnowledgeBase) -> tuple[str, list[str]]:
    """Give mori a second factor; return its secret and recovery codes. The code of the next step is free."""
    user = next(each for each in kb.accounts.users() if each.name == NAME)
    with acting(Principal(user.name, user.role, user.id)):
        secret = kb.accounts.second_factors.begin().secret
        return secret, kb.accounts.second_factors.confirm(code(secret, 0))


def asked(client: FlaskClient, **more: Any) -> str:
    """Give the password and return the ticket of the page that asks for the code."""
    page = client.post("/sign-in", data={"name": NAME, "password": PASSWORD, **more})
    assert page.status_code == 200 and client.get_cookie("evorag_session") is None
    found = re.search(r'name="ticket" value="([^"]+)"', page.text)
    assert found is not None and 'autocomplete="one-time-code"' in page.text and PASSWORD not in page.text
    return found[1]


def test_password_leads_to_the_code_and_the_code_in(client: FlaskClient, house: core.KnowledgeBase) -> None:
    secret, _ = guarded(house)
    ticket = asked(client, next="/history")
    assert client.get("/api/v1/documents").status_code == 401
    done = client.post("/sign-in", data={"ticket": ticket, "code": code(secret), "next": "/history"})
    assert (done.status_code, done.location) == (303, "/history")
    assert client.get("/api/v1/me").json["name"] == NAME
    assert client.get_cookie("evorag_session_device") is not None


def test_wrong_code_is_asked_for_again_and_counted_as_a_wrong_password(
    client: FlaskClient, house: core.KnowledgeBase
) -> None:
    secret, codes = guarded(house)
    ticket = asked(client)
    for _ in range(3):
        page = client.post("/sign-in", data={"ticket": ticket, "code": "AAAAAA"})
        assert page.status_code == 401 and 'role="alert"' in page.text and ticket in page.text
    # Now neither codes nor passwords are looked at, the right ones included.
    for form in ({"ticket": ticket, "code": code(secret)}, {"ticket": ticket, "code": codes[0]}):
        late = client.post("/sign-in", data=form)
        assert late.status_code == 429 and "Retry-After" in late.headers
    assert client.post("/sign-in", data={"name": NAME, "password": PASSWORD}).status_code == 429
    assert client.get_cookie("evorag_session") is None


@pytest.mark.parametrize(
    "ticket",
    [
        "x",
        "::",
        "a:9999999999:mori",
        "0" * 64 + ":9999999999:root",
        ":9999999999:root",
        ":9999999999:nobody",
        "a" * 5_000,
    ],
)
def test_forged_ticket_opens_nothing(client: FlaskClient, house: core.KnowledgeBase, ticket: str) -> None:
    secret, _ = guarded(house)
    answer = client.post("/sign-in", data={"ticket": ticket, "code": code(secret)})
    assert answer.status_code == 401 and 'name="password"' in answer.text
    assert client.get_cookie("evorag_session") is None


def test_code_without_a_password_is_none(client: FlaskClient, house: core.KnowledgeBase) -> None:
    secret, _ = guarded(house)
    for form in ({"name": NAME, "code": code(secret)}, {"name": NAME, "password": "", "code": code(secret)}):
        assert client.post("/sign-in", data=form).status_code == 401
    assert client.post("/sign-in", data={"name": NAME, "password": "wrong", "code": code(secret)}).status_code == 401


def test_script_is_told_that_a_code_is_needed(client: FlaskClient, house: core.KnowledgeBase) -> None:
    secret, _ = guarded(house)
    told = client.post("/sign-in", data={"name": NAME, "password": PASSWORD}, headers=JSON)
    assert (told.status_code, told.json["code"]) == (401, "code_needed")
    again = client.post("/sign-in", data={"ticket": told.json["ticket"], "code": "000000x"}, headers=JSON)
    assert (again.status_code, again.json["code"]) == (401, "code_needed")
    done = client.post("/sign-in", data={"ticket": told.json["ticket"], "code": code(secret)}, headers=JSON)
    assert (done.status_code, done.json["name"]) == (200, NAME)


def test_routes_set_it_up_show_it_and_take_it_away(client: FlaskClient, house: core.KnowledgeBase) -> None:
    path = "/api/v1/me/second-factor"
    client.post("/sign-in", data={"name": NAME, "password": PASSWORD})
    assert client.get(path).json == {"is_on": False, "recovery_left": 0, "since": None}
    setup = client.post(path).json
    assert setup["secret"] in setup["uri"]
    assert client.post(f"{path}/confirm", json={"code": "AAAAAA"}).status_code == 401
    codes = client.post(f"{path}/confirm", json={"code": code(setup["secret"], 0)}).json["recovery_codes"]
    assert client.get(path).json["recovery_left"] == len(codes) == 10
    assert client.post(path).status_code == 409
    # The browser that set it up goes on.
    assert client.get("/api/v1/me").json["name"] == NAME
    assert client.post(f"{path}/remove", json={"code": "AAAAAA"}).status_code == 401
    assert client.post(f"{path}/remove", json={"code": codes[0]}).status_code == 204
    assert client.get(path).json["is_on"] is False


def test_wrong_codes_to_remove_it_are_counted(client: FlaskClient, house: core.KnowledgeBase) -> None:
    secret, _ = guarded(house)
    client.post("/sign-in", data={"ticket": asked(client), "code": code(secret)})
    found = [client.post("/api/v1/me/second-factor/remove", json={"code": "AAAAAA"}).status_code for _ in range(5)]
    assert found == [401, 401, 401, 429, 429]


def test_key_neither_needs_a_code_nor_changes_the_factor(client: FlaskClient, house: core.KnowledgeBase) -> None:
    guarded(house)
    headers = {"Authorization": f"Bearer {house.accounts.create_key('k', Role.EDITOR, user=NAME)[1]}"}
    assert client.get("/api/v1/me", headers=headers).json["way"] == "key"
    for path, body in (("", None), ("/confirm", {"code": "1"}), ("/remove", {"code": "1"})):
        assert client.post(f"/api/v1/me/second-factor{path}", json=body, headers=headers).status_code == 403


def test_administrator_removes_it_and_lists_who_has_one(client: FlaskClient, house: core.KnowledgeBase) -> None:
    guarded(house)
    client.post("/sign-in", data={"name": "root", "password": PASSWORD})
    listed = client.get("/api/v1/users").json["users"]
    assert {each["name"]: each["has_second_factor"] for each in listed} == {"root": False, NAME: True}
    assert client.delete(f"/api/v1/users/{NAME}/second-factor").status_code == 204
    client.post("/sign-out")
    assert client.post("/sign-in", data={"name": NAME, "password": PASSWORD}).status_code == 303
    assert client.delete("/api/v1/users/root/second-factor").status_code == 403
