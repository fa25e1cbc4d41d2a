"""The route that tells what can write answers here."""

from __future__ import annotations

from pathlib import Path

from flask.testing import FlaskClient

import core
from app.main import create_app
from core.model import Role
from tests.builders import knowledge_base
from tests.chat_server import serving

PASSWORD = "a long enough password"
KEY = "sk-correct-horse-battery"


def lines(client: FlaskClient) -> dict[str, dict[str, str]]:
    return {line["name"]: line for line in client.get("/api/v1/generators").get_json()["generators"]}


def test_generators_tell_their_state_and_what_would_make_them_available(client: FlaskClient) -> None:
    found = lines(client)
    assert list(found) == ["huggingface", "openai", "command", "standard", "snn"]
    for name in ("openai", "command", "standard"):
        assert found[name]["state"] == "unavailable" and found[name]["detail"] and found[name]["remedy"], name
    assert client.get("/api/v1/generators").get_json()["default"] == "none"


def test_line_of_a_program_holds_neither_its_arguments_nor_a_key(tmp_path: Path) -> None:
    settings = {
        "generator": "command",
        "llm_command": "sh -c 'exec writer --key correct-horse'",
        "openai_url": "http://127.0.0.1:1/v1",
        "openai_key": "correct-horse-battery",
    }
    with knowledge_base(tmp_path, **settings) as kb:
        answer = create_app(kb).server.test_client().get("/api/v1/generators")
    assert (answer.get_json()["default"], answer.get_json()["generators"][2]["model"]) == ("command", "sh")
    assert answer.get_json()["generators"][2]["state"] == "ready" and "correct-horse" not in answer.text


def test_server_is_set_up_tried_and_removed_and_its_key_is_never_answered(client: FlaskClient) -> None:
    with serving() as server:
        at = "/api/v1/generators/servers/house"
        refused = client.put(at, json={"url": server.url, "key": KEY})
        assert refused.status_code == 400 and "inside the network" in refused.get_json()["detail"]
        kept = client.put(at, json={"url": server.url, "key": KEY, "allow_inside": True})
        assert kept.status_code == 200 and kept.get_json()["has_key"]
        tried = client.post("/api/v1/generators/house/try").get_json()
        assert tried["text"] == "Nine。" and server.asked[-1][1]["Authorization"] == f"Bearer {KEY}"
        assert client.post("/api/v1/generators/house/default").status_code == 204
        assert client.get("/api/v1/generators").get_json()["default"] == "house"
        listed = client.get("/api/v1/generators/servers")
        told = kept.text + refused.text + listed.text + client.get("/api/v1/generators").text
        assert KEY not in told and listed.get_json()["servers"][0]["is_default"]
    silent = client.post("/api/v1/generators/house/try")
    assert silent.status_code == 503 and "does not answer" in silent.get_json()["detail"]
    assert silent.get_json()["remedy"] and KEY not in silent.text
    assert client.delete(at).status_code == 204 and client.delete(at).status_code == 404


def test_servers_are_the_administrators(kb: core.KnowledgeBase) -> None:
    kb.accounts.create_user("root", PASSWORD, Role.ADMIN)
    kb.accounts.create_user("ron", PASSWORD, Role.EDITOR)
    secrets = {
        name: kb.accounts.create_key("k", role, user=name)[1]
        for name, role in (("root", Role.ADMIN), ("ron", Role.EDITOR))
    }
    client = create_app(kb).server.test_client(use_cookies=False)
    ways = [
        ("GET", "servers"),
        ("PUT", "servers/x"),
        ("DELETE", "servers/x"),
        ("POST", "x/try"),
        ("POST", "none/default"),
    ]
    for method, path in ways:
        headers = {"Authorization": f"Bearer {secrets['ron']}"}
        body = {"url": "https://api.example.com/v1"} if method == "PUT" else None
        answered = client.open(f"/api/v1/generators/{path}", method=method, headers=headers, json=body)
        assert answered.status_code == 403, path
    root = {"Authorization": f"Bearer {secrets['root']}"}
    assert client.get("/api/v1/generators/servers", headers=root).get_json() == {"servers": []}
