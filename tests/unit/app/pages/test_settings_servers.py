"""The servers on the page Settings without a browser: set up, tried, chosen and removed, and no key on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import Dash
from flask.testing import FlaskClient

import core
from app.main import create_app
from core.access import acting
from core.model import Principal, Role, Task
from tests.builders import knowledge_base
from tests.chat_server import Server, serving
from tests.unit.app.drawn import open_page, press_one_of, text

KEY = "sk-correct-horse-battery"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def save(client: FlaskClient, name: str, **given: Any) -> str:
    """Press the button of the form that adds a server, and return what is answered."""
    values = {"name": name, "url": "", "model": "", "key": "", "inside": False, **given}
    # Each application of a test run lists it once more.
    listed = next(
        each
        for each in client.get("/_dash-dependencies").get_json()
        if any("server-save" in found["id"] for found in each["inputs"])
    )
    spec = json.loads(json.dumps(listed).replace('[\\"MATCH\\"]', '\\"+\\"'))
    outputs = [json.loads(part.rpartition(".")[0]) for part in spec["output"].strip(".").split("...")]
    body = {
        "output": listed["output"],
        "outputs": [{"id": each, "property": name} for each, name in zip(outputs, ("children", "value"), strict=True)],
        "inputs": [{"id": json.loads(each["id"]), "property": "n_clicks", "value": 1} for each in spec["inputs"]],
        "state": [
            {"id": (found := json.loads(each["id"])), "property": "value", "value": values[found["field"]]}
            for each in spec["state"]
        ],
        "changedPropIds": [f"{spec['inputs'][0]['id']}.n_clicks"],
    }
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.get_json())


def test_server_is_added_tried_made_the_default_and_removed(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase, server: Server
) -> None:
    assert "No server yet" in text(open_page(window, "/settings"))
    assert "Tick" in save(client, "house", url=server.url, key=KEY)
    assert "is saved" in save(client, "house", url=server.url, key=KEY, inside=True)
    assert "a generator “house” already" in save(client, "house", url=server.url, inside=True)
    tried = str(press_one_of(client, {"server": "house", "type": "server-try"}, {}))
    assert "Nine。" in tried and "It answered in" in tried and server.asked[-1][1]["Authorization"] == f"Bearer {KEY}"
    press_one_of(client, {"server": "house", "type": "server-default"}, {})
    assert kb.generators.usual(Task.ANSWER) == "house"
    for lang, word in (("en", "Default"), ("ja", "既定")):
        shown = open_page(window, "/settings", lang)
        assert word in text(shown) and KEY not in str(shown)
    assert "no longer the default" in str(press_one_of(client, {"server": "house", "type": "server-default"}, {}))


def test_a_server_that_does_not_answer_says_why_in_the_readers_language(
    window: Dash, client: FlaskClient, kb: core.KnowledgeBase
) -> None:
    kb.generators.set("far", "http://127.0.0.1:1/v1", allow_inside=True)
    open_page(window, "/settings")
    assert "Start it, or correct its address" in str(press_one_of(client, {"server": "far", "type": "server-try"}, {}))


def test_the_environment_that_wins_is_named(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, generator="none", openai_url="http://127.0.0.1:1/v1") as kb:
        kb.generators.set("openai", "https://api.example.com/v1")
        shown = text(open_page(create_app(kb), "/settings"))
    assert "EVORAG_GENERATOR makes “none” the default" in shown and "EVORAG_OPENAI_URL wins" in shown
    assert "Make default" not in shown


def test_readers_see_none_of_it(window: Dash, kb: core.KnowledgeBase) -> None:
    kb.generators.set("far", "https://api.example.com/v1", key=KEY)
    with acting(Principal("reader", Role.READER, 7)):
        shown = text(open_page(window, "/settings"))
    assert "api.example.com" not in shown and "Add a server" not in shown
