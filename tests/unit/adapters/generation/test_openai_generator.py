"""Servers that keep to the interface of OpenAI, and those that do anything but."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from core.adapters.generation.openai_generator import OpenAIGenerator
from core.errors import GenerationFailed, GenerationTimedOut, ModelUnavailable
from core.model import GeneratorState, Prompt, Sampling
from tests.chat_server import Act, Handler, Server, good, serving
from tests.waiting import until

KEY = "sk-correct-horse-battery"
PROMPT = Prompt("Rules.", "Question? \ud800", "en")


@pytest.fixture
def serve() -> Iterator[Callable[[Act], Server]]:
    """Start a server that answers questions as the test says."""
    with ExitStack() as stack:
        yield lambda act: stack.enter_context(serving(act))


def written(url: str, *, timeout_s: float = 60.0, max_bytes: int = 65_536, model: str = "m", key: str = KEY) -> str:
    with closing(OpenAIGenerator(url, key, model, max_bytes=max_bytes)) as generator:
        return "".join(generator.write(PROMPT, Sampling(max_tokens=7, temperature=0.5), timeout_s))


def test_answer_is_what_the_server_writes(serve) -> None:
    server = serve(good)
    assert written(server.url) == "Nine。"
    path, headers, body = server.asked[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert body["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Question? ?"},
    ]
    assert (body["model"], body["stream"], body["max_tokens"], body["temperature"]) == ("m", True, 7, 0.5)


def test_without_a_name_the_first_model_is_taken(serve) -> None:
    server = serve(good)
    assert written(server.url + "/", model="", key="") == "Nine。"
    assert [path for path, _, _ in server.asked] == ["/v1/models", "/v1/chat/completions"]
    assert server.asked[1][2]["model"] == "first" and "Authorization" not in server.asked[1][1]


def test_pieces_come_while_the_server_still_writes_and_closing_hangs_up(serve) -> None:
    going_on = threading.Event()

    def slowly(handler: Handler) -> None:
        handler.begin()
        handler.say("first")
        going_on.wait(60)
        for _ in range(1_000):
            handler.say("more" * 1_000)
            time.sleep(0.005)

    server = serve(slowly)
    pieces = OpenAIGenerator(server.url, KEY, "m", max_bytes=65_536).write(PROMPT, Sampling(), 30.0)
    assert next(pieces) == "first"
    pieces.close()
    going_on.set()
    assert server.hung_up.wait(60)


def test_endless_answer_is_cut_at_the_limit(serve) -> None:
    def endless(handler: Handler) -> None:
        handler.begin()
        while True:
            handler.say("あ" * 1_000)

    server = serve(endless)
    assert written(server.url, max_bytes=10_000) == "あ" * 3_333
    assert server.hung_up.wait(60)


def endless_line(handler: Handler) -> None:
    handler.begin()
    handler.wfile.write(b"data: ")
    while True:
        handler.wfile.write(b"x" * 65_536)


def endless_event(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b"data: " + b"x" * 65_536 + b"\n")


def endless_nothing(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b": nothing" + b"x" * 500_000 + b"\n\n")


@pytest.mark.parametrize("act", [endless_line, endless_event, endless_nothing])
def test_stream_that_never_ends_is_left(serve, act: Act) -> None:
    server = serve(act)
    with pytest.raises(GenerationFailed, match="more than an answer can be"):
        written(server.url)
    assert server.hung_up.wait(60)


MALFORMED = [
    b"data: {not json}\n\n",
    b"data: [1, 2]\n\n",
    b"data: " + b"[" * 100_000 + b"\n\n",
    b'data: {"choices": "x"}\n\n',
    b'data: {"choices": [3]}\n\n',
    b'data: {"choices": [{"delta": {"content": 3}}]}\n\n',
    b'data: {"choices": [{"delta": "x"}]}\n\n',
    b"<html>Welcome</html>\n\n",
    b"\xff\xfe\x00\n\n",
]


@pytest.mark.parametrize("sent", MALFORMED)
def test_malformed_stream_is_a_failure_and_what_was_written_stays(serve, sent: bytes) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("first")
        handler.wfile.write(sent)

    said: list[str] = []
    with pytest.raises(GenerationFailed, match="no streamed chat"):
        said.extend(OpenAIGenerator(serve(act).url, "", "m", max_bytes=1_000).write(PROMPT, Sampling(), 20.0))
    assert said == ["first"]


def test_stream_that_ends_in_the_middle_is_a_failure(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("half")

    with pytest.raises(GenerationFailed, match="in the middle"):
        written(serve(act).url)


def test_stream_without_the_last_mark_is_whole_where_the_model_had_finished(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("whole", finish="stop")

    assert written(serve(act).url) == "whole"


def test_connection_that_breaks_is_a_failure(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin(Content_Length="1000")
        handler.say("half")
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    with pytest.raises(GenerationFailed, match="broke off"):
        written(serve(act).url)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("target", ["http://169.254.169.254/latest/meta-data/", "/v1/elsewhere"])
def test_redirect_is_never_followed(serve, status: int, target: str) -> None:
    server = serve(lambda handler: handler.begin(status=status, Location=target))
    with pytest.raises(GenerationFailed, match="not followed"):
        written(server.url)
    assert len(server.asked) == 1


def test_silent_server_is_given_up_in_time(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        hung_up(handler)

    with pytest.raises(GenerationTimedOut):
        written(serve(act).url, timeout_s=0.5)


def test_server_that_drips_is_given_up_in_time(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        for _ in range(1_000):
            handler.wfile.write(b":\n")
            time.sleep(0.05)

    with pytest.raises(GenerationTimedOut):
        written(serve(act).url, timeout_s=0.5)


def hung_up(handler: Handler) -> bool:
    """Read until the client goes; a client that stays is a failure after a minute."""
    handler.connection.settimeout(60)
    try:
        return handler.connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_silent_server_is_left_at_once_when_the_reader_goes(serve) -> None:
    seen = threading.Event()

    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("first")
        if hung_up(handler):
            seen.set()

    pieces = OpenAIGenerator(serve(act).url, KEY, "m", max_bytes=100).write(PROMPT, Sampling(), 60.0)
    assert next(pieces) == "first"
    pieces.close()
    assert seen.wait(60)


NOTHINGS = {
    "comments": b": still here\n\n",
    "empty deltas": b'data: {"choices": [{"delta": {"content": ""}}]}\n\n',
    "reasoning": b'data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}\n\n',
}


@pytest.mark.parametrize("nothing", NOTHINGS)
def test_server_that_writes_nothing_for_ever_is_left_when_the_reader_goes(serve, nothing: str) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("first")
        for _ in range(2_000):
            handler.wfile.write(NOTHINGS[nothing])
            time.sleep(0.005)

    server = serve(act)
    pieces = OpenAIGenerator(server.url, KEY, "m", max_bytes=65_536).write(PROMPT, Sampling(), 60.0)
    assert next(pieces) == "first"
    pieces.close()
    assert server.hung_up.wait(60)


def test_server_that_writes_nothing_is_left_in_time_though_the_reader_only_holds_it(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.say("first")
        for _ in range(2_000):
            handler.wfile.write(b":\n\n")
            time.sleep(0.005)

    server = serve(act)
    pieces = OpenAIGenerator(server.url, KEY, "m", max_bytes=65_536).write(PROMPT, Sampling(), 1.0)
    assert next(pieces) == "first"
    assert server.hung_up.wait(60)
    pieces.close()


def test_compressed_answer_is_not_unpacked(serve) -> None:
    with pytest.raises(GenerationFailed, match="compressed"):
        written(serve(lambda handler: handler.begin(Content_Encoding="gzip")).url)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_refusals_have_their_errors_without_the_key(serve, status: int, caplog) -> None:
    def act(handler: Handler) -> None:
        handler.begin("application/json", status)
        handler.wfile.write(json.dumps({"error": {"message": f"Wrong key {KEY}!\n" + "x" * 5_000}}).encode())

    expected = ModelUnavailable if status < 429 else GenerationFailed
    with caplog.at_level(logging.DEBUG), pytest.raises(expected) as failure:
        written(serve(act).url)
    told = repr(failure.value.as_dict()) + caplog.text
    assert "Wrong key" in told and KEY not in told and "x" * 500 not in told


def test_error_within_the_stream_is_a_failure_without_the_key(serve) -> None:
    def act(handler: Handler) -> None:
        handler.begin()
        handler.event({"error": {"message": f"overloaded {KEY}"}})

    with pytest.raises(GenerationFailed, match="overloaded …"):
        written(serve(act).url)


def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match="does not answer"):
        written(url)


def test_certificate_that_nobody_vouches_for_is_refused(serve, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("key.pem", "certificate.pem")]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout"]
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
    subprocess.run([*made, paths[0], "-out", paths[1], *subject], check=True, capture_output=True)
    server = Server(good)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(paths[1], paths[0])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        with pytest.raises(ModelUnavailable, match="certificate is not trusted"):
            written(server.url.replace("http:", "https:"))
    finally:
        server.shutdown()
        server.server_close()
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("", ""),
        ("ftp://host/v1", ""),
        ("host/v1", ""),
        ("http://user:word@host/v1", ""),
        ("http://host/v1?key=x", ""),
        ("http://[::1", ""),
        ("http://host:99999/v1", ""),
        ("http://host/v1", "two words"),
        ("http://host/v1", "line\nX-More: 1"),
        ("http://host/v1", "鍵"),
    ],
)
def test_health_says_what_is_wrong_with_the_settings(url: str, key: str) -> None:
    generator = OpenAIGenerator(url, key, "", max_bytes=100)
    health = generator.health()
    assert health.state is GeneratorState.UNAVAILABLE and "EVORAG_OPENAI_" in health.remedy
    with pytest.raises(ModelUnavailable):
        next(generator.write(PROMPT, Sampling(), 1.0))


def test_health_looks_at_the_server_in_the_background(serve) -> None:
    server = serve(good)
    generator = OpenAIGenerator(server.url, KEY, "", max_bytes=100)
    assert generator.health().state is GeneratorState.IDLE
    until(lambda: generator.health().state is GeneratorState.READY)
    assert (generator.health().state, generator.health().model) == (GeneratorState.READY, "first")
    assert KEY not in repr(generator) + repr(generator.health())


def test_a_generator_that_is_closed_while_it_looks_ends_the_look_quietly(serve) -> None:
    generator = OpenAIGenerator(serve(good).url, KEY, "m", max_bytes=100)
    generator._opened().close()
    # The thread of a health check takes the client just before another closes it.
    generator.health()
    until(lambda: generator._seen.state is GeneratorState.UNAVAILABLE)
    with pytest.raises(GenerationFailed):
        "".join(generator.write(PROMPT, Sampling(), 1.0))
