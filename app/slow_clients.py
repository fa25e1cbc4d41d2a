"""How long the server waits for a client that sends the rest of its request, or takes its answer.

Waiting is measured in windows: whoever moves less than the least rate in one of them is let go. Only the time in which
the server waits for the client counts, never the time in which the client waits for the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from gunicorn.http.errors import ParseException
from gunicorn.http.unreader import SocketUnreader
from werkzeug.exceptions import BadRequest, RequestTimeout, ServiceUnavailable

if TYPE_CHECKING:
    import socket

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BLOCK_BYTES = 64 * 1024
AGAIN_S = 2


class Pace:
    """Says when a client is too slow: less than ``rate`` bytes a second over ``window_s`` seconds of waiting."""

    def __init__(self, rate: float, window_s: float) -> None:
        self._rate = rate
        self._window_s = window_s
        self._waited = 0.0
        self._moved = 0

    @property
    def left_s(self) -> float:
        """Seconds of waiting until the present window ends."""
        return max(self._window_s - self._waited, 0.001)

    def is_kept(self, waited_s: float, moved: int) -> bool:
        """Take account of some waiting and what came of it; False where the window has ended with too little."""
        self._waited += waited_s
        self._moved += moved
        if self._waited < self._window_s:
            return True
        is_kept = self._moved >= self._rate * self._waited
        self._waited, self._moved = 0.0, 0
        return is_kept


class SlowClientUnreader(SocketUnreader):  # type: ignore[misc]
    """Reads what a client sends; at most a share of the threads waits for clients at the same time."""

    def __init__(self, sock: socket.socket, pace: Pace, seats: BoundedSemaphore) -> None:
        super().__init__(sock)
        self._pace = pace
        self._seats = seats

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return what has arrived, or wait for it. Raises: 408 for a slow client, 503 where too many are waited for."""
        size = min(max(size_hint or 0, self.mxchunk), self.max_body_chunk)
        patience = self.sock.gettimeout()
        self.sock.settimeout(0)
        try:
            data: bytes = self.sock.recv(size)
        except BlockingIOError:
            pass
        else:
            return data
        finally:
            self.sock.settimeout(patience)
        if not self._seats.acquire(blocking=False):
            raise ServiceUnavailable("Too many clients are sending at the same time.", retry_after=AGAIN_S)
        try:
            return self._waited_for(size)
        finally:
            self._seats.release()
            self.sock.settimeout(patience)

    def _waited_for(self, size: int) -> bytes:
        while True:
            began = time.monotonic()
            self.sock.settimeout(self._pace.left_s)
            try:
                data: bytes | None = self.sock.recv(size)
            except TimeoutError:
                data = None
            if not self._pace.is_kept(time.monotonic() - began, len(data or b"")):
                raise RequestTimeout("The request came too slowly.")
            if data is not None:
                return data


class MinimumRate:
    """Runs an application whose answers are sent in blocks, and not for ever to a client that does not take them."""

    def __init__(self, application: WSGIApplication, rate: float, window_s: float) -> None:
        self._application = application
        self._rate = rate
        self._window_s = window_s

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        connection = environ["gunicorn.socket"]
        connection.settimeout(max(3 * self._window_s, BLOCK_BYTES / self._rate))
        answer: Any = getattr(start_response, "__self__", None)
        environ["wsgi.input"] = Input(environ["wsgi.input"])

        def begin(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            # The server drops this header, but not what it means.
            if any(name.lower() == "connection" and value.lower() == "close" for name, value in headers):
                answer.force_close()
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        return Blocks(self._application(environ, begin), Pace(self._rate, self._window_s))


class Input:
    """The body of a request; what is no body, because its chunks are not, is refused as a bad request."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def read(self, size: int | None = None) -> bytes:
        return self._read(self._body.read, size)

    def readline(self, size: int | None = None) -> bytes:
        return self._read(self._body.readline, size)

    def _read(self, read: Callable[[int | None], bytes], size: int | None) -> bytes:
        try:
            return read(size)
        except ParseException as error:
            raise BadRequest("The body cannot be read.") from error


class Blocks:
    """An answer in blocks; ends with ``TimeoutError`` where the client takes them too slowly."""

    def __init__(self, parts: Iterable[bytes], pace: Pace) -> None:
        self._parts = parts
        self._pace = pace

    def __iter__(self) -> Iterator[bytes]:
        if hasattr(self._parts, "blksize"):
            self._parts.blksize = BLOCK_BYTES
        for part in self._parts:
            for start in range(0, len(part), BLOCK_BYTES):
                block = part[start : start + BLOCK_BYTES]
                began = time.monotonic()
                yield block
                if not self._pace.is_kept(time.monotonic() - began, len(block)):
                    raise TimeoutError("The answer was taken too slowly.")

    def close(self) -> None:
        """End the request."""
        close = getattr(self._parts, "close", None)
        if close is not None:
            close()
