"""On whose behalf a request is made: by key, by session, or by whoever reaches a server that is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import flask

from app.security import cookie
from app.security.proxies import LOOPBACK_NAMES, UNKNOWN_PROXY, host_name, is_loopback
from core.model import Principal, Role

if TYPE_CHECKING:
    from core import KnowledgeBase

ANYBODY = Principal()
"""Who uses an open server has no name and may do everything."""

NOBODY = Principal(name="nobody", role=Role.READER, user_id=-1)
"""On whose behalf the server works before it knows who asks."""

SCHEME = "bearer"
LONGEST_KEY = 256


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and how that is known."""

    principal: Principal
    way: Literal["key", "session", "open"]
    lacks_factor: bool = False
    """They have signed in, and nothing is open to them before they have set up a second factor."""


def caller_of(request: flask.Request, kb: KnowledgeBase) -> Caller | None:
    """Return who asks, None where nobody can tell; a key that is not valid is never replaced by anything else."""
    scheme, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
    if scheme.lower() == SCHEME:
        known = kb.accounts.principal_of_key(secret.strip()) if 0 < len(secret) <= LONGEST_KEY else None
        return Caller(known, "key") if known else None
    token = cookie.token_of(request)
    session = kb.accounts.session(token) if token else None
    if session is not None:
        return Caller(session.principal, "session", session.lacks_factor)
    return Caller(ANYBODY, "open") if is_open(request, kb) else None


def is_open(request: flask.Request, kb: KnowledgeBase) -> bool:
    """Say whether whoever asks may do everything without saying who it is."""
    access = kb.settings.security.access
    if access != "auto":
        return access == "open"
    is_local = is_loopback(request.remote_addr or "") and host_name(request.host) in LOOPBACK_NAMES
    # A proxy on this machine makes strangers look like somebody at it.
    is_local = is_local and UNKNOWN_PROXY not in request.environ
    return is_local and is_loopback(kb.settings.server.host) and not kb.accounts.has_users()
