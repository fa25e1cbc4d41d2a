"""A gunicorn worker that gives a thread only to a request that has arrived.

One loop waits for all clients. A connection is handed to a thread when the head of its request is there, and its body
as well where that is small; whoever does not send it in time, or sends too much, loses the connection. Between requests
and after the last one a connection holds no thread either. What remains, a large body that comes slowly and an answer
that is not taken, is left to ``app.slow_clients``.
"""

from __future__ import annotations

import contextlib
import re
import resource
import socket
import time
from concurrent.futures import Future
from functools import partial
from selectors import EVENT_READ
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from gunicorn.http import wsgi
from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.workers.gthread import TConn, ThreadWorker

from app.slow_clients import MinimumRate, Pace, SlowClientUnreader

if TYPE_CHECKING:
    from core.settings import ServerSettings

ARRIVED_LIMIT = 32 * 1024
"""Most that is kept of a request before a thread has it; a head that is longer is refused."""
READ_BYTES = 16 * 1024
LINGER_S = 2.0
LINGER_BYTES = 256 * 1024
"""A connection that is closed while its client still sends would lose the answer, so a little is read and dropped."""
LOOK_S = 0.25
KEPT_FREE = 4
"""Threads that never wait for a body."""
SPARE_FILES = 256
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,6})[ \t]*\r$", re.IGNORECASE | re.MULTILINE)
NOT_AT_ONCE = re.compile(rb"^(?:expect|transfer-encoding|upgrade):", re.IGNORECASE | re.MULTILINE)
REFUSAL = "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW, TOO_LONG, NO_HOST = "408 Request Timeout", "431 Request Header Fields Too Large", "400 Bad Request"


class Answer(wsgi.Response):  # type: ignore[misc]
    """Gunicorn's answers, without its name: it tells strangers what to try, and nobody else anything."""

    def default_headers(self) -> list[str]:
        return [header for header in super().default_headers() if not header.startswith("Server:")]


wsgi.Response = Answer


class Connection(TConn):  # type: ignore[misc]
    """A client's connection, and what has arrived of its next request."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.arrived = bytearray()
        self.looked_at = 0
        self.drained = 0

    def has_arrived(self) -> bool:
        """Say whether a thread can take the request without waiting for its head, or for a body that is small."""
        end = self.arrived.find(HEAD_END, self.looked_at)
        if end < 0:
            self.looked_at = max(0, len(self.arrived) - len(HEAD_END) + 1)
            return False
        self.looked_at = end
        head = bytes(self.arrived[: end + 2])
        length = LENGTH.search(head)
        if length is None or NOT_AT_ONCE.search(head):
            return True
        whole = end + len(HEAD_END) + int(length[1])
        return whole > ARRIVED_LIMIT or len(self.arrived) >= whole


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """Threads for requests, one loop for those that have not arrived."""

    settings: ServerSettings
    worker_connections: int
    wsgi: Any

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.worker_connections + SPARE_FILES
        if 0 <= files < wanted:
            files = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
            self.worker_connections = max(self.cfg.threads, files - SPARE_FILES)
        self.waiting: set[Connection] = set()
        self.parting: dict[Connection, socket.socket] = {}
        self.next_look = 0.0
        self.seats = BoundedSemaphore(max(1, self.cfg.threads - KEPT_FREE))

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.wsgi = MinimumRate(self.wsgi, self.settings.body_rate_bytes, self.settings.header_timeout_s)

    def accept(self, listener: socket.socket) -> None:
        """Take a new connection; where there are too many, the one that has kept us waiting longest goes."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            self.log.warning("no connection can be taken: %s", error.strerror)
            self._make_room()
            return
        self.nr_conns += 1
        self._await(Connection(self.cfg, client, address, listener.getsockname()), self.settings.header_timeout_s)
        if self.nr_conns >= self.worker_connections:
            self._make_room()

    def finish_request(self, conn: Connection, done: Future[bool]) -> None:
        """Wait for the next request of a connection that stays open, in the loop."""
        stays = self.alive and not done.cancelled() and done.exception() is None and done.result()
        if not stays:
            self._part(conn)
            return
        conn.arrived = bytearray(conn.parser.unreader.take_buffered())
        conn.looked_at = 0
        if conn.arrived and conn.has_arrived():
            self._hand_over(conn)
        else:
            self._await(conn, self.settings.header_timeout_s if conn.arrived else self.cfg.keepalive)

    def handle_request(self, req: Any, conn: Connection) -> bool:
        if req.version == (1, 1) and not any(name.upper() == "HOST" for name, _ in req.headers):
            # RFC 9112, section 3.2.
            with contextlib.suppress(OSError):
                conn.sock.sendall(REFUSAL.format(NO_HOST).encode())
            return False
        try:
            return bool(super().handle_request(req, conn))
        except TimeoutError as error:
            raise StopIteration("The client does not take its answer.") from error

    def murder_pending(self) -> None:
        """Let go whose time is over; the loop calls this at every turn."""
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + LOOK_S
        for conn in [conn for conn in self.waiting if conn.timeout < now]:
            self._refuse(conn, TOO_SLOW)
        for conn in [conn for conn in self.parting if conn.timeout < now]:
            self._forget(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        """Close at once what waits for a request, when the server ends."""
        for conn in list(self.waiting):
            self._forget(conn)

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        """Keep a connection whose request was read to its end; the rest of a body is waited for by nobody."""
        body = conn.parser.mesg.body
        if not keepalive or body.failed:
            return False
        if isinstance(body.reader, ChunkedReader):
            return body.reader.parser is None
        if isinstance(body.reader, LengthReader) and body.reader.length <= len(conn.parser.unreader.buf.getvalue()):
            body.read()
            return True
        return False

    def _await(self, conn: Connection, patience_s: float) -> None:
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + patience_s
        self.waiting.add(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_arrival, conn))

    def _on_arrival(self, conn: Connection, client: socket.socket) -> None:
        try:
            data = client.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._forget(conn)
            return
        if not conn.arrived:
            conn.timeout = time.monotonic() + self.settings.header_timeout_s
        conn.arrived += data
        if conn.has_arrived():
            self.waiting.discard(conn)
            self.poller.unregister(client)
            self._hand_over(conn)
        elif len(conn.arrived) > ARRIVED_LIMIT:
            self._refuse(conn, TOO_LONG)

    def _hand_over(self, conn: Connection) -> None:
        """Give a connection to the threads, with what has arrived."""
        conn.init()
        pace = Pace(self.settings.body_rate_bytes, self.settings.header_timeout_s)
        conn.parser.unreader = SlowClientUnreader(conn.sock, pace, self.seats)
        conn.parser.unreader.unread(bytes(conn.arrived))
        conn.arrived = bytearray()
        conn.data_ready = True
        self.enqueue_req(conn)

    def _refuse(self, conn: Connection, status: str) -> None:
        """Say why a connection is closed, to a client that has said something, and close it."""
        if conn.arrived:
            with contextlib.suppress(OSError):
                conn.sock.send(REFUSAL.format(status).encode())
        self._forget(conn)

    def _make_room(self) -> None:
        if self.waiting:
            self._forget(min(self.waiting, key=lambda conn: conn.timeout))

    def _part(self, conn: Connection) -> None:
        """Close a connection once its client has seen all that was sent, or after a moment."""
        try:
            # A WebSocket's own thread may close its socket at any time, so that the loop watches another of its own.
            own = conn.sock.dup()
            own.setblocking(False)
            own.shutdown(socket.SHUT_WR)
        except OSError:
            self._forget(conn)
            return
        conn.timeout = time.monotonic() + LINGER_S
        self.parting[conn] = own
        self.poller.register(own, EVENT_READ, partial(self._on_parting, conn))

    def _on_parting(self, conn: Connection, own: socket.socket) -> None:
        try:
            data = own.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        conn.drained += len(data)
        if not data or conn.drained > LINGER_BYTES:
            self._forget(conn)

    def _forget(self, conn: Connection) -> None:
        """Close a connection, wherever it is waited for."""
        own = self.parting.pop(conn, None)
        if own is not None:
            self.poller.unregister(own)
            with contextlib.suppress(OSError):
                own.shutdown(socket.SHUT_RDWR)
            own.close()
        elif conn in self.waiting:
            self.waiting.discard(conn)
            self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()


def worker_of(settings: ServerSettings) -> type[PatientWorker]:
    """Return the class of workers that follow ``settings``."""
    return type("EvoRAGWorker", (PatientWorker,), {"settings": settings})
