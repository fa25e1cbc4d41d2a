"""Answers that tell what becomes of jobs, from one thread for all of them.

It writes whenever the job ledger has changed, in the context of the request that each answer began with, so that each
client is told what its principal may see and in its language.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

import flask

from app.api.events.progress import HEARTBEAT, HEARTBEAT_S, LONGEST_S, MOVING_S, Follower, follow, new_events, written
from app.serving.handover import HAND_OVER, Channel

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from core import KnowledgeBase

log = logging.getLogger(__name__)

TICK_S = 0.2
BEHIND_BYTES = 1024 * 1024
"""A client that lets so much wait is told no more."""


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
        hand_over = environ.get(HAND_OVER)
        if hand_over is None or environ["REQUEST_METHOD"] == "HEAD":
            self.response = follow(self._kb, self._follower)
            return super().__call__(environ, start_response)
        self.headers["Connection"] = "close"
        start_response(self.status, list(self.headers))
        hand_over(Following(self._pump, self._follower, copy_context()))
        return []


class Following:
    """Goes on with an answer by the pump."""

    def __init__(self, pump: Pump, follower: Follower, context: Context) -> None:
        self._pump = pump
        self._follower = follower
        self._context = context

    def go_on(self, channel: Channel) -> None:
        """Have the pump write to the channel."""
        self._pump.add(Stream(channel, self._follower, self._context))


class Stream:
    """One client that is being told something."""

    def __init__(self, channel: Channel, follower: Follower, context: Context) -> None:
        self.channel = channel
        self.follower = follower
        self.context = context
        self.seen = -1
        self.began = self.wrote = self.told = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether there is nobody or nothing more to tell."""
        channel = self.channel
        return self.follower.has_ended or channel.is_gone or channel.waiting_bytes > BEHIND_BYTES

    def tell(self, change: int) -> None:
        """Take up what is new up to a change."""
        self.seen, self.told = change, time.monotonic()
        try:
            self.say(self.context.run(lambda: written(new_events(self.follower))))
        except Exception:
            log.exception("a stream ends, because what it follows could not be read")
            self.follower.has_ended = True

    def say(self, words: bytes) -> None:
        if words:
            self.channel.write(words)
            self.wrote = time.monotonic()


class Pump:
    """Writes to every client that follows jobs, from one thread that lives while there is one."""

    def __init__(self, kb: KnowledgeBase, limit: int) -> None:
        self._kb = kb
        self._limit = limit
        self._lock = threading.Lock()
        self._new: list[Stream] = []
        self._streams: set[Stream] = set()
        self._thread: threading.Thread | None = None
        self._is_awaited = threading.Event()

    @property
    def count(self) -> int:
        return len(self._streams) + len(self._new)

    @property
    def is_full(self) -> bool:
        return self.count >= self._limit

    def add(self, stream: Stream) -> None:
        """Go on with a stream: what is known is sent at once, what changes when it does."""
        with self._lock:
            self._new.append(stream)
            self._is_awaited.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="evorag-streams", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            while self._take():
                self._turn()
        except Exception:
            # A closed knowledge base ends it at the latest; the clients come back to the next one.
            log.debug("streams end", exc_info=True)
            with self._lock:
                left = [*self._streams, *self._new]
                self._streams.clear()
                self._new.clear()
                self._thread = None
            for stream in left:
                stream.channel.end()

    def _take(self) -> bool:
        """Take in new clients; False when none is left."""
        with self._lock:
            self._streams.update(self._new)
            self._new.clear()
            self._is_awaited.clear()
            if not self._streams:
                self._thread = None
                return False
        return True

    def _turn(self) -> None:
        """Tell what has changed, see who is gone, and wait a moment."""
        change, now = self._kb.jobs_changed(0, 0.0), time.monotonic()
        for stream in list(self._streams):
            if stream.seen != change or (stream.follower.is_moving and now - stream.told >= MOVING_S):
                stream.tell(change)
            if now - stream.wrote >= HEARTBEAT_S:
                stream.say(HEARTBEAT)
            if stream.is_over or now - stream.began > LONGEST_S:
                self._streams.discard(stream)
                stream.channel.end()
        self._is_awaited.wait(TICK_S)


def pump_of(server: flask.Flask, kb: KnowledgeBase) -> Pump:
    """Return the one pump of an application."""
    extensions: dict[str, Any] = server.extensions
    pump: Pump = extensions.setdefault("evorag-streams", Pump(kb, kb.settings.server.stream_limit))
    return pump
