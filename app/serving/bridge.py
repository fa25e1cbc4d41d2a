"""Runs a WSGI application behind an ASGI server: each request in a thread, which nobody who is slow can hold.

A request gets its thread when its body is here, if that is small. A large body is read in a thread of another pool. Of
an answer a thread makes one block at a time; while the client takes it, the thread does something else.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote_to_bytes, urlsplit

from werkzeug.exceptions import ServiceUnavailable
from werkzeug.wsgi import FileWrapper

from app.serving.body import Body, Message, Pace, Receive
from app.serving.conversation import Closed, Conversation
from app.serving.handover import HAND_OVER, SOCKET, Channel, Continuation, Talk
from app.serving.threads import Threads

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

    from core.settings import ServerSettings

log = logging.getLogger(__name__)

BLOCK_BYTES = 256 * 1024
SMALL_BYTES = 32 * 1024
"""A body that is no longer than this is waited for without a thread."""
HEAD_BYTES = 32 * 1024
GONE = 0
AGAIN_S = 2
Headers = list[tuple[bytes, bytes]]
Send = Callable[[Message], Awaitable[None]]
CLOSE = (b"connection", b"close")


class Blocks(FileWrapper):
    """A file as the parts of an answer."""

    def __init__(self, file: BinaryIO, buffer_size: int = 0) -> None:
        super().__init__(file, BLOCK_BYTES)


class Answer:
    """What the application answers to one request, made in threads, one call at a time."""

    def __init__(self, application: WSGIApplication, environ: WSGIEnvironment) -> None:
        self.status = 500
        self.headers: Headers = []
        self.continuations: list[Continuation] = []
        self.talks: list[Talk] = []
        self._application = application
        self._environ = environ
        self._parts: Any = ()
        self._iterator: Iterator[bytes] = iter(())
        self._has_length = False

    def begin(self) -> tuple[bytes, bool]:
        """Call the application; return the first block, and whether it is the last."""
        self._environ[HAND_OVER] = self.continuations.append
        self._parts = self._application(self._environ, self._start)
        self._iterator = iter(self._parts)
        return (b"", True) if self.continuations else self.block()

    def opening(self) -> bytes:
        """Call the application for a WebSocket; return the body of a refusal."""
        self._environ[SOCKET] = self.talks.append
        block, is_last = self.begin()
        while not is_last:
            more, is_last = self.block()
            block += more
        return block

    def block(self) -> tuple[bytes, bool]:
        """Return the next block, and whether it is the last; one that comes bit by bit is passed on so."""
        block: list[bytes] = []
        size = 0
        for part in self._iterator:
            block.append(part)
            size += len(part)
            if size >= BLOCK_BYTES or (part and not self._has_length):
                return b"".join(block), False
        self.close()
        return b"".join(block), True

    def close(self) -> None:
        """End the request."""
        parts, self._parts, self._iterator = self._parts, (), iter(())
        close = getattr(parts, "close", None)
        if close is not None:
            close()

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        self._has_length = any(name == b"content-length" for name, _ in self.headers)
        return _never_written


class Bridge:
    """Answers requests by a WSGI application."""

    def __init__(self, application: WSGIApplication, settings: ServerSettings) -> None:
        self._application = application
        self._settings = settings
        self._threads = Threads(settings.server_threads, "evorag-request")
        self._readers = Threads(settings.server_threads, "evorag-body")
        self._talks = Threads(settings.server_threads, "evorag-socket")
        self._channels: set[Channel] = set()

    async def answer(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, to its end."""
        status = refusal_of(scope)
        body = Body(Pace(self._settings.body_rate_bytes, self._settings.header_timeout_s))
        threads, filling = self._threads, None
        if status is None and is_large(scope):
            if self._readers.is_full:
                body.fail(ServiceUnavailable("Too many clients are sending at the same time.", retry_after=AGAIN_S))
            else:
                threads, filling = self._readers, asyncio.create_task(body.fill(receive))
        elif status is None:
            status = await self._arrived(scope, body, receive)
        if status == GONE:
            return
        if status is not None:
            await _refuse(send, status)
            return
        answer = Answer(self._application, environ_of(scope, body))
        try:
            block, is_last = await threads.run(answer.begin)
        finally:
            if filling is not None:
                filling.cancel()
        if not body.has_ended and CLOSE not in answer.headers:
            answer.headers.append(CLOSE)
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        if is_last and not answer.continuations:
            await send({"type": "http.response.body", "body": block, "more_body": False})
            return
        gone = asyncio.create_task(_gone(receive))
        try:
            if answer.continuations:
                await self._go_on(answer.continuations[0], gone, send)
            else:
                await self._send_on(answer, block, gone, send)
        finally:
            gone.cancel()

    async def open(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Open a WebSocket, or answer why it is not opened, and talk over it to its end."""
        await receive()
        if refusal_of(scope) is not None:
            await send({"type": "websocket.close"})
            return
        answer = Answer(self._application, environ_of({**scope, "method": "GET"}, Body.empty()))
        refusal = await self._threads.run(answer.opening)
        if not answer.talks:
            await _deny(scope, send, answer, refusal)
            return
        await send({"type": "websocket.accept"})
        conversation = Conversation(receive, send)
        listening = asyncio.create_task(conversation.listen())
        try:
            await self._talks.run(_talk, answer.talks[0], conversation)
        finally:
            listening.cancel()

    async def _arrived(self, scope: Mapping[str, Any], body: Body, receive: Receive) -> int | None:
        """Wait for a small body; return the status of a refusal where it does not come."""
        body.has_ended = not _sizes(scope)
        try:
            async with asyncio.timeout(self._settings.header_timeout_s):
                while not body.has_ended:
                    message = await receive()
                    if message["type"] != "http.request":
                        return GONE
                    body.put(message.get("body", b""), is_last=not message.get("more_body", False))
        except TimeoutError:
            return HTTPStatus.REQUEST_TIMEOUT
        return None

    async def _go_on(self, continuation: Continuation, gone: asyncio.Task[None], send: Send) -> None:
        channel = Channel()
        self._channels.add(channel)
        try:
            continuation.go_on(channel)
            await channel.carry(gone, send)
        finally:
            self._channels.discard(channel)

    async def _send_on(self, answer: Answer, block: bytes, gone: asyncio.Task[None], send: Send) -> None:
        is_last = False
        try:
            while not gone.done():
                await send({"type": "http.response.body", "body": block, "more_body": not is_last})
                if is_last:
                    return
                block, is_last = await self._threads.run(answer.block)
        except Exception:
            # The answer stays without its end, by which the client sees that something is missing.
            log.exception("an answer ends before its end")
        finally:
            if not is_last:
                await self._threads.run(answer.close)

    def part(self) -> None:
        """End the answers that would go on."""
        for channel in self._channels:
            channel.end()

    def close(self) -> None:
        """End the threads."""
        self._threads.close()
        self._readers.close()
        self._talks.close()


def refusal_of(scope: Mapping[str, Any]) -> int | None:
    """Return the status by which a request is refused that no server should have passed on."""
    if len(_sizes(scope)) > 1:
        # RFC 9112, section 6.3: nobody can tell which of the two a proxy in front has believed.
        return HTTPStatus.BAD_REQUEST
    head = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if head + sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_BYTES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    return None


def is_large(scope: Mapping[str, Any]) -> bool:
    """Say whether the body of a request may be large."""
    sizes = _sizes(scope)
    return b"transfer-encoding" in sizes or int(sizes.get(b"content-length", b"0")) > SMALL_BYTES


def _sizes(scope: Mapping[str, Any]) -> dict[bytes, bytes]:
    return {name: value for name, value in scope["headers"] if name in (b"content-length", b"transfer-encoding")}


def environ_of(scope: Mapping[str, Any], body: Body) -> WSGIEnvironment:
    """Return the environment of a request, as PEP 3333 has it."""
    target = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
    if not target.startswith(b"/"):
        target = urlsplit(target).path
    host, port = scope.get("server") or ("localhost", 80)
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(target).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("", 0))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "https" if scope.get("scheme") in ("https", "wss") else "http",
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.file_wrapper": Blocks,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        # One with an underscore could be taken for another with a hyphen.
        if b"_" in name:
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        text = value.decode("latin-1")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    return environ


def _talk(talk: Talk, conversation: Conversation) -> None:
    try:
        talk(conversation)
    except Closed:
        return
    except Exception:
        log.exception("a WebSocket ends before its end")


async def _deny(scope: Mapping[str, Any], send: Send, answer: Answer, body: bytes) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return
    headers = [*answer.headers, CLOSE]
    await send({"type": "websocket.http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


async def _gone(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] == "http.request":
        continue


async def _refuse(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [CLOSE, (b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _never_written(_: bytes) -> None:
    raise NotImplementedError("Answers are given as parts.")
