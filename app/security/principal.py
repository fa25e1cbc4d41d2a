"""Keeps who asks apart from all other requests, to the last byte of the answer.

Each request runs in a context of its own, in which also the parts of an answer are made that follow later, such as
events. Nothing of it stays with the thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from app.security.authenticate import NOBODY
from core import access

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class PrincipalMiddleware:
    """Runs an application on behalf of nobody, until its guard says who asks."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        context = copy_context()
        context.run(access.begin, NOBODY)
        parts = context.run(self._application, environ, start_response)
        # The server sends files by itself, and knows them by their type.
        wrapper = environ.get("wsgi.file_wrapper")
        if isinstance(wrapper, type) and isinstance(parts, wrapper):
            return parts
        return Parts(context, parts)


class Parts:
    """The parts of an answer, each made in the context of its request."""

    def __init__(self, context: Context, parts: Iterable[bytes]) -> None:
        self._context = context
        self._parts = parts
        self._iterator: Iterator[bytes] = context.run(iter, parts)

    def __iter__(self) -> Parts:
        return self

    def __next__(self) -> bytes:
        return self._context.run(next, self._iterator)

    def close(self) -> None:
        """End the request: the server calls this when the answer is sent or nobody takes it any more."""
        close: Any = getattr(self._parts, "close", None)
        if close is not None:
            self._context.run(close)
