"""What every request must pass and every answer must carry.

- Writes come from our own pages: ``Sec-Fetch-Site`` where the browser sends it, else ``Origin`` against ``Host``.
- A server on the loopback address answers only to loopback names, so that no foreign name can be rebound to it.
- Bodies are limited to 1 MB; the upload route raises that for itself. A client that stalls is let go.
- A strict content security policy: scripts only from here or by hash, no frames, no eval, no foreign host.
"""

from __future__ import annotations

import ipaddress
import logging
from urllib.parse import urlsplit

import flask
from dash import Dash
from werkzeug.exceptions import Forbidden, MisdirectedRequest

logger = logging.getLogger(__name__)

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
BODY_LIMIT_BYTES = 1_000_000
FORM_PARTS_LIMIT = 64
REFUSALS = frozenset({403, 408, 413, 421, 503})
"""After these the connection is closed, so that no thread waits for a body that nobody wants."""
STALL_S = 30.0
"""A client that sends nothing for so long in the middle of a request loses its connection, not we a thread."""
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGE_POLICY = (
    "default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
"""Styles stay inline because React, Plotly and AG Grid write style attributes and sheets."""


def protect(app: Dash, host: str) -> None:
    """Put the guards before, and the headers after, every request of ``app``; ``host`` is what it listens on."""
    server = app.server
    only_loopback = is_loopback(host)

    def guard() -> None:
        request = flask.request
        if only_loopback and host_name(request.host) not in LOOPBACK_NAMES:
            raise MisdirectedRequest("This server answers only to the names of this machine.")
        if request.method not in SAFE_METHODS and not is_same_origin(request):
            raise Forbidden("This request came from another site.")
        request.max_content_length = BODY_LIMIT_BYTES
        request.max_form_parts = FORM_PARTS_LIMIT
        _set_patience(request, STALL_S)

    def finish(response: flask.Response) -> flask.Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if response.mimetype == "text/html":
            policy = PAGE_POLICY.format(scripts=" ".join(app.csp_hashes()))
        else:
            policy = CONTENT_POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        if flask.request.path.startswith(("/api/", "/_dash-update", "/_dash-layout")):
            response.headers.setdefault("Cache-Control", "no-store")
        if response.status_code in REFUSALS and flask.request.method not in SAFE_METHODS:
            response.headers["Connection"] = "close"
        return response

    def forget(_error: BaseException | None) -> None:
        _set_patience(flask.request, None)

    server.teardown_request(forget)
    server.before_request_funcs.setdefault(None, []).insert(0, guard)
    server.after_request(finish)


def _set_patience(request: flask.Request, seconds: float | None) -> None:
    connection = request.environ.get("gunicorn.socket")
    if connection is not None:
        connection.settimeout(seconds)


def is_loopback(host: str) -> bool:
    """Say whether a server that listens on ``host`` can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header, without the port and the brackets of IPv6."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def is_same_origin(request: flask.Request) -> bool:
    """Say whether a request was made by our own pages or by a program that is no browser."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    return urlsplit(origin).netloc.lower() == request.host.lower()
