"""The body of a request: it arrives in the loop and is read by a thread, without more than a little between them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Self

from werkzeug.exceptions import ClientDisconnected, HTTPException, RequestTimeout

HELD_BYTES = 512 * 1024
"""So much may wait for its reader; then the client waits."""
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


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


class Body:
    """``wsgi.input``. Nothing is asked of the client before somebody reads."""

    def __init__(self, pace: Pace) -> None:
        self.has_ended = False
        """Whether all of it has arrived."""
        self._pace = pace
        self._pieces: deque[memoryview] = deque()
        self._held = 0
        self._failure: HTTPException | None = None
        self._changed = threading.Condition()
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._is_asked = False

    @classmethod
    def empty(cls) -> Self:
        """Return the body of a request that has none."""
        body = cls(Pace(1, 1))
        body.has_ended = True
        return body

    # ---- in the loop

    def put(self, piece: bytes, *, is_last: bool) -> None:
        """Take what has arrived."""
        with self._changed:
            if piece:
                self._pieces.append(memoryview(piece))
                self._held += len(piece)
            self.has_ended = is_last
            self._changed.notify_all()

    def fail(self, failure: HTTPException) -> None:
        """Have whoever reads on be told of a failure."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    async def fill(self, receive: Receive) -> None:
        """Take what the client sends, as fast as it is read, to the end."""
        while not self.has_ended:
            await self._room.wait()
            message = await receive()
            if message["type"] != "http.request":
                self.fail(ClientDisconnected())
                return
            self.put(message.get("body", b""), is_last=not message.get("more_body", False))
            if self._held >= HELD_BYTES:
                with self._changed:
                    if self._held >= HELD_BYTES:
                        self._room.clear()
                        self._is_asked = False

    # ---- in a thread

    def read(self, size: int | None = -1) -> bytes:
        """Return some bytes, at most ``size``, none at the end; or all to the end. Raises: 400, 408, 503."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(HELD_BYTES), b""))
        with self._changed:
            while not self._held and not self.has_ended and size:
                self._wait()
            piece = self._taken(size)
            if self._held < HELD_BYTES:
                self._ask()
            return piece

    def readline(self, size: int | None = -1) -> bytes:
        """Return a line with its end, or what there is of one."""
        line = bytearray()
        while (size is None or size < 0 or len(line) < size) and (sign := self.read(1)):
            line += sign
            if sign == b"\n":
                break
        return bytes(line)

    def _wait(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._ask()
        began = time.monotonic()
        self._changed.wait(self._pace.left_s)
        if not self._pace.is_kept(time.monotonic() - began, self._held):
            self._failure = RequestTimeout("The request came too slowly.")
            raise self._failure

    def _ask(self) -> None:
        if not self._is_asked and not self.has_ended:
            self._is_asked = True
            self._loop.call_soon_threadsafe(self._room.set)

    def _taken(self, size: int) -> bytes:
        taken: list[memoryview] = []
        while self._pieces and size:
            piece = self._pieces.popleft()
            if len(piece) > size:
                self._pieces.appendleft(piece[size:])
                piece = piece[:size]
            taken.append(piece)
            size -= len(piece)
            self._held -= len(piece)
        return b"".join(taken)
