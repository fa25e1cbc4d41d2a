"""The server: uvicorn, with patience in front of it and the bridge to the application behind it.

Nothing but this module knows which server it is; what stands behind it speaks ASGI.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.serving.body import Receive
from app.serving.bridge import HEAD_BYTES, Bridge, Send
from app.serving.patience import Limits, Patience

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from core.settings import ServerSettings

GRACE_S = 15
IDLE_S = 5
CONNECTIONS = 1000
SPARE_FILES = 256
MESSAGE_BYTES = 16 * 1024
PING_S = 25
LOOK_S = 0.1


class Server:
    """Serves a WSGI application until it is stopped, or the process by a signal."""

    def __init__(self, application: WSGIApplication, settings: ServerSettings) -> None:
        self._bridge = Bridge(application, settings)
        limits = Limits(settings.header_timeout_s, IDLE_S, settings.body_rate_bytes, _connections())
        self._patience = Patience(limits)
        config = uvicorn.Config(
            self._patience.watching(self._answer),
            interface="asgi3",
            lifespan="off",
            loop="asyncio",
            http=cast("type[asyncio.Protocol]", self._patience.around(H11Protocol)),
            ws="wsproto",
            workers=1,
            log_config=None,
            access_log=False,
            server_header=False,
            # Whom to believe about the client's address is decided in one place, app.security.proxies.
            proxy_headers=False,
            forwarded_allow_ips="",
            # What is said of an upload stands in one header.
            h11_max_incomplete_event_size=HEAD_BYTES,
            ws_max_size=MESSAGE_BYTES,
            ws_ping_interval=PING_S,
            timeout_keep_alive=2 * IDLE_S,
        )
        # It warns of every request that is none, as often as somebody likes.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        self._server = uvicorn.Server(config)

    def run(self, listener: socket.socket) -> None:
        """Serve until the end."""
        # Heads and bodies are written apart; connections inherit that a body does not wait until its head is confirmed.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            asyncio.run(self._serve(listener))
        finally:
            self._bridge.close()

    def stop(self) -> None:
        """End, from any thread."""
        self._server.should_exit = True

    async def _serve(self, listener: socket.socket) -> None:
        serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        while not (serving.done() or self._server.should_exit):
            await asyncio.sleep(LOOK_S)
        self._bridge.part()
        self._patience.end()
        ended, _ = await asyncio.wait([serving], timeout=GRACE_S)
        if not ended:
            self._patience.give_up()
            self._server.force_exit = True
        await serving

    async def _answer(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "websocket":
                await self._bridge.open(scope, receive, send)
            else:
                await self._bridge.answer(scope, receive, send)
        except asyncio.CancelledError:
            # The server ends, and the client has been let go.
            return


def _connections() -> int:
    """Raise the limit of open files as far as it goes, and return how many of them may be connections."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + SPARE_FILES
    if 0 <= files < wanted:
        files = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
        return max(CONNECTIONS // 10, files - SPARE_FILES)
    return CONNECTIONS
