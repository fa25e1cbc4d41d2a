"""Whether a request was made by our own pages."""

from __future__ import annotations

from urllib.parse import urlsplit

import flask

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_socket(request: flask.Request) -> bool:
    """Say whether a request asks for a WebSocket."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


def is_same_origin(request: flask.Request, *, unknown: bool = True) -> bool:
    """Say whether a request was made by our own pages; ``unknown`` is the answer for programs that are no browser."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("Origin")
    if origin is None:
        return unknown
    try:
        return urlsplit(origin).netloc.lower() == request.host.lower()
    except ValueError:
        return False
