"""Servers that tests talk to over a real connection: the application itself, and a line that breaks."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import core
from app.main import create_app
from app.serving.serve import Server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from core.settings import ServerSettings


@contextmanager
def served(kb: core.KnowledgeBase, port: int = 0) -> Iterator[str]:
    """Serve ``kb`` as its program does, and give its address."""
    with serving(create_app(kb).server, kb.settings.server, port) as url:
        yield url


@contextmanager
def serving(application: WSGIApplication, settings: ServerSettings, port: int = 0) -> Iterator[str]:
    """Serve an application in a thread, and give its address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = Server(application, settings)
        thread = threading.Thread(target=server.run, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.stop()
            thread.join()


class BadLine:
    """A TCP proxy before a server that cuts connections after a number of bytes, as often as it is told.

    Each connection carries one request: the proxy says so to the server.
    """

    def __init__(self, url: str) -> None:
        self._target = (urlsplit(url).hostname, urlsplit(url).port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts: list[int] = []
        """The next connections end when so many bytes have gone to the server."""
        self.connections = 0
        self.forwarded = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                budget = self.cuts.pop(0) if self.cuts else None
                threading.Thread(target=self._carry, args=(client, budget), daemon=True).start()

    def _carry(self, client: socket.socket, budget: int | None) -> None:
        with client, socket.create_connection(self._target) as server:
            back = threading.Thread(target=self._pump, args=(server, client, None), daemon=True)
            back.start()
            self._pump(client, server, budget, is_request=True)
            for end in (client, server):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            back.join()

    def _pump(
        self, source: socket.socket, target: socket.socket, budget: int | None, *, is_request: bool = False
    ) -> None:
        left, is_head = budget, is_request
        with suppress(OSError):
            while (left is None or left > 0) and (data := source.recv(65_536)):
                if is_head:
                    data, is_head = data.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1), False
                data = data if left is None else data[:left]
                target.sendall(data)
                if left is not None:
                    left -= len(data)
                    self.forwarded += len(data)

    def close(self) -> None:
        self._listener.close()


@contextmanager
def bad_line(url: str) -> Iterator[BadLine]:
    line = BadLine(url)
    try:
        yield line
    finally:
        line.close()
