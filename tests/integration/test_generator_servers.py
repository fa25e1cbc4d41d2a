"""Servers that administrators set up to write answers: kept, tried, chosen, and never telling their keys."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import core
from core.access import acting
from core.errors import Conflict, Forbidden, GenerationTimedOut, InvalidInput, ModelUnavailable, NotFound
from core.generators import kept as keeping
from core.generators.kept import TRIED_WITH
from core.model import Principal, Query, Role, Task
from tests.builders import add, knowledge_base
from tests.chat_server import Handler, Server, serving

KEY = "sk-correct-horse-battery"
OTHER_KEY = "sk-quite-another-key"
ADMIN = Principal("root", Role.ADMIN, 1)


def says(text: str) -> Callable[[Handler], None]:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say(text, finish="stop")

    return act


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(says("Four.")) as found:
        yield found


def keys(server: Server) -> list[str]:
    return [headers.get("Authorization", "") for path, headers, _ in server.asked if path.endswith("completions")]


def test_a_server_is_kept_tried_made_the_default_and_removed(kb: core.KnowledgeBase, server: Server) -> None:
    with acting(ADMIN):
        kept = kb.generators.set("house", server.url + "/", model="m", key=KEY, allow_inside=True)
    assert (kept.name, kept.url, kept.model, kept.has_key, kept.changed_by) == ("house", server.url, "m", True, "root")
    assert kb.generators.list() == [kept] and "house" in kb.generators.names()
    tried = kb.generators.try_out("house")
    assert (tried.text, tried.model, tried.question) == ("Four.", "m", TRIED_WITH) and tried.seconds > 0
    assert keys(server) == [f"Bearer {KEY}"] and TRIED_WITH in str(server.asked[-1][2])
    assert kb.generators.usual(Task.ANSWER) == "none"
    kb.generators.make_default("house")
    assert kb.generators.list()[0].is_default and kb.generators.usual(Task.ANSWER) == "house"
    kb.generators.make_default("none")
    assert kb.generators.usual(Task.ANSWER) == "none"
    kb.generators.make_default("house")
    kb.generators.remove("house")
    assert kb.generators.list() == [] and kb.generators.usual(Task.ANSWER) == "none"
    with pytest.raises(InvalidInput, match="no generator"):
        kb.generators.try_out("house")


def test_the_default_writes_answers_and_another_one_is_asked_afresh(kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The shop opens at nine o'clock in the morning.")
    query = Query("When does the shop open?", generator="house")
    with (
        serving(says("The shop opens at nine [1].")) as first,
        serving(says("It opens at nine in the morning [1].")) as second,
    ):
        kb.generators.set("house", first.url, model="m", allow_inside=True)
        rag = core.EvoRAG(kb=kb)
        assert rag.ask(query).answer.generator == rag.ask(query).answer.generator == "house: m"
        kb.generators.set("house", second.url, model="m", allow_inside=True)
        assert rag.ask(query).cache is None
        assert second.asked


def test_a_key_stays_with_its_server(kb: core.KnowledgeBase, server: Server) -> None:
    kb.generators.set("house", server.url, key=KEY, allow_inside=True)
    assert kb.generators.set("house", server.url + "/deeper", allow_inside=True).has_key
    with serving(says("Stolen.")) as other:
        with pytest.raises(InvalidInput, match="another server"):
            kb.generators.set("house", other.url, allow_inside=True)
        kb.generators.set("house", other.url, key=OTHER_KEY, allow_inside=True)
        kb.generators.try_out("house")
        assert keys(other) == [f"Bearer {OTHER_KEY}"]
    assert not kb.generators.set("house", server.url, key="", allow_inside=True).has_key
    kb.generators.try_out("house")
    assert keys(server) == [""]


def test_no_word_of_a_key_is_told(kb: core.KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    def refuses(handler: Handler) -> None:
        handler.begin("application/json", 401)
        handler.wfile.write(f'{{"error": {{"message": "Wrong key {KEY}"}}}}'.encode())

    # The command line sets the level of what is told of "core"; tests before this one may have used it.
    with serving(refuses) as server, caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "core"):
        told = [repr(kb.generators.set("house", server.url, key=KEY, model="m", allow_inside=True))]
        told.append(repr(kb.generators.list()) + repr(kb.generators.health()) + repr(kb.generators.get("house")))
        told.append(repr(kb.catalog.generator_servers.all()))
        with pytest.raises(ModelUnavailable, match="refuses the key") as refused:
            kb.generators.try_out("house")
        told.append(repr(refused.value.as_dict()) + repr(refused.value.values))
        with pytest.raises(InvalidInput) as wrong:
            kb.generators.set("house", server.url, key=f"{KEY} two", allow_inside=True)
        told.append(repr(wrong.value.as_dict()))
    assert "Settings" in refused.value.remedy
    assert KEY not in "".join(told) + caplog.text and "was set up" in caplog.text


def test_addresses_inside_need_to_be_allowed_and_are_looked_at_again_when_asked(
    kb: core.KnowledgeBase, server: Server
) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "printer.local"):
        with pytest.raises(InvalidInput, match="inside the network") as refused:
            kb.generators.set("house", f"http://{host}:8000/v1")
        assert "Allow" in refused.value.remedy
    # No name of an address, but it leads to this machine all the same.
    kb.generators.set("house", f"http://2130706433:{server.server_address[1]}/v1")
    with pytest.raises(ModelUnavailable, match="inside the network"):
        kb.generators.try_out("house")
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("", {}, "name"),
        ("Upper", {}, "name"),
        ("two words", {}, "name"),
        ("a\n", {}, "name"),
        ("x" * 65, {}, "name"),
        ("none", {}, "another generator"),
        ("snn", {}, "another generator"),
        ("house", {"url": "ftp://host/v1"}, "address"),
        ("house", {"url": "https://user:word@host/v1"}, "address"),
        ("house", {"url": "https://host/v1?key=x"}, "address"),
        ("house", {"url": "https://ho st/v1"}, "address"),
        ("house", {"url": "https://" + "x" * 1_000}, "address"),
        ("house", {"key": "two words"}, "key"),
        ("house", {"key": "line\nX-More: 1"}, "key"),
        ("house", {"key": "鍵"}, "key"),
        ("house", {"model": "m" * 257}, "model"),
    ],
)
def test_what_cannot_be_is_refused(kb: core.KnowledgeBase, name: str, given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        kb.generators.set(name, **{"url": "https://api.example.com/v1", **given})
    assert kb.generators.list() == []


def test_only_administrators_see_and_change_them(kb: core.KnowledgeBase) -> None:
    kb.generators.set("house", "https://api.example.com/v1", key=KEY)
    acts: list[Callable[[], object]] = [
        kb.generators.list,
        lambda: kb.generators.set("house", "https://api.example.com/v1"),
        lambda: kb.generators.remove("house"),
        lambda: kb.generators.make_default("house"),
        lambda: kb.generators.try_out("house"),
    ]
    for role in (Role.READER, Role.EDITOR):
        for act in acts:
            with acting(Principal("eve", role, 9)), pytest.raises(Forbidden):
                act()
    assert [each.name for each in kb.generators.list()] == ["house"]


def test_what_is_not_there_is_said(kb: core.KnowledgeBase) -> None:
    for act in (kb.generators.remove, kb.generators.make_default):
        with pytest.raises(NotFound, match="no such server"):
            act("nobody")
    with pytest.raises(InvalidInput):
        kb.generators.try_out("none")


def test_the_environment_wins_and_says_so(tmp_path: Path, server: Server) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.generators.set("openai", server.url, model="kept", allow_inside=True)
        kb.generators.make_default("openai")
        assert kb.generators.get("openai").model == "kept"  # type: ignore[union-attr]
    given = {"generator": "none", "openai_url": "http://127.0.0.1:1/v1", "openai_model": "given"}
    with knowledge_base(tmp_path, **given) as kb:
        [kept] = kb.generators.list()
        assert kept.overridden_by == ("EVORAG_GENERATOR", "EVORAG_OPENAI_URL") and kept.is_default
        assert kb.generators.get("openai").model == "given"  # type: ignore[union-attr]
        assert kb.generators.usual(Task.ANSWER) == "none" and kb.generators.overriding == "EVORAG_GENERATOR"
        with pytest.raises(Conflict, match="EVORAG_GENERATOR"):
            kb.generators.make_default("openai")


def test_a_server_that_says_nothing_is_given_up(kb: core.KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "TRY_S", 0.3)

    def silent(handler: Handler) -> None:
        handler.begin()
        handler.connection.settimeout(60)
        handler.connection.recv(1)

    with serving(silent) as server:
        kb.generators.set("house", server.url, model="m", allow_inside=True)
        with pytest.raises(GenerationTimedOut):
            kb.generators.try_out("house")


def test_they_are_there_after_a_restart(tmp_path: Path, server: Server) -> None:
    with knowledge_base(tmp_path) as kb:
        kb.generators.set("house", server.url, key=KEY, allow_inside=True)
        kb.generators.make_default("house")
    with knowledge_base(tmp_path) as kb:
        assert kb.generators.usual(Task.ANSWER) == "house" and kb.generators.try_out("house").text == "Four."
    assert keys(server) == [f"Bearer {KEY}"]
