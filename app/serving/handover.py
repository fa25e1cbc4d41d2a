"""Answers that go on after the view that began them has returned, and without its thread.

A view's response finds in its environment, under ``HAND_OVER``, a function that takes a ``Continuation``: events are
then written to a ``Channel``, from any thread. Under ``SOCKET``, where the request opens a WebSocket, it finds one that
takes a ``Talk``, which gets a thread for as long as it lasts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from app.serving.conversation import Conversation

HAND_OVER = "evorag.hand_over"
SOCKET = "evorag.socket"

Talk = Callable[[Conversation], None]


class Continuation(Protocol):
    """Goes on with an answer."""

    def go_on(self, channel: Channel) -> None:
        """Take the channel; what takes long is done elsewhere, because this is called in the loop."""


class Channel:
    """The way to one client, open until one of the two ends it."""

    def __init__(self) -> None:
        self.is_gone = False
        """Whether the client has gone."""
        self.waiting_bytes = 0
        """What the client has not taken yet."""
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue()

    def write(self, words: bytes) -> None:
        """Send something as soon as the client takes it; from any thread."""
        self._put(words)

    def end(self) -> None:
        """End the answer after what waits; from any thread."""
        self._put(None)

    async def carry(self, gone: asyncio.Task[None], send: Callable[[Any], Awaitable[None]]) -> None:
        """Send what is written, to the end of the answer or until the client has gone."""
        gone.add_done_callback(lambda _: self._took(None))
        try:
            while (words := await self._waiting.get()) is not None:
                await send({"type": "http.response.body", "body": words, "more_body": True})
                self.waiting_bytes -= len(words)
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self.is_gone = True

    def _put(self, words: bytes | None) -> None:
        # The loop may have ended in the meantime.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._took, words)

    def _took(self, words: bytes | None) -> None:
        self.waiting_bytes += len(words or b"")
        self._waiting.put_nowait(words)
