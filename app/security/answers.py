"""What every answer carries: a strict content security policy, and no word to other sites."""

from __future__ import annotations

from urllib.parse import quote

import flask
from dash import Dash

from app.security.origin import SAFE_METHODS

REFUSALS = frozenset({401, 403, 408, 413, 421, 429, 503})
"""After these the connection is closed, so that no thread waits for a body that nobody wants."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
ONLY_HTTPS = "max-age=31536000"
CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGE_POLICY = (
    "default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
"""Styles stay inline because React, Plotly and AG Grid write style attributes and sheets."""
FAILED_CHARS = 400
"""A header has room for so much of what a callback failed with; the notice says all of it."""
OF_EVERYBODY = ("/assets/", "/_dash-component-suites/", "/_favicon", "/_reload-hash")
"""What is the same for all; browsers and proxies keep nothing else, but for what is asked about each time."""
ASKED_EACH_TIME = "private, no-cache"


def finish(app: Dash, response: flask.Response) -> flask.Response:
    """Put the headers on an answer."""
    request = flask.request
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if response.mimetype == "text/html":
        policy = PAGE_POLICY.format(scripts=" ".join(app.csp_hashes()))
    else:
        policy = CONTENT_POLICY
    response.headers.setdefault("Content-Security-Policy", policy)
    if request.is_secure:
        response.headers.setdefault("Strict-Transport-Security", ONLY_HTTPS)
    if response.status_code == 401:
        response.headers.setdefault("WWW-Authenticate", 'Bearer realm="EvoRAG"')
    is_kept = request.path.startswith(OF_EVERYBODY) or response.headers.get("Cache-Control") == ASKED_EACH_TIME
    if response.status_code in (401, 429) or not is_kept:
        response.headers["Cache-Control"] = "private, no-store"
    if response.status_code in REFUSALS and request.method not in SAFE_METHODS:
        response.headers["Connection"] = "close"
    failed = flask.g.get("evorag_callback_failed")
    if failed:
        response.headers["Callback-Error"] = quote(failed[:FAILED_CHARS])
    wait = flask.g.get("evorag_retry_after")
    if wait and response.status_code == 429:
        response.headers["Retry-After"] = str(wait)
    return response
