"""Open sessions: one's own are seen and ended, those of others by administrators alone, and an ended one is out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.main import create_app
from app.security.devices import browser_of
from core.access import acting
from core.errors import Forbidden, NotFound, PasswordNeeded
from core.model import Principal, Role
from tests.builders import knowledge_base

PASSWORD = "a long enough password"
LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
NAMES = {"root": Role.ADMIN, "mori": Role.EDITOR, "ann": Role.READER}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        for name, role in NAMES.items():
            opened.accounts.create_user(name, PASSWORD, role)
        yield opened


@pytest.fixture
def window(kb: core.KnowledgeBase) -> Dash:
    return create_app(kb)


def signed_in(window: Dash, name: str, agent: str = LINUX, address: str = "192.0.2.7") -> FlaskClient:
    client = window.server.test_client()
    client.environ_base |= {"HTTP_SEC_FETCH_SITE": "same-origin", "REMOTE_ADDR": address, "HTTP_USER_AGENT": agent}
    assert client.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
    return client


@pytest.mark.parametrize(
    ("sent", "family"),
    [
        (LINUX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/17.5 Safari/605.1.15", "Safari on macOS"),
        ("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) CriOS/126.0 Safari/604.1", "Chrome on iOS"),
        ("curl/8.5.0", "curl"),
        ("<script>alert(1)</script>", ""),
        ("", ""),
        ("x" * 600 + "Firefox/1 Linux", ""),
    ],
)
def test_browser_is_kept_as_its_family_and_nothing_as_it_was_sent(sent: str, family: str) -> None:
    assert browser_of(sent) == family


@pytest.mark.parametrize("name", NAMES)
def test_each_sees_their_own_sessions_alone_with_where_they_were_begun(window: Dash, name: str) -> None:
    clients = {each: signed_in(window, each) for each in NAMES}
    signed_in(window, name, agent="curl/8", address="2001:db8:1:2:3::4")
    told = clients[name].get("/api/v1/me/sessions").json["sessions"]
    assert {(each["browser"], each["address"], each["is_present"]) for each in told} == {
        ("Firefox on Linux", "192.0.2.7", True),
        ("curl", "2001:db8:1:2::/64", False),
    }
    assert clients[name].get_cookie("evorag_session").value not in str(told)


@pytest.mark.parametrize("name", NAMES)
def test_ended_session_is_a_strangers_with_its_next_request(window: Dash, name: str) -> None:
    here, there = signed_in(window, name), signed_in(window, name, agent="curl/8")
    other = next(each for each in here.get("/api/v1/me/sessions").json["sessions"] if not each["is_present"])
    assert there.get("/api/v1/me").status_code == 200
    assert here.delete(f"/api/v1/me/sessions/{other['id']}").status_code == 204
    assert there.get("/api/v1/me").status_code == 401
    assert there.get("/access").location.startswith("/sign-in")
    assert here.get("/api/v1/me").json["name"] == name
    assert here.delete(f"/api/v1/me/sessions/{other['id']}").status_code == 404


def test_all_others_end_and_the_present_one_goes_on(window: Dash) -> None:
    here, *there = [signed_in(window, "mori") for _ in range(3)]
    ann = signed_in(window, "ann")
    assert here.delete("/api/v1/me/sessions").json == {"ended": 2}
    assert [client.get("/api/v1/me").status_code for client in (here, *there, ann)] == [200, 401, 401, 200]
    assert len(here.get("/api/v1/me/sessions").json["sessions"]) == 1


@pytest.mark.parametrize("name", ["mori", "ann"])
def test_sessions_of_others_are_as_if_they_were_not_there(window: Dash, kb: core.KnowledgeBase, name: str) -> None:
    client, root = signed_in(window, name), signed_in(window, "root")
    of_root = root.get("/api/v1/me/sessions").json["sessions"][0]["id"]
    never = client.delete(f"/api/v1/me/sessions/{'0' * 32}")
    theirs = client.delete(f"/api/v1/me/sessions/{of_root}")
    assert (theirs.status_code, theirs.json) == (never.status_code, never.json) and never.status_code == 404
    for path in ("root", "nobody", name):
        assert client.get(f"/api/v1/users/{path}/sessions").status_code == 403
        assert client.delete(f"/api/v1/users/{path}/sessions").status_code == 403
        assert client.delete(f"/api/v1/users/{path}/sessions/{of_root}").status_code == 403
    assert root.get("/api/v1/me").status_code == 200
    who = next(user for user in kb.accounts.users() if user.name == name)
    with acting(Principal(who.name, who.role, who.id)):
        with pytest.raises(Forbidden):
            kb.accounts.sessions.all("root")
        with pytest.raises(NotFound):
            kb.accounts.sessions.end(of_root)


def test_administrator_sees_and_ends_those_of_anybody_and_keys_go_on(window: Dash, kb: core.KnowledgeBase) -> None:
    root, first, second = signed_in(window, "root"), signed_in(window, "ann"), signed_in(window, "ann", agent="curl/8")
    key = {"Authorization": f"Bearer {kb.accounts.create_key('k', Role.READER, user='ann')[1]}"}
    told = root.get("/api/v1/users/ann/sessions").json["sessions"]
    assert len(told) == 2 and not any(each["is_present"] for each in told)
    one = next(each for each in told if each["browser"] == "curl")
    assert root.delete(f"/api/v1/users/ann/sessions/{one['id']}").status_code == 204
    assert [client.get("/api/v1/me").status_code for client in (first, second)] == [200, 401]
    assert root.delete("/api/v1/users/ann/sessions").json == {"ended": 1}
    assert first.get("/api/v1/me").status_code == 401
    assert window.server.test_client().get("/api/v1/me", headers=key).status_code == 200
    assert root.get("/api/v1/users/nobody/sessions").status_code == 404


def test_key_has_no_sessions_and_ends_none_of_its_owner(window: Dash, kb: core.KnowledgeBase) -> None:
    mori, program = signed_in(window, "mori"), window.server.test_client()
    key = {"Authorization": f"Bearer {kb.accounts.create_key('k', Role.EDITOR, user='mori')[1]}"}
    assert program.get("/api/v1/me/sessions", headers=key).json == {"sessions": []}
    session = mori.get("/api/v1/me/sessions").json["sessions"][0]["id"]
    for path in ("me/sessions", f"me/sessions/{session}", "users/mori/sessions"):
        assert program.delete(f"/api/v1/{path}", headers=key).status_code == 403
    assert mori.get("/api/v1/me").status_code == 200


def test_password_is_asked_for_again_before_sessions_are_ended(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, confirm_minutes=0.0001) as kb:
        root = kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
        token, session = kb.accounts.sign_in("root", PASSWORD)
        kb.accounts.sign_in("root", PASSWORD)
        late = Principal("root", Role.ADMIN, root.id, signed_in_at=session.principal.signed_in_at)
        with acting(late):
            while True:
                try:
                    kb.accounts.require_recent_password()
                except PasswordNeeded:
                    break
            assert len(kb.accounts.sessions.all(token=token)) == 2
            for act in (
                lambda: kb.accounts.sessions.end_all(keep_token=token),
                lambda: kb.accounts.sessions.end("0" * 32),
                lambda: kb.accounts.sessions.end_all("root"),
                lambda: kb.accounts.second_factors.demand(True),
            ):
                with pytest.raises(PasswordNeeded):
                    act()
        assert len(kb.accounts.sessions.all("root")) == 2


def test_session_of_an_earlier_release_is_told_without_where_it_was_begun(kb: core.KnowledgeBase) -> None:
    kb.accounts.sign_in("ann", PASSWORD)
    (told,) = kb.accounts.sessions.all("ann")
    assert (told.browser, told.address, told.is_present) == ("", "", False)
