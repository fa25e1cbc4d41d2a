"""The sessions that are open: whoever has signed in sees their own and ends them, administrators those of anybody.

A session is named by a digest of the digest that the catalogue keeps of its token, so that its name opens nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime

from core.access import current, require
from core.catalog import Catalog
from core.catalog.people.credentials import OpenSession
from core.errors import Forbidden, NotFound
from core.model import Principal, Role, User, UserSession

_ID_CHARS = 32


class OpenSessions:
    """The open sessions of one user, told and ended; somebody else's are as if they were not there."""

    def __init__(
        self,
        catalog: Catalog,
        clock: Callable[[], datetime],
        require_recent_password: Callable[[], None],
        note: Callable[..., None],
    ) -> None:
        self._sessions = catalog.sessions
        self._users = catalog.users
        self._clock = clock
        self._require_recent_password = require_recent_password
        self._note = note

    def all(self, user: str | None = None, *, token: str = "") -> list[UserSession]:
        """Return one's own sessions, or a user's to an administrator, lately seen first; ``token`` is of the present.

        Keys of programs have none of their own. Raises: ``Forbidden`` for another user's, ``NotFound``.
        """
        if user is None and not _is_person(current()):
            return []
        present = id_of(hashlib.sha256(token.encode("utf-8", "replace")).digest())
        return [_shown(each, present) for each in self._sessions.open(self._owner(user).id, self._clock())]

    def end(self, session_id: str, user: str | None = None) -> None:
        """End one session. Raises: ``NotFound``, as for one that never was; ``PasswordNeeded``, ``Forbidden``."""
        owner = self._owner(user)
        self._require_recent_password()
        known = (each.token_hash for each in self._sessions.open(owner.id, self._clock()))
        found = next((each for each in known if id_of(each) == session_id), None)
        if found is None:
            raise NotFound("There is no such session.", remedy="Look it up in the list of sessions.")
        self._sessions.remove(found)
        self._note("a session of “%s” was ended", owner.name)

    def end_all(self, user: str | None = None, *, keep_token: str = "") -> int:
        """End all sessions but that of ``keep_token``; return how many ended. Raises: as ``end`` does."""
        owner = self._owner(user)
        self._require_recent_password()
        kept = hashlib.sha256(keep_token.encode("utf-8", "replace")).digest()
        ended = self._sessions.remove_all(owner.id, kept, self._clock())
        self._note("%d sessions of “%s” were ended", ended, owner.name)
        return ended

    def _owner(self, user: str | None) -> User:
        """Return whose sessions are meant. Raises: ``Forbidden``, ``NotFound``."""
        who = current()
        is_person = _is_person(who)
        if user is None and not is_person:
            raise Forbidden("A session is a person's who has signed in.", remedy="Sign in with your password.")
        if user is not None and (user != who.name or not is_person):
            require(Role.ADMIN)
        return self._users.named(who.name if user is None else user)


def _is_person(who: Principal) -> bool:
    return who.user_id is not None and who.key_id is None


def id_of(token_hash: bytes) -> str:
    """Return the name of a session."""
    return hashlib.sha256(b"session " + token_hash).hexdigest()[:_ID_CHARS]


def _shown(session: OpenSession, present: str) -> UserSession:
    name = id_of(session.token_hash)
    return UserSession(
        id=name,
        began_at=session.created_at,
        seen_at=session.seen_at,
        expires_at=session.expires_at,
        browser=session.device.browser,
        address=session.device.address,
        is_present=name == present,
    )
