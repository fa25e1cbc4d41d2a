"""How long the server waits for a client that sends a request, or takes an answer.

``Patience`` stands between asyncio's transports and the protocol of an HTTP server, and around its ASGI application: it
knows from the one what moves on a connection, and from the other whether a request is being answered on it. Only the
time in which the server waits for the client counts, never the time in which the client waits for the server.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from app.serving.body import Pace, Receive

LINGER_S = 2.0
LINGER_BYTES = 256 * 1024
"""A connection that is closed while its client still sends would lose the answer, so a little is read and dropped."""
LOOK_S = 0.25
BLOCK_BYTES = 64 * 1024
AT_ONCE = struct.pack("ii", 1, 0)
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Mapping[str, Any], Receive, Send], Awaitable[None]]
Inner = Callable[..., asyncio.Protocol]


@dataclass(frozen=True)
class Limits:
    """How long a client may take, and how many there may be."""

    head_s: float
    """For the head of a request, from its first byte or from the beginning of the connection."""
    idle_s: float
    """Between two requests."""
    rate: float
    """Least bytes a second of an answer that is taken."""
    connections: int

    @property
    def stalled_s(self) -> float:
        """How long nothing of an answer need be taken: the system passes a slow client's bytes on in large pieces."""
        return max(3 * self.head_s, BLOCK_BYTES / self.rate)


class Patience:
    """All connections of a server, and when the next of them has waited too long."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._guards: dict[Any, Guard] = {}
        self._is_looking = False
        self.has_ended = False

    def around(self, inner: Inner) -> Inner:
        """Return a factory of protocols that guard those of ``inner``."""
        return lambda **given: Guard(self, inner(**given))

    def watching(self, application: Application) -> Application:
        """Return an application that says on whose connection it is at work."""

        async def watched(scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
            guard = self._guards.get(scope.get("client"))
            if guard is None:
                await application(scope, receive, send)
                return
            guard.answering += 1
            try:
                await application(scope, receive, send)
            finally:
                guard.has_answered()

        return watched

    def add(self, guard: Guard) -> None:
        """Take in a connection; where there are too many, the one that has kept us waiting longest goes."""
        if len(self._guards) >= self.limits.connections:
            waiting = [each for each in self._guards.values() if each.is_waiting]
            if waiting:
                min(waiting, key=lambda each: each.deadline).transport.abort()
        self._guards[guard.client] = guard
        if not self._is_looking:
            self._is_looking = True
            asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def forget(self, guard: Guard) -> None:
        if self._guards.get(guard.client) is guard:
            del self._guards[guard.client]

    def end(self) -> None:
        """Wait for nobody's end of a connection any more."""
        self.has_ended = True
        for guard in list(self._guards.values()):
            if guard.is_parting:
                guard.transport.close()

    def give_up(self) -> None:
        """Let all clients go."""
        for guard in list(self._guards.values()):
            guard.transport.abort()

    def _look(self) -> None:
        now = time.monotonic()
        for guard in list(self._guards.values()):
            guard.look(now)
        self._is_looking = bool(self._guards)
        if self._is_looking:
            asyncio.get_running_loop().call_later(LOOK_S, self._look)


class Guard(asyncio.Protocol):
    """One connection. What arrives is passed on to the protocol of the server."""

    transport: asyncio.Transport

    def __init__(self, patience: Patience, inner: asyncio.Protocol) -> None:
        self.client: Any = None
        self.inner = inner
        self.answering = 0
        """Requests that are being answered."""
        self.deadline = 0.0
        """Until when the next request, or the client's end of the connection, is waited for."""
        self.is_parting = False
        self.written = 0
        self._patience = patience
        self._limits = patience.limits
        self._has_spoken = False
        self._drained = 0
        self._taken = 0
        self._stalled_since = 0.0
        self._pace = Pace(self._limits.rate, self._limits.head_s)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is done for the client until it says more."""
        return not self.answering and not self.is_parting

    # ---- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.client = (self.transport.get_extra_info("peername") or (None, None))[:2]
        self.deadline = time.monotonic() + self._limits.head_s
        self._patience.add(self)
        self.inner.connection_made(Line(self))

    def data_received(self, data: bytes) -> None:
        if self.is_parting:
            self._drained += len(data)
            if self._drained > LINGER_BYTES:
                self.transport.abort()
            return
        if not self.answering and not self._has_spoken:
            self._has_spoken = True
            self.deadline = time.monotonic() + self._limits.head_s
        self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self.is_parting else self.inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.forget(self)
        self.inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self.inner.resume_writing()

    # ---- what the line and the application say

    def has_answered(self) -> None:
        """Wait for the next request from now on."""
        self.answering -= 1
        self._has_spoken = False
        if not self.is_parting:
            self.deadline = time.monotonic() + self._limits.idle_s

    def part(self) -> None:
        """Close once the client has seen all that was sent, or after a moment."""
        if self.is_parting or self.transport.is_closing():
            return
        is_silent = not self.answering and not self._has_spoken
        self.is_parting = True
        self.deadline = time.monotonic() + LINGER_S
        if is_silent or self._patience.has_ended or not self.transport.can_write_eof():
            self.transport.close()
            return
        try:
            self.transport.write_eof()
        except OSError:
            self.transport.abort()
        self.transport.resume_reading()

    # ---- what time tells

    def look(self, now: float) -> None:
        """Let the client go whose time is over."""
        if self.transport.get_write_buffer_size():
            if not self._takes(now):
                # What the system still holds for the client goes as well.
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                self.transport.abort()
            return
        self._stalled_since = now
        if now < self.deadline:
            return
        if self.is_parting:
            self.transport.abort()
        elif self.is_waiting:
            if self._has_spoken:
                self.transport.write(TOO_SLOW)
            self.transport.close()

    def _takes(self, now: float) -> bool:
        """Say whether the client takes what waits for it fast enough."""
        taken = self.written - self.transport.get_write_buffer_size()
        moved, self._taken = taken - self._taken, taken
        stalled_s = now - self._stalled_since
        if not moved:
            return stalled_s < self._limits.stalled_s
        self._stalled_since = now
        self.deadline = max(self.deadline, now + LINGER_S)
        return self._pace.is_kept(stalled_s, moved)


class Line(asyncio.Transport):
    """What the protocol of the server holds for its transport; to close it is to part from the client."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard
        self._transport = guard.transport

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._guard.is_parting or self._transport.is_closing()

    def close(self) -> None:
        self._guard.part()

    def abort(self) -> None:
        self._transport.abort()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._guard.inner = cast("asyncio.Protocol", protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._guard.inner

    def write(self, data: Any) -> None:
        if not self.is_closing():
            self._guard.written += len(data)
            self._transport.write(data)

    def write_eof(self) -> None:
        self._transport.write_eof()

    def can_write_eof(self) -> bool:
        return self._transport.can_write_eof()

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._transport.get_write_buffer_limits()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def is_reading(self) -> bool:
        return self._transport.is_reading()

    def pause_reading(self) -> None:
        if not self._guard.is_parting:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()
