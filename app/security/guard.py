"""Stands before every request: nothing is reached by somebody who is not known, or whose role is too little.

- A server answers only to its own names: those of this machine on the loopback address, else ``public_names``.
- Who asks is told by a key, a session or an open server. Without one only the sign-in page, its own files and what
  says of itself that it is open are there; a key in the address is no key.
- Writes with a session come from our own pages: ``Sec-Fetch-Site`` where the browser sends it, else ``Origin``.
- Bodies are limited to 1 MB; routes of uploads raise that for themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import flask
from dash import Dash, page_registry
from werkzeug.exceptions import Forbidden, MisdirectedRequest

from app import links
from app.api.description.describe import operation_of
from app.security import sockets
from app.security.answers import finish
from app.security.authenticate import Caller, caller_of
from app.security.callbacks import refuse_strange
from app.security.origin import SAFE_METHODS, is_same_origin, is_socket
from app.security.principal import PrincipalMiddleware
from app.security.proxies import (
    LOOPBACK_NAMES,
    UNKNOWN_PROXY,
    Forwarded,
    host_name,
    is_loopback,
    listed,
    networks,
    site_of,
)
from app.security.public_paths import OPEN
from app.security.rates import KEY, Rates, stranger, user
from core import access
from core.errors import FactorNeeded, RateLimited, Unauthorized

if TYPE_CHECKING:
    from core import KnowledgeBase

BODY_LIMIT_BYTES = 1_000_000
FORM_PARTS_LIMIT = 64
FREE = ("/assets/", "/_dash-component-suites/")
"""Files of the pages do not count as requests."""
NO_PAGES = ("/api", "/health", "/assets/", "/_dash")
"""What programs and scripts ask for, and nobody reads."""
UNTIL_SET_UP = (links.SET_UP, links.SIGN_OUT)
"""What is there, beside what is open to all, for who has to set up a second factor first."""
ALIVE = ("/health/live", "/api/v1/health/live")


def protect(app: Dash, kb: KnowledgeBase) -> None:
    """Put the guards before, and the headers after, every request of ``app``."""
    server = app.server
    security, stores = kb.settings.security, kb.settings.stores
    redis = stores.jobs_url.get_secret_value() if stores.is_shared else ""
    counts = Rates(security.rate_limit, security.sign_in_limit, redis, stores.index_name)
    names = _names(kb.settings.server.host, security.public_names)

    def guard() -> flask.typing.ResponseReturnValue | None:
        request = flask.request
        request.max_content_length = BODY_LIMIT_BYTES
        request.max_form_parts = FORM_PARTS_LIMIT
        if names and host_name(request.host) not in names:
            raise MisdirectedRequest("This server does not answer to that name.")
        if request.path in ALIVE:
            # Whoever restarts processes must not do so because the catalogue, where callers stand, is down.
            return None
        caller = caller_of(request, kb)
        _count(counts, caller, request)
        if caller is None:
            return _without_caller(request)
        if _needs_own_origin(caller, request) and not is_same_origin(request, unknown=caller.way == "open"):
            raise Forbidden("This request came from another site.")
        flask.g.evorag_caller = caller
        if caller.lacks_factor and request.path not in OPEN and request.path not in UNTIL_SET_UP:
            return _without_factor(request)
        access.begin(caller.principal)
        described = operation_of(server.view_functions.get(request.endpoint or ""))
        if described is not None:
            access.require(described.role)
        return None

    server.extensions[KEY] = counts
    server.before_request_funcs.setdefault(None, []).insert(0, guard)
    # Dash lists its callbacks before the first request, in a function that stands between the two.
    server.before_request(lambda: refuse_strange(app))
    server.after_request(lambda response: finish(app, response))
    server.wsgi_app = PrincipalMiddleware(Forwarded(server.wsgi_app, networks(security.trusted_proxies)))  # type: ignore[method-assign]


def _names(host: str, public_names: str) -> frozenset[str]:
    """The names that requests may be for; none where any will do."""
    public = listed(public_names)
    return LOOPBACK_NAMES.union(public) if public or is_loopback(host) else frozenset()


def _needs_own_origin(caller: Caller, request: flask.Request) -> bool:
    return caller.way != "key" and (request.method not in SAFE_METHODS or is_socket(request))


def _count(counts: Rates, caller: Caller | None, request: flask.Request) -> None:
    """Count the request against who makes it. Raises: ``RateLimited``."""
    address = request.remote_addr or ""
    if request.path.startswith(FREE) or (caller is not None and caller.way == "open" and is_loopback(address)):
        return
    principal = caller.principal if caller is not None else None
    if principal is None or principal.user_id is None:
        who = stranger("address", site_of(address))
    else:
        who = user(principal.user_id, by_key=principal.key_id is not None)
    wait = counts.ask(who)
    if wait:
        flask.g.evorag_retry_after = wait
        raise RateLimited("Too many requests in one minute.")


def _without_caller(request: flask.Request) -> flask.typing.ResponseReturnValue | None:
    """What somebody gets whom nobody knows. Raises: ``Unauthorized``."""
    described = operation_of(flask.current_app.view_functions.get(request.endpoint or ""))
    if request.path in OPEN or (described is not None and described.is_open):
        if request.method not in SAFE_METHODS and not is_same_origin(request):
            raise Forbidden("This request came from another site.")
        return None
    if is_socket(request):
        closed = sockets.refuse(request, sockets.UNAUTHORIZED, "Sign in, or send a valid key.")
        if closed is not None:
            return closed
    if _is_page(request):
        return flask.redirect(links.sign_in(_address(request)))
    flask.g.evorag_for_programs = True
    if UNKNOWN_PROXY in request.environ:
        raise Unauthorized(
            "This request came through a proxy that the server does not know, so that it is not open to it.",
            remedy="Make a user, and name the proxy in EVORAG_TRUSTED_PROXIES; then sign in, or send a valid key.",
        )
    raise Unauthorized("Nobody can tell who asks.")


def _without_factor(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """What somebody gets who has signed in and needs a second factor. Raises: ``FactorNeeded``."""
    if is_socket(request):
        closed = sockets.refuse(request, sockets.UNAUTHORIZED, "Set up a second factor.")
        if closed is not None:
            return closed
    if _is_page(request):
        return flask.redirect(links.set_up(_address(request)))
    raise FactorNeeded("A second factor is needed here, and you have none yet.")


def _address(request: flask.Request) -> str:
    return request.full_path if request.query_string else request.path


def _is_page(request: flask.Request) -> bool:
    """Say whether a browser asks for a page that it wants to show."""
    if request.path == links.SIGN_OUT:
        return True
    if request.method not in ("GET", "HEAD"):
        return False
    if request.path == links.SET_UP:
        return True
    wants = request.headers.get("Sec-Fetch-Dest")
    known = {page["path"].split("/")[1] for page in page_registry.values()}
    if request.path.split("/")[1] in known:
        return wants in (None, "document")
    # Whoever mistypes an address signs in, and is then told so in the window.
    return wants == "document" and not request.path.startswith(NO_PAGES)
