"""The route that tells what can write answers here."""

from __future__ import annotations

from pathlib import Path

from flask.testing import FlaskClient

from app.main import create_app
from tests.builders import knowledge_base


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
