"""Answers that open a WebSocket: to talk over it, or to close it with a code.

A page that opens one never sees the status of a handshake that is refused, so that whoever has to sign in is told by a
close code.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING

import flask

from app.serving.conversation import Conversation
from app.serving.handover import SOCKET, Talk

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

UNAUTHORIZED = 4401
UPGRADE_REQUIRED = 426


class SocketAnswer(flask.Response):
    """The answer to a handshake; where no WebSocket is to be had, it says that this is what one would need."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(status=UPGRADE_REQUIRED)
        self._talk = talk
        self._context: Context = copy_context()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        take = environ.get(SOCKET)
        if take is not None:
            take(lambda conversation: self._context.run(self._talk, conversation))
        return super().__call__(environ, start_response)


def refuse(request: flask.Request, code: int, message: str) -> flask.Response | None:
    """Accept the WebSocket and close it with ``code``; None where the server gives none to do it with."""
    if SOCKET not in request.environ:
        return None

    def close(conversation: Conversation) -> None:
        conversation.close(code, message)

    return SocketAnswer(close)
