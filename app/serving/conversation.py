"""A WebSocket as a thread talks over it, while the loop listens."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any

from app.serving.body import Receive

HEARD_MOST = 64
"""So many messages wait for the one who listens; then the client waits."""
HEARD_AGAIN_S = 0.05
SEND_TIMEOUT_S = 20


class Closed(Exception):
    """The other side has closed, or does not take what is said."""


class Conversation:
    """The way to one client, from the acceptance of its handshake."""

    def __init__(self, receive: Receive, send: Callable[[Any], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._heard: queue.Queue[str | bytes | None] = queue.Queue()

    async def listen(self) -> None:
        """Take what the client says, until it closes."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._heard.put(None)
                return
            if message["type"] == "websocket.receive":
                text = message.get("text")
                self._heard.put(message.get("bytes") or b"" if text is None else text)
            while self._heard.qsize() >= HEARD_MOST:
                await asyncio.sleep(HEARD_AGAIN_S)

    def receive(self, timeout_s: float) -> str | bytes | None:
        """Return the next message, None where there is none in time. Raises: ``Closed``."""
        try:
            said = self._heard.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if said is None:
            raise Closed
        return said

    def send(self, text: str) -> None:
        """Say something. Raises: ``Closed``."""
        self._pass_on({"type": "websocket.send", "text": text})

    def close(self, code: int, reason: str) -> None:
        """Say why the connection ends. Raises: ``Closed`` where it has ended already."""
        self._pass_on({"type": "websocket.close", "code": code, "reason": reason})

    def _pass_on(self, message: dict[str, Any]) -> None:
        sending = asyncio.run_coroutine_threadsafe(_sent(self._send, message), self._loop)
        try:
            sending.result(SEND_TIMEOUT_S)
        except (OSError, RuntimeError, TimeoutError, CancelledError) as error:
            sending.cancel()
            raise Closed from error


async def _sent(send: Callable[[Any], Awaitable[None]], message: dict[str, Any]) -> None:
    await send(message)
