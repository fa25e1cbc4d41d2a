"""A real server, to which clients are slow, silent, wrong and many."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
THREADS = 6
HEADER_TIMEOUT_S = 0.6
BODY_RATE = 20_000
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n"
JSON = b"Content-Type: application/json\r\n"
PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


@dataclass(frozen=True)
class Served:
    """A server that listens, and its log."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def get(self, path: str = "/health/live") -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as client:
            client.request("GET", path)
            return client.getresponse().status

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def said_to(self, *pieces: bytes) -> bytes:
        """What is answered until the connection is closed."""
        with self.connect() as client:
            with suppress(ConnectionError):
                for piece in pieces:
                    client.sendall(piece)
            return heard(client)


def heard(client: socket.socket) -> bytes:
    said = b""
    try:
        while piece := client.recv(65_536):
            said += piece
    except ConnectionResetError:
        pass
    return said


def request(line: str, *headers: bytes, body: bytes = b"") -> bytes:
    return line.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(headers) + b"\r\n" + body


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {
        **os.environ,
        "EVORAG_DATA_DIR": str(folder / "data"),
        "EVORAG_PORT": str(port),
        "EVORAG_TEST_MODE": "1",
        "EVORAG_SERVER_THREADS": str(THREADS),
        "EVORAG_HEADER_TIMEOUT_S": str(HEADER_TIMEOUT_S),
        "EVORAG_BODY_RATE_BYTES": str(BODY_RATE),
    }
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "app"], cwd=ROOT, env=environment, stdout=written, stderr=subprocess.STDOUT
        )
    server = Served(port, process, log)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert process.poll() is None, log.read_text()
            try:
                server.get()
                break
            except OSError:
                time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_clients_that_send_no_whole_head_hold_no_thread(served: Served) -> None:
    stalled = [served.connect() for _ in range(5 * THREADS)]
    for number, client in enumerate(stalled):
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a"[: 3 + number])
    assert served.get() == 200
    assert served.get("/api/v1/documents") == 200
    assert {heard(client)[:12] for client in stalled} == {b"HTTP/1.1 408"}


def test_what_is_said_of_an_upload_may_be_long(served: Served) -> None:
    long = b"Upload-Metadata: note " + b"a" * 12_000 + b"\r\nConnection: close\r\n"
    assert served.said_to(request("GET /health/live", long))[:12] == b"HTTP/1.1 200"


def test_clients_that_say_nothing_at_all_are_let_go(served: Served) -> None:
    silent = [served.connect() for _ in range(5 * THREADS)]
    assert served.get() == 200
    assert {heard(client) for client in silent} == {b""}


def test_small_body_that_does_not_come_holds_no_thread(served: Served) -> None:
    head = request("POST /api/v1/texts", b"Content-Type: application/json\r\nContent-Length: 200\r\n", body=b"{")
    stalled = [served.connect() for _ in range(5 * THREADS)]
    for client in stalled:
        client.sendall(head)
    assert served.get() == 200
    assert {heard(client)[:12] for client in stalled} == {b"HTTP/1.1 408"}


def test_large_bodies_that_do_not_come_leave_threads_for_others(served: Served) -> None:
    head = request("POST /api/v1/documents", FORM, b"Content-Length: 9000000\r\n", body=PART)
    stalled = [served.connect() for _ in range(5 * THREADS)]
    for client in stalled:
        client.sendall(head)
    assert served.get() == 200
    assert {heard(client)[9:12] for client in stalled} == {b"408", b"503"}


def test_body_that_comes_drop_by_drop_is_too_slow(served: Served) -> None:
    with served.connect() as client:
        client.sendall(request("POST /api/v1/documents", FORM, b"Content-Length: 9000000\r\n", body=PART))
        answer = b""
        client.settimeout(0.05)
        for _ in range(200):
            try:
                client.sendall(b"a")
                answer = client.recv(65_536)
                break
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"connection: close" in answer.lower()


def test_request_in_pieces_is_answered(served: Served) -> None:
    body = json.dumps({"name": "pieces", "text": "Sent in pieces, but soon enough."}).encode()
    whole = request(
        "POST /api/v1/texts",
        b"Content-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n" % len(body),
        body=body,
    )
    assert served.said_to(*(whole[start : start + 7] for start in range(0, len(whole), 7)))[9:12] == b"202"


def test_connection_is_used_again_and_requests_that_came_together_are_answered_in_turn(served: Served) -> None:
    one, last = request("GET /health/live"), request("GET /health/live", b"Connection: close\r\n")
    assert served.said_to(one + one + last).count(b"HTTP/1.1 200") == 3


def test_idle_connections_hold_no_thread(served: Served) -> None:
    idle = [http.client.HTTPConnection("127.0.0.1", served.port, timeout=30) for _ in range(5 * THREADS)]
    for client in idle:
        client.request("GET", "/health/live")
        client.getresponse().read()
    assert served.get() == 200
    for client in idle:
        client.request("GET", "/health/live")
        assert client.getresponse().read()
        client.close()


def test_answer_that_nobody_takes_is_given_up(served: Served) -> None:
    whole = json.dumps({"name": "large", "text": "word " * 12_000}).encode()
    head = b"Content-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n" % len(whole)
    assert served.said_to(request("POST /api/v1/texts", head, body=whole))[9:12] == b"202"
    clients = []
    for _ in range(2 * THREADS):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", served.port))
        client.settimeout(10)
        # Many answers are asked for and none is read.
        client.sendall(request("GET /assets/vendor/bootstrap/bootstrap.min.css") * 40)
        clients.append(client)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and served.get() != 200:
        time.sleep(0.1)
    assert served.get() == 200
    for client in clients:
        client.close()


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (request("POST /api/v1/texts", b"Content-Length: -1\r\n"), ("400",)),
        (request("POST /api/v1/texts", b"Content-Length: 1e3\r\n"), ("400",)),
        (request("POST /api/v1/texts", b"Content-Length: 4\r\n", b"Content-Length: 5\r\n", body=b"abcde"), ("400",)),
        (
            request("POST /api/v1/texts", b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", body=b"0\r\n\r\n"),
            ("400",),
        ),
        (request("POST /api/v1/texts", b"Transfer-Encoding: gzip\r\n"), ("400",)),
        (request("POST /api/v1/texts", JSON, b"Transfer-Encoding: chunked\r\n", body=b"zz\r\n"), ("400",)),
        (request("GET /health/live", b"X-Bad: a\x00b\r\n"), ("400",)),
        (request("GET /health/live", b"X-Long: " + b"a" * 40_000 + b"\r\n"), ("431", "400")),
        (b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", ("400",)),
        (b"GET /health/live HTTP/1.1\r\n\r\n", ("400",)),
        (b"POST /api/v1/documents HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd", ("400",)),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", ("400",)),
    ],
)
def test_request_that_is_none_is_refused(served: Served, sent: bytes, statuses: tuple[str, ...]) -> None:
    assert served.said_to(sent)[9:12].decode() in statuses
    assert served.get() == 200


def test_answers_do_not_name_the_software(served: Served) -> None:
    for line in ("GET /health/live", "GET /", "GET /nothing-there", "DELETE /health"):
        head = served.said_to(request(line, b"Connection: close\r\n")).partition(b"\r\n\r\n")[0].lower()
        assert b"server:" not in head
        assert b"uvicorn" not in head and b"werkzeug" not in head


def test_client_of_http_1_0_needs_no_host(served: Served) -> None:
    assert served.said_to(b"GET /health/live HTTP/1.0\r\n\r\n").split()[1] == b"200"


@pytest.mark.parametrize(
    ("path", "kind", "size"),
    [("/api/v1/texts", b"application/json", 100_000_000), ("/api/v1/search", b"application/json", 1_000_001)],
)
def test_body_beyond_the_limit_is_refused_before_it_is_read(served: Served, path: str, kind: bytes, size: int) -> None:
    head = b"Content-Type: %b\r\nContent-Length: %d\r\n" % (kind, size)
    with served.connect() as client:
        client.sendall(request(f"POST {path}", head, body=b'{"a": "'))
        assert client.recv(65_536)[9:12] == b"413"


def test_body_of_unknown_length_is_read_no_further_than_the_limit(served: Served) -> None:
    before = resident(served)
    with served.connect() as client:
        client.sendall(
            request("POST /api/v1/texts", b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")
        )
        block = b"10000\r\n" + b"a" * 65_536 + b"\r\n"
        try:
            for _ in range(600):
                client.sendall(block)
        except OSError:
            pass
        else:
            raise AssertionError("everything was read")
    assert served.get() == 200
    assert resident(served) - before < 64 * 1024 * 1024


@pytest.mark.parametrize("count", [3_000, 100_000])
def test_form_of_very_many_parts_is_refused(served: Served, count: int) -> None:
    parts = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * count + b"--x--\r\n"
    before = resident(served)
    length = b"Connection: close\r\nContent-Length: %d\r\n" % len(parts)
    answer = served.said_to(request("POST /api/v1/documents", FORM, length, body=parts))
    # Who goes on sending all the same may lose the answer.
    assert answer[9:12] == b"413" or (count > 10_000 and answer == b"")
    assert resident(served) - before < 64 * 1024 * 1024


def test_log_tells_nothing_of_users_and_no_trace_of_what_clients_did(served: Served) -> None:
    served.get("/api/v1/documents/a%0aERROR%20forged%20line?key=evo_" + "s" * 43)
    said = served.log.read_text()
    assert "Traceback" not in said
    assert "forged" not in said
    assert "evo_" not in said


def resident(served: Served) -> int:
    """The memory of the server's process, in bytes."""
    pages = Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
