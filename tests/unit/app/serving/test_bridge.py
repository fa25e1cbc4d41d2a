"""A WSGI application behind an ASGI server: what it is told, when it is called, and what becomes of its answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import pytest

from app.serving.bridge import Bridge
from core.settings import Settings
from tests.unit.app.serving.looped import looped

SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "path": "/a",
    "raw_path": b"/a%20b",
    "query_string": b"q=1",
    "scheme": "http",
    "client": ("192.0.2.1", 4000),
    "server": ("127.0.0.1", 8050),
    "headers": [(b"host", b"a.example")],
}
SETTINGS = Settings(header_timeout_s=0.2, body_rate_bytes=1000, server_threads=2).server
CHUNKED = (b"transfer-encoding", b"chunked")
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Client:
    """What a server passes on of one request, and what it is given to send."""

    def __init__(self, *pieces: bytes, is_whole: bool = True) -> None:
        self.sent: list[dict[str, Any]] = []
        self.asked = 0
        self.gone = asyncio.Event()
        last = len(pieces) - 1
        self._messages = [
            {"type": "http.request", "body": piece, "more_body": not (is_whole and number == last)}
            for number, piece in enumerate(pieces)
        ]

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        if self._messages:
            return self._messages.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def is_answered(self) -> bool:
        return bool(self.sent) and not self.sent[-1].get("more_body", True)


def answered(application: Application, client: Callable[[], Client], *headers: tuple[bytes, bytes]) -> Client:
    """Have an application answer one request."""
    return looped(_answered(application, client, headers))


async def _answered(application: Any, client: Callable[[], Client], headers: Iterable[tuple[bytes, bytes]]) -> Client:
    bridge, asking = Bridge(application, SETTINGS), client()
    scope = {**SCOPE, "headers": [*SCOPE["headers"], *headers]}  # type: ignore[misc]
    try:
        async with asyncio.timeout(30):
            await bridge.answer(scope, asking.receive, asking.send)
    finally:
        bridge.close()
    return asking


def length(count: int) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % count


def echo(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
    start("200 OK", [])
    return [environ["wsgi.input"].read()]


def test_the_environment_is_that_of_the_request() -> None:
    found: dict[str, Any] = {}

    def application(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        found.update(environ)
        start("204 No Content", [])
        return []

    headers = [(b"x-forwarded_for", b"forged"), (b"accept", b"a"), (b"accept", b"b"), (b"content-type", b"text/plain")]
    assert answered(application, Client, *headers).status == 204
    assert (found["PATH_INFO"], found["QUERY_STRING"], found["REMOTE_ADDR"]) == ("/a b", "q=1", "192.0.2.1")
    assert (found["HTTP_ACCEPT"], found["CONTENT_TYPE"], found["HTTP_HOST"]) == ("a,b", "text/plain", "a.example")
    assert "HTTP_X_FORWARDED_FOR" not in found


@pytest.mark.parametrize(
    ("headers", "status"),
    [([length(3), CHUNKED], 400), ([(b"x-long", b"a" * 40_000)], 431)],
    ids=["two lengths", "long head"],
)
def test_a_head_that_should_not_have_come_is_refused(headers: list[tuple[bytes, bytes]], status: int) -> None:
    client = answered(echo, Client, *headers)
    assert client.status == status and (b"connection", b"close") in client.sent[0]["headers"]


def test_a_small_body_that_does_not_come_calls_nobody() -> None:
    called: list[bool] = []
    client = answered(lambda *_: called.append(True) or [], lambda: Client(b"ab", is_whole=False), length(3))
    assert client.status == 408 and not called


@pytest.mark.parametrize("headers", [[length(6)], [length(600_000)], [CHUNKED]], ids=["small", "large", "chunked"])
def test_a_body_is_read_whole(headers: list[tuple[bytes, bytes]]) -> None:
    pieces = [b"abc", b"def"] if headers[0] == length(6) else [b"abc" * 50_000] * 4
    assert answered(echo, lambda: Client(*pieces), *headers).body == b"".join(pieces)


def test_a_large_body_is_asked_for_only_when_it_is_read() -> None:
    def application(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        start("413 Content Too Large", [("Content-Length", "2")])
        return [b"no"]

    client = answered(application, lambda: Client(b"abc", is_whole=False), length(600_000))
    assert (client.status, client.body, client.asked) == (413, b"no", 0)
    assert (b"connection", b"close") in client.sent[0]["headers"]


def test_an_answer_in_parts_goes_on_after_its_body_has_ended() -> None:
    def application(environ: dict[str, Any], start: Any) -> Iterator[bytes]:
        start("200 OK", [])
        yield environ["wsgi.input"].read()
        yield b"more"

    client = answered(application, lambda: Client(b"body"), CHUNKED)
    assert client.body == b"bodymore" and client.is_answered


def test_who_leaves_ends_the_answer() -> None:
    ended = threading.Event()

    def application(environ: dict[str, Any], start: Any) -> Iterator[bytes]:
        start("200 OK", [])
        try:
            while True:
                yield b"again"
        finally:
            ended.set()

    async def leaving() -> Client:
        asking: list[Client] = []

        def client() -> Client:
            asking.append(Client())
            return asking[0]

        answering = asyncio.create_task(_answered(application, client, ()))
        while not asking or len(asking[0].sent) < 3:
            await asyncio.sleep(0.001)
        asking[0].gone.set()
        return await answering

    assert not looped(leaving()).is_answered
    assert ended.is_set()


def test_an_answer_that_fails_on_the_way_has_no_end() -> None:
    def application(environ: dict[str, Any], start: Any) -> Iterator[bytes]:
        start("200 OK", [])
        yield b"first"
        raise RuntimeError

    client = answered(application, Client)
    assert client.body == b"first" and not client.is_answered


def test_requests_are_answered_in_the_order_in_which_they_come() -> None:
    started: list[str] = []

    def application(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        started.append(environ["QUERY_STRING"])
        start("204 No Content", [])
        return []

    async def many() -> None:
        bridge = Bridge(application, Settings(server_threads=1).server)  # type: ignore[arg-type]
        clients = [Client() for _ in range(50)]
        asked: list[Awaitable[None]] = [
            bridge.answer({**SCOPE, "query_string": b"%d" % number}, client.receive, client.send)
            for number, client in enumerate(clients)
        ]
        await asyncio.gather(*asked)
        bridge.close()

    looped(many())
    assert started == [str(number) for number in range(50)]
