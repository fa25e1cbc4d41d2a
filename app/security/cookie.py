"""The cookie by which the server knows again who has signed in.

It is *Lax*, not *Strict*: who follows a link from a mail arrives signed in, and no request that such a link makes can
write, because writes need our own origin.
"""

from __future__ import annotations

import flask

NAME = "evorag_session"
LONGEST = 256
DEVICE_S = 180 * 86_400


def name_of(request: flask.Request) -> str:
    """Return the cookie's name: over https browsers let nobody else on the domain set it."""
    return f"__Host-{NAME}" if request.is_secure else NAME


def token_of(request: flask.Request) -> str | None:
    """Return the token of the session that a request belongs to, None where it belongs to none."""
    token = request.cookies.get(name_of(request), "")
    return token if 0 < len(token) <= LONGEST else None


def keep(response: flask.Response, token: str) -> None:
    """Have the browser send ``token`` from now on, until it is closed."""
    request = flask.request
    response.set_cookie(
        name_of(request), token, path="/", httponly=True, samesite="Lax", secure=request.is_secure, max_age=None
    )


def drop(response: flask.Response) -> None:
    """Have the browser forget its token."""
    request = flask.request
    response.delete_cookie(name_of(request), path="/", httponly=True, samesite="Lax", secure=request.is_secure)


def device_of(request: flask.Request) -> str:
    """Return what a browser shows by which it is known as one of a user's, empty where it shows nothing."""
    token = request.cookies.get(f"{name_of(request)}_device", "")
    return token if len(token) <= LONGEST else ""


def keep_device(response: flask.Response, token: str) -> None:
    """Have the browser show ``token`` at the next sign-ins, also after it was closed."""
    request = flask.request
    response.set_cookie(
        f"{name_of(request)}_device",
        token,
        path="/",
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        max_age=DEVICE_S,
    )
