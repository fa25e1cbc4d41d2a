"""Refuses a WebSocket with a close code, because a page that opens one never sees the status of its handshake."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import flask
from simple_websocket import ConnectionClosed, ConnectionError, Server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

UNAUTHORIZED = 4401


class Refused(flask.Response):
    """The answer to a handshake that was accepted and closed; its bytes have been sent already."""

    by_gunicorn = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self.by_gunicorn:
            raise StopIteration
        return super().__call__(environ, start_response)


def refuse(request: flask.Request, code: int, message: str) -> flask.Response | None:
    """Accept the WebSocket and close it with ``code``; None where the server gives no socket to do it with."""
    try:
        socket = Server(request.environ)
    except (RuntimeError, ConnectionError, OSError):
        return None
    with suppress(ConnectionClosed, OSError):
        socket.close(code, message)
    refused = Refused()
    refused.by_gunicorn = socket.mode == "gunicorn"
    return refused
