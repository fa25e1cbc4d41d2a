"""Signing in and out: sessions, their cookie, what a wrong password gets, and where one goes afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import core
from app.main import create_app
from app.security.public_paths import safe_path
from core.errors import RateLimited
from core.model import Role
from tests.builders import add, knowledge_base

NAME, PASSWORD = "mori", "a long enough password"
HTTPS = "https://evorag.example"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    """A knowledge base with one user."""
    with knowledge_base(tmp_path, sign_in_limit=3) as kb:
        kb.accounts.create_user(NAME, PASSWORD, Role.ADMIN)
        yield kb


@pytest.fixture
def client(house: core.KnowledgeBase) -> FlaskClient:
    return create_app(house).server.test_client()


def enter(client: FlaskClient, password: str = PASSWORD, **more: str) -> str:
    """Sign in and return the token that the cookie holds, empty where there is none."""
    client.post(
        "/sign-in", data={"name": NAME, "password": password, **more}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    cookie = client.get_cookie("evorag_session")
    return cookie.value if cookie else ""


def test_page_leads_to_the_sign_in_page_and_back(client: FlaskClient) -> None:
    answer = client.get("/documents/a%20b.txt?version=2")
    assert answer.status_code == 302
    page = client.get(answer.location)
    assert 'name="next" value="/documents/a b.txt?version=2"' in page.text
    form = {"name": NAME, "password": PASSWORD, "next": "/documents/a b.txt?version=2"}
    done = client.post("/sign-in", data=form)
    assert (done.status_code, done.location) == (303, "/documents/a%20b.txt?version=2")
    assert client.get("/api/v1/documents").status_code == 200


def test_cookie_cannot_be_read_by_scripts_nor_sent_by_other_sites(client: FlaskClient) -> None:
    given = client.post("/sign-in", data={"name": NAME, "password": PASSWORD}).headers["Set-Cookie"]
    assert given.startswith("evorag_session=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(given.split("; "))
    assert "Secure" not in given
    assert "Domain" not in given


def test_cookie_over_https_is_for_https_alone(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, host="0.0.0.0") as kb:
        kb.accounts.create_user(NAME, PASSWORD, Role.ADMIN)
        client = create_app(kb).server.test_client()
        answer = client.post("/sign-in", data={"name": NAME, "password": PASSWORD}, base_url=HTTPS)
        assert answer.headers["Set-Cookie"].startswith("__Host-evorag_session=")
        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
        assert client.get("/api/v1/documents", base_url=HTTPS).status_code == 200
        assert client.get("/api/v1/documents", base_url="http://evorag.example").status_code == 401


def test_each_signing_in_has_a_token_of_its_own_and_ends_the_one_before(client: FlaskClient) -> None:
    first = enter(client)
    second = enter(client)
    assert first and second and first != second
    client.set_cookie("evorag_session", first)
    assert client.get("/api/v1/documents").status_code == 401


@pytest.mark.long
def test_token_that_a_stranger_planted_is_never_taken_up(client: FlaskClient) -> None:
    client.set_cookie("evorag_session", "planted")
    assert enter(client) not in ("", "planted")


def test_signing_out_ends_the_session(client: FlaskClient) -> None:
    token = enter(client)
    assert client.post("/sign-out", headers={"Sec-Fetch-Site": "same-origin"}).location == "/sign-in"
    assert client.get_cookie("evorag_session") is None
    client.set_cookie("evorag_session", token)
    assert client.get("/api/v1/documents").status_code == 401


@pytest.mark.parametrize(
    ("name", "password"), [(NAME, "wrong"), ("nobody", PASSWORD), ("", ""), ("é" * 99, "x" * 9999)]
)
def test_wrong_name_and_wrong_password_get_the_same_words(client: FlaskClient, name: str, password: str) -> None:
    answer = client.post("/sign-in", data={"name": name, "password": password})
    assert answer.status_code == 401
    assert "The name or the password is wrong." in answer.text
    assert client.get_cookie("evorag_session") is None


def test_name_comes_back_as_text(client: FlaskClient) -> None:
    answer = client.post("/sign-in", data={"name": '"><script>x</script>', "password": "y", "next": '/"><i>'})
    assert "<script>x" not in answer.text
    assert "<i>" not in answer.text


def test_guesses_are_counted_by_name_and_by_address_and_the_right_one_waits_as_well(client: FlaskClient) -> None:
    for _ in range(3):
        enter(client, "wrong")
    answer = client.post("/sign-in", data={"name": NAME, "password": PASSWORD})
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert "Wait" in answer.text
    other = client.post("/sign-in", data={"name": "other", "password": "x"})
    assert other.status_code == 429


def test_guesses_from_many_addresses_at_one_name_are_counted(client: FlaskClient) -> None:
    statuses = [
        client.post(
            "/sign-in", data={"name": NAME, "password": "x"}, environ_base={"REMOTE_ADDR": f"127.0.0.{number}"}
        ).status_code
        for number in range(2, 7)
    ]
    assert statuses == [401, 401, 401, 429, 429]


def test_form_of_another_site_cannot_sign_anybody_in(client: FlaskClient) -> None:
    form = {"name": NAME, "password": PASSWORD}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert client.post("/sign-in", data=form, headers=headers).status_code == 403
    assert client.get_cookie("evorag_session") is None


def test_script_is_answered_as_a_program(client: FlaskClient) -> None:
    as_json = {"Accept": "application/json"}
    refused = client.post("/sign-in", data={"name": NAME, "password": "x"}, headers=as_json)
    assert (refused.status_code, refused.json["code"]) == (401, "unauthorized")
    entered = client.post("/sign-in", data={"name": NAME, "password": PASSWORD}, headers=as_json)
    assert entered.json == {"name": NAME, "role": "admin"}


def test_page_speaks_both_languages_and_holds_no_script_of_its_own(client: FlaskClient) -> None:
    english, japanese = (client.get("/sign-in", headers={"Accept-Language": code}).text for code in ("en", "ja"))
    assert "Password" in english
    assert "パスワード" in japanese
    assert english.count("<script") == english.count('<script src="/assets/head/boot.js"></script>') == 1


def test_crowd_is_told_of_in_the_language_of_the_page(
    client: FlaskClient, house: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crowded(*_: object, **__: object) -> None:
        raise RateLimited("Too many people are signing in.")

    monkeypatch.setattr(type(house.accounts), "sign_in", crowded)
    form = {"name": NAME, "password": PASSWORD}
    page = client.post("/sign-in", data=form, headers={"Accept-Language": "ja"})
    assert page.status_code == 429
    assert "サインインが集中しています。" in page.text
    told = client.post("/sign-in", data=form, headers={"Accept-Language": "ja", "Accept": "application/json"})
    assert told.json["detail"] == "サインインが集中しています。"


def test_who_is_known_needs_no_sign_in_page(client: FlaskClient) -> None:
    enter(client)
    assert client.get("/sign-in?next=/jobs").location == "/jobs"


def test_open_server_needs_no_sign_in_page(kb: core.KnowledgeBase) -> None:
    assert create_app(kb).server.test_client().get("/sign-in").location == "/"


def test_first_user_closes_an_open_server(kb: core.KnowledgeBase) -> None:
    client = create_app(kb).server.test_client()
    first = {"name": NAME, "password": PASSWORD, "role": "admin"}
    assert client.post("/api/v1/users", json=first).status_code == 201
    assert client.get("/api/v1/documents").status_code == 401


def test_disabled_user_is_out_at_once(client: FlaskClient, house: core.KnowledgeBase) -> None:
    house.accounts.create_user("second", PASSWORD, Role.ADMIN)
    enter(client)
    house.accounts.disable(NAME)
    assert client.get("/api/v1/documents").status_code == 401


@pytest.mark.parametrize(
    "given",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/a\nb",
        "/\t/evil.example",
        "/api/v1/me",
        "/sign-out",
        "/" + "a" * 3000,
    ],
)
def test_nobody_is_led_away(given: str) -> None:
    assert safe_path(given) == "/"


def test_own_addresses_are_gone_on_to() -> None:
    assert safe_path("/ask?q=pump%20%26%20valve") == "/ask?q=pump%20%26%20valve"


def test_wrong_present_passwords_count_as_failed_sign_ins(client: FlaskClient) -> None:
    enter(client)
    wrong = {"present": "not the password", "password": "another long password"}
    headers = {"Sec-Fetch-Site": "same-origin"}
    statuses = [client.post("/api/v1/me/password", json=wrong, headers=headers).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    right = client.post("/api/v1/me/password", json={**wrong, "present": PASSWORD}, headers=headers)
    assert right.status_code == 429
    assert int(right.headers["Retry-After"]) >= 1
    fullwidth = {"name": "\uff4d\uff4f\uff52\uff49", "password": PASSWORD}
    # Counted with those of strangers who guess the name, and not with the browser's own.
    stranger = client.application.test_client()
    assert stranger.post("/sign-in", data=fullwidth, headers=headers).status_code == 429
    assert client.post("/sign-in", data=fullwidth, headers=headers).status_code == 303


def test_known_device_goes_on_while_others_guess_and_is_counted_by_itself(
    client: FlaskClient, house: core.KnowledgeBase
) -> None:
    assert enter(client)
    stranger = client.application.test_client()
    for _ in range(4):
        enter(stranger, "wrong")
    assert stranger.post("/sign-in", data={"name": NAME, "password": PASSWORD}).status_code == 429
    client.post("/sign-out", headers={"Sec-Fetch-Site": "same-origin"})
    assert enter(client)
    for _ in range(4):
        enter(client, "wrong")
    headers = {"Sec-Fetch-Site": "same-origin"}
    assert client.post("/sign-in", data={"name": NAME, "password": PASSWORD}, headers=headers).status_code == 429


def test_device_of_another_user_is_a_stranger(client: FlaskClient, house: core.KnowledgeBase) -> None:
    house.accounts.create_user("other", PASSWORD)
    assert enter(client)
    given = {"data": {"name": "other", "password": "x"}, "headers": {"Sec-Fetch-Site": "same-origin"}}
    statuses = [client.post("/sign-in", **given).status_code for _ in range(4)]  # type: ignore[arg-type]
    assert statuses == [401, 401, 401, 429]


def test_what_is_not_everybodys_is_kept_nowhere(client: FlaskClient, house: core.KnowledgeBase) -> None:
    add(house, "a.txt", "Some words.")
    enter(client)
    for path in ("/", "/api/v1/documents", "/api/v1/documents/a.txt/versions/1/original", "/health", "/access"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-store"), path
    assert "no-store" not in client.get("/assets/head/evorag.svg").headers.get("Cache-Control", "")


def test_old_sign_in_is_asked_for_the_password_again_before_backups_and_keys(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, confirm_minutes=0.0001) as kb:
        kb.accounts.create_user(NAME, PASSWORD, Role.ADMIN)
        client = create_app(kb).server.test_client()
        enter(client)
        time.sleep(0.1)
        for answer in (
            client.get("/api/v1/backup"),
            client.post("/api/v1/keys", json={"name": "k"}, headers={"Sec-Fetch-Site": "same-origin"}),
        ):
            assert (answer.status_code, answer.json["code"]) == (403, "password_needed")
        assert client.get("/sign-in").status_code == 302
        assert 'name="password"' in client.get("/sign-in?again=1").text
        _, secret = kb.accounts.create_key("nightly", Role.ADMIN, user=NAME)
        with client.application.test_client() as program:
            assert program.get("/api/v1/backup", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
