"""Answers that go on after their request has ended, so that none of them holds a thread of the server.

The connection is taken out of the server's hands: its file descriptor moves to a socket of ours, and the server closes
an empty one in its place. One thread writes to all such connections whenever the job ledger has changed, in the context
of the request that each began with, so that each is told what its principal may see and in its language.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

import flask

from app.api.events.progress import HEARTBEAT, HEARTBEAT_S, LONGEST_S, MOVING_S, Follower, follow, new_events, written

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from core import KnowledgeBase

log = logging.getLogger(__name__)

TICK_S = 0.2
BEHIND_BYTES = 1024 * 1024
"""A client that lets so much wait loses its connection."""
READ_BYTES = 4096
MOST_HEARD_BYTES = 64 * 1024
"""A client that follows has nothing to say."""


class EventStream(flask.Response):
    """The answer ``text/event-stream`` to a request that follows jobs."""

    def __init__(self, kb: KnowledgeBase, pump: Pump, follower: Follower) -> None:
        super().__init__(mimetype="text/event-stream")
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"
        self._kb = kb
        self._pump = pump
        self._follower = follower

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        server = "gunicorn" if "gunicorn.socket" in environ else "werkzeug"
        connection = environ.get(f"{server}.socket")
        if connection is None or environ["REQUEST_METHOD"] == "HEAD":
            self.response = follow(self._kb, self._follower)
            return super().__call__(environ, start_response)
        self.headers["Connection"] = "close"
        lines = [f"HTTP/1.1 {self.status}", *(f"{name}: {value}" for name, value in self.headers)]
        head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")
        self._pump.add(_taken(connection), head, self._follower, copy_context())
        if server == "gunicorn":
            raise StopIteration
        start_response(self.status, [("Content-Length", "0"), ("Connection", "close")])
        return []


def _taken(connection: socket.socket) -> socket.socket:
    """Return the connection as a socket of ours; what the server holds leads nowhere from now on."""
    own = socket.socket(fileno=os.dup(connection.fileno()))
    nowhere, other_end = socket.socketpair()
    with nowhere, other_end:
        os.dup2(nowhere.fileno(), connection.fileno(), inheritable=False)
    own.setblocking(False)
    return own


class Stream:
    """One client that is being told something."""

    def __init__(self, connection: socket.socket, head: bytes, follower: Follower, context: Context) -> None:
        self.connection = connection
        self.follower = follower
        self.context = context
        self.waiting = bytearray(head)
        self.seen = -1
        self.heard = 0
        self.began = self.wrote = self.told = time.monotonic()

    def tell(self, change: int) -> None:
        """Take up what is new up to a change."""
        self.seen, self.told = change, time.monotonic()
        if self.follower.has_ended:
            return
        try:
            self.say(self.context.run(lambda: written(new_events(self.follower))))
        except Exception:
            log.exception("a stream ends, because what it follows could not be read")
            self.follower.has_ended = True

    def say(self, words: bytes) -> None:
        if words:
            self.waiting += words
            self.wrote = time.monotonic()

    def write(self) -> bool:
        """Send what waits as far as the client takes it; False where it is gone, behind, or has been told all."""
        try:
            while self.waiting:
                sent = self.connection.send(memoryview(self.waiting)[: 64 * 1024].tobytes())
                del self.waiting[:sent]
        except BlockingIOError:
            return len(self.waiting) <= BEHIND_BYTES
        except OSError:
            return False
        return not self.follower.has_ended

    def is_gone(self) -> bool:
        """Read what the client sends, which is nothing to us, and say whether it has gone or says too much."""
        try:
            read = len(self.connection.recv(READ_BYTES))
            self.heard += read
            return read == 0 or self.heard > MOST_HEARD_BYTES
        except BlockingIOError:
            return False
        except OSError:
            return True


class Pump:
    """Writes to every client that follows jobs, from one thread that lives while there is one."""

    def __init__(self, kb: KnowledgeBase, limit: int) -> None:
        self._kb = kb
        self._limit = limit
        self._lock = threading.Lock()
        self._new: list[Stream] = []
        self._streams: set[Stream] = set()
        self._thread: threading.Thread | None = None

    @property
    def count(self) -> int:
        return len(self._streams) + len(self._new)

    @property
    def is_full(self) -> bool:
        return self.count >= self._limit

    def add(self, connection: socket.socket, head: bytes, follower: Follower, context: Context) -> None:
        """Go on with a connection: what is known is sent at once, what changes when it does."""
        stream = Stream(connection, head, follower, context)
        with self._lock:
            self._new.append(stream)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="evorag-streams", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        try:
            while self._take(selector):
                self._turn(selector)
        except Exception:
            # A closed knowledge base ends it at the latest; the clients come back to the next one.
            log.debug("streams end", exc_info=True)
        finally:
            with self._lock:
                left = [*self._streams, *self._new]
                self._streams.clear()
                self._new.clear()
                self._thread = None
            for stream in left:
                stream.connection.close()
            selector.close()

    def _take(self, selector: selectors.BaseSelector) -> bool:
        """Take in new clients; False when none is left."""
        with self._lock:
            taken, self._new = self._new, []
            self._streams.update(taken)
            if not self._streams:
                self._thread = None
                return False
        for stream in taken:
            selector.register(stream.connection, selectors.EVENT_READ, stream)
        return True

    def _turn(self, selector: selectors.BaseSelector) -> None:
        """Tell what has changed, see who is gone, and wait a moment."""
        change, now = self._kb.jobs_changed(0, 0.0), time.monotonic()
        for stream in list(self._streams):
            if stream.seen != change or (stream.follower.is_moving and now - stream.told >= MOVING_S):
                stream.tell(change)
            if now - stream.wrote >= HEARTBEAT_S:
                stream.say(HEARTBEAT)
            if not stream.write() or now - stream.began > LONGEST_S:
                self._drop(stream, selector)
        deadline = now + TICK_S
        while (left := deadline - time.monotonic()) > 0 and not self._new:
            for key, _ in selector.select(left):
                if key.data.is_gone():
                    self._drop(key.data, selector)

    def _drop(self, stream: Stream, selector: selectors.BaseSelector) -> None:
        selector.unregister(stream.connection)
        self._streams.discard(stream)
        with contextlib.suppress(OSError):
            stream.connection.shutdown(socket.SHUT_WR)
        stream.connection.close()


def pump_of(server: flask.Flask, kb: KnowledgeBase) -> Pump:
    """Return the one pump of an application."""
    extensions: dict[str, Any] = server.extensions
    pump: Pump = extensions.setdefault("evorag-streams", Pump(kb, kb.settings.server.stream_limit))
    return pump
