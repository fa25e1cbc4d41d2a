"""A server that may not be inside the network is not asked there, whatever its name and the answers of DNS say."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from core.adapters.generation import outside
from core.adapters.generation.openai_generator import OpenAIGenerator
from core.errors import GenerationFailed, ModelUnavailable
from core.model import GeneratorState, Prompt, Sampling
from tests.chat_server import Handler, Server, serving
from tests.waiting import until

PROMPT = Prompt("Rules.", "Question?", "en")
KEY = "sk-correct-horse-battery"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def written(url: str, *, is_outside: bool = True) -> str:
    with closing(OpenAIGenerator(url, KEY, "m", max_bytes=100, name="house", outside=is_outside)) as generator:
        return "".join(generator.write(PROMPT, Sampling(), 20.0))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "127.1", "0x7f.1", "[::1]", "[::ffff:7f00:1]"]
)
def test_this_machine_is_refused_before_a_word_is_said(server: Server, host: str) -> None:
    with pytest.raises(ModelUnavailable, match="inside the network") as refused:
        written(f"http://{host}:{server.server_address[1]}/v1")
    assert server.asked == [] and KEY not in str(refused.value.as_dict())
    assert (refused.value.reason, refused.value.values["name"]) == ("server_inside", "house")


def test_the_same_server_is_asked_where_that_is_allowed(server: Server) -> None:
    assert written(server.url, is_outside=False) == "Nine。"


def test_a_name_that_leads_inside_is_refused_if_only_one_of_its_addresses_does(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80)) for host in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    with pytest.raises(ModelUnavailable, match=r"api\.example\.com \(10\.0\.0\.1\) is inside"):
        written("http://api.example.com/v1")


def test_a_name_is_looked_up_once_and_the_address_that_was_looked_at_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up, asked = socket.getaddrinfo, []

    def answer(host: str, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        # Another answer for the second look-up is what a name under a stranger's rule may give.
        return look_up("127.0.0.1" if asked.count("api.example.com") == 1 else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(outside, "is_inside", lambda address: False)
    url = f"http://api.example.com:{server.server_address[1]}/v1"
    assert written(url) == "Nine。"
    assert asked.count("api.example.com") == 1
    assert server.asked[0][1]["Host"] == f"api.example.com:{server.server_address[1]}"


def test_the_next_address_is_tried_where_the_first_one_does_not_answer(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "is_inside", lambda address: False)
    # The server listens on the old kind of address alone.
    both = [(family, socket.SOCK_STREAM, 6, "", (host, 80)) for family, host in ((10, "::1"), (2, "127.0.0.1"))]
    look_up = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: both if host == "two" else look_up(host, *rest, **more)
    )
    assert written(f"http://two:{server.server_address[1]}/v1") == "Nine。"


def test_a_redirect_inside_is_not_followed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "is_inside", lambda address: False)

    def elsewhere(handler: Handler) -> None:
        handler.begin(status=307, Location=server.url)

    with serving(elsewhere) as first, pytest.raises(GenerationFailed, match="not followed") as refused:
        written(first.url)
    assert server.asked == [] and "Settings" in refused.value.remedy


def test_a_proxy_of_the_environment_is_not_asked_to_go_inside(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_address[1]}")
    with pytest.raises(ModelUnavailable, match="inside"):
        written("http://127.0.0.1:9/v1")
    assert server.asked == []


def test_health_says_it_and_where_it_is_put_right(server: Server) -> None:
    generator = OpenAIGenerator(server.url, "", "", max_bytes=100, name="house", outside=True)
    generator.health()
    until(lambda: generator.health().state is GeneratorState.UNAVAILABLE)
    assert "Settings" in generator.health().remedy and generator.health().name == "house"
    assert server.asked == []
