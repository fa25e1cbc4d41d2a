"""A server with OpenAI's interface for chats that does with each question what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["Handler"], None]


class Server(ThreadingHTTPServer):
    """Does with each question what a test says, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, act: Act) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.act = act
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.hung_up = threading.Event()

    def handle_error(self, *_: Any) -> None:
        self.hung_up.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        """Nothing is told."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body) if body else None))
        if self.path.endswith("/models"):
            self.begin("application/json")
            self.wfile.write(b'{"data": [{"id": "first"}, {"id": "second"}]}')
        else:
            self.server.act(self)

    do_GET = do_POST = answer

    def begin(self, kind: str = "text/event-stream", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def say(self, *pieces: str, finish: str | None = None) -> None:
        for piece in pieces:
            self.event({"choices": [{"delta": {"content": piece}, "finish_reason": None}]})
        if finish:
            self.event({"choices": [{"delta": {}, "finish_reason": finish}]})

    def event(self, value: Any) -> None:
        self.wfile.write(b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n")


def good(handler: Handler) -> None:
    handler.begin()
    handler.wfile.write(b": a remark\nevent: x\n\n")
    handler.say("Ni", "ne", "。")
    handler.event({"choices": [], "usage": {}})
    handler.event(b"[DONE]")


@contextmanager
def serving(act: Act = good) -> Iterator[Server]:
    """Give a server that answers as ``act`` says."""
    server = Server(act)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
