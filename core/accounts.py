"""Users, their sessions and the keys of their programs: who somebody is, and what they may do.

Secrets are 256 random bits, of which the catalogue holds the SHA-256; of passwords it holds a slow, salted hash. Every
change is told to the log, by names that hold no sign but letters, digits and ``._-``.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import threading
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property

from core.access import current, needs, require
from core.catalog import Catalog
from core.catalog.people.own_data import OwnData
from core.errors import Conflict, Forbidden, InvalidInput, PasswordNeeded, RateLimited, Unauthorized
from core.model import ApiKey, Device, Principal, Role, Session, User
from core.ports import Passwords
from core.second_factors import SecondFactors
from core.sessions import OpenSessions
from core.settings import SecuritySettings
from core.text.language import is_storable
from core.text.password_rules import LONGEST_PASSWORD, new_password

log = logging.getLogger(__name__)

MOST_KEYS = 50
KEY_PREFIX = "evo_"
_SECRET_CHARS = 43
_SHOWN_CHARS = 12
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_KEY_NAME_CHARS = 200
_LONGEST_SESSION = timedelta(days=30)
_NOTED_EVERY = timedelta(minutes=1)
_HASHED_AT_ONCE = 2  # each takes 32 MiB
_HASH_WAIT_S = 10.0
_UNKNOWN = Device()


def _now() -> datetime:
    return datetime.now(UTC)


class Accounts:
    """Who may use the knowledge base; without any user it is open to whoever reaches it."""

    def __init__(
        self,
        catalog: Catalog,
        passwords: Passwords,
        session_hours: float,
        clock: Callable[[], datetime] = _now,
        *,
        confirm_minutes: float = 0.0,
        factor_rule: str = "auto",
    ) -> None:
        self.own_data = OwnData(catalog.database)
        self._users = catalog.users
        self._sessions = catalog.sessions
        self._keys = catalog.keys
        self._passwords = passwords
        self._session_time = timedelta(hours=session_hours)
        self._clock = clock
        self._confirmed_for = timedelta(minutes=confirm_minutes)
        self._hashing = threading.BoundedSemaphore(_HASHED_AT_ONCE)
        self._has_users: bool | None = None
        self.second_factors = SecondFactors(catalog, clock, self.require_recent_password, _note, factor_rule)
        self.sessions = OpenSessions(catalog, clock, self.require_recent_password, _note)

    @classmethod
    def of(cls, catalog: Catalog, passwords: Passwords, settings: SecuritySettings) -> Accounts:
        """Return the accounts of a catalogue as the settings want them."""
        confirm_minutes, factor_rule = settings.confirm_minutes, settings.second_factor
        hours = settings.session_hours
        return cls(catalog, passwords, hours, confirm_minutes=confirm_minutes, factor_rule=factor_rule)

    # ---- users

    def has_users(self) -> bool:
        """Tell whether anybody can sign in; kept in memory, ``follow`` looks at what other processes have changed."""
        if self._has_users is None:
            self._has_users = self._users.any()
        return self._has_users

    def follow(self) -> None:
        """Look again whether anybody can sign in."""
        # Never back: it may have been looked up before this process made the first user.
        if self._users.any():
            self._has_users = True

    def user_id(self, name: str) -> int | None:
        """Return the id of the user with a name, however it is written; None where nobody has it."""
        found = self._users.credentials(_folded(name))
        return None if found is None else found[0].id

    @needs(Role.ADMIN)
    def users(self) -> list[User]:
        return self._users.all()

    @needs(Role.ADMIN)
    def create_user(self, name: str, password: str, role: Role | str = Role.READER) -> User:
        """Add somebody. Raises: ``InvalidInput`` for the name or password, ``Conflict`` for a name that is taken."""
        self.require_recent_password()
        name, role = _user_name(name), _role(role)
        if role is not Role.ADMIN and not self.has_users():
            raise InvalidInput("The first user has to be an administrator.", remedy="Give them the role admin.")
        user = self._users.add(name, role, self._hash(new_password(password, name)))
        self._has_users = True
        _note("user “%s” was made, as %s", name, role)
        return user

    def set_password(self, name: str, password: str, *, present: str | None = None, keep_token: str = "") -> None:
        """Change a password and end the user's sessions, but for that of ``keep_token``.

        An administrator who changes that of somebody else ends their keys, too. Who changes their own gives the
        ``present`` one; that of others needs an administrator.
        Raises: ``NotFound``, ``InvalidInput``, ``Unauthorized`` for a wrong present password.
        """
        who, name = current(), _folded(name)
        if who.user_id is not None and who.name == name:
            if present is None:
                raise InvalidInput("The present password is missing.", remedy="Give it beside the new one.")
            self._verified(name, present)
        else:
            require(Role.ADMIN)
            self.require_recent_password()
        user = self._users.named(name)
        hashed = self._hash(new_password(password, name))
        self._users.change(name, keep_session=_digest(keep_token), password_hash=hashed)
        _note("user “%s” has another password", name)
        if who.name != name:
            # Whoever knew the old password may have made some.
            revoked = self._keys.revoke_all(user.id, self._clock())
            _note("%d keys of “%s” were revoked with that", revoked, name)

    @needs(Role.ADMIN)
    def set_role(self, name: str, role: Role | str) -> User:
        """Give somebody another role, and end their sessions. Raises: ``Conflict`` for the last administrator."""
        self.require_recent_password()
        name, role = _folded(name), _role(role)
        user = self._users.change(name, role=role.value)
        _note("user “%s” is now %s", name, role)
        return user

    @needs(Role.ADMIN)
    def disable(self, name: str, is_disabled: bool = True) -> User:
        """Shut somebody out with their keys, or let them in again. Raises: ``Conflict`` for the last administrator."""
        self.require_recent_password()
        name = _folded(name)
        user = self._users.change(name, is_disabled=is_disabled)
        _note("user “%s” is %s", name, "disabled" if is_disabled else "enabled")
        return user

    @needs(Role.ADMIN)
    def remove(self, name: str) -> None:
        """Remove somebody with their sessions and keys; their private documents stay, for administrators alone.

        Raises: ``Conflict`` for the last administrator.
        """
        self.require_recent_password()
        name = _folded(name)
        self._users.remove(name)
        _note("user “%s” was removed", name)

    # ---- sessions

    def sign_in(
        self, name: str, password: str, *, code: str = "", old_token: str = "", device: Device = _UNKNOWN
    ) -> tuple[str, Session]:
        """Return the token of a new session, which ends that of ``old_token``.

        An unknown name takes as long as a wrong password. Raises: ``Unauthorized``; ``CodeNeeded`` where the user has
        a second factor, with a ticket for ``sign_in_by_code``; ``RateLimited``.
        """
        user = self._verified(_folded(name), password)
        if user.is_disabled:
            raise _refused()
        self.second_factors.check(user, code)
        return self._begin(user, old_token, device)

    def sign_in_by_code(
        self, ticket: str, code: str, *, old_token: str = "", device: Device = _UNKNOWN
    ) -> tuple[str, Session]:
        """Return the token of a new session of who gave the password before. Raises: as ``sign_in`` does."""
        user = self.second_factors.user_of(ticket)
        self.second_factors.check(user, code)
        return self._begin(user, old_token, device)

    def _begin(self, user: User, old_token: str, device: Device) -> tuple[str, Session]:
        if old_token:
            self.sign_out(old_token)
        now = self._clock()
        token, expires_at = _secret(), now + min(self._session_time, _LONGEST_SESSION)
        self._sessions.add(_digest(token), user.id, now, expires_at, device)
        log.info("user “%s” signed in", user.name)
        return token, self.session(token) or Session(_principal(user, now), expires_at)

    def require_recent_password(self) -> None:
        """Raises: ``PasswordNeeded`` where a person who signed in gave their password too long ago."""
        given_at = current().signed_in_at
        if self._confirmed_for and given_at is not None and self._clock() - given_at > self._confirmed_for:
            raise PasswordNeeded("Your password was given too long ago for this.")

    # ---- devices

    def device_token(self, name: str) -> str:
        """Return what a browser shows by which it is known as one of the user's, until they have another password."""
        nonce = secrets.token_urlsafe(16)
        return f"{nonce}.{self._device_mark(_folded(name), nonce)}"

    def is_known_device(self, name: str, token: str) -> bool:
        """Tell whether ``device_token`` was given to whoever shows it, for this user."""
        nonce, _, mark = token.partition(".")
        known = self._device_mark(_folded(name), nonce)
        return bool(known) and hmac.compare_digest(known.encode(), mark.encode("utf-8", "replace"))

    def _device_mark(self, name: str, nonce: str) -> str:
        found = self._users.credentials(name)
        if found is None:
            return ""
        key = hashlib.sha256(b"device " + found[1].encode()).digest()
        return hmac.new(key, f"{found[0].id} {nonce}".encode("utf-8", "replace"), "sha256").hexdigest()

    # ---- sessions that go on

    def session(self, token: str) -> Session | None:
        """Return the session of a token and put off its end; None where it is none, or has expired."""
        found = self._sessions.get(_digest(token)) if token else None
        now = self._clock()
        if found is None or found.expires_at <= now or found.user.is_disabled:
            return None
        expires_at = found.expires_at
        if now - found.seen_at >= _NOTED_EVERY:
            expires_at = min(now + self._session_time, found.created_at + _LONGEST_SESSION)
            self._sessions.touch(_digest(token), found.user.id, now, expires_at)
        lacks_factor = self.second_factors.is_lacking(found.has_factor, found.is_factor_demanded)
        return Session(_principal(found.user, found.created_at), expires_at, lacks_factor)

    def rotate(self, token: str) -> str:
        """Return another token for the same session; the old one ends. Raises: ``Unauthorized``."""
        other = _secret()
        if self.session(token) is None or not self._sessions.rename(_digest(token), _digest(other)):
            raise _refused()
        return other

    def sign_out(self, token: str) -> None:
        self._sessions.remove(_digest(token))

    # ---- keys

    def create_key(
        self, name: str, role: Role | str, expires_at: datetime | None = None, *, user: str | None = None
    ) -> tuple[ApiKey, str]:
        """Return a new key and its secret, which nobody can show again.

        Raises: ``InvalidInput``, ``NotFound``; ``Forbidden`` for a role beyond one's own; ``Conflict`` for too many.
        """
        self.require_recent_password()
        owner, role = self._owner(user), _role(role)
        if not owner.role.includes(role) or not current().role.includes(role):
            raise Forbidden(f"A key of “{owner.name}” cannot have the role {role}.", remedy="Choose a lesser role.")
        shown = " ".join(name.split()) if isinstance(name, str) and is_storable(name) else ""
        if not 0 < len(shown) <= _KEY_NAME_CHARS:
            raise InvalidInput(f"A key has a name of at most {_KEY_NAME_CHARS} characters.")
        now = self._clock()
        if expires_at is not None and (expires_at.tzinfo is None or expires_at <= now):
            raise InvalidInput("A key expires at a moment to come, with its time zone.")
        secret = KEY_PREFIX + _secret()
        key = ApiKey(secrets.token_hex(16), owner.name, shown, role, secret[:_SHOWN_CHARS], now, expires_at)
        if not self._keys.add(owner, _digest(secret), key, MOST_KEYS):
            raise Conflict(
                f"“{owner.name}” has {MOST_KEYS} keys that are valid, and cannot have more.",
                remedy="Revoke a key that is not used any more.",
            )
        _note("key %s of “%s” was made, as %s", key.id, owner.name, role)
        return key, secret

    def keys(self, user: str | None = None) -> list[ApiKey]:
        """Return the keys of one user; of everybody for an administrator who names none. Raises: ``NotFound``."""
        if user is None and current().role is Role.ADMIN:
            return self._keys.all()
        return self._keys.all(self._owner(user).id)

    def revoke(self, key_id: str) -> ApiKey:
        """Make a key useless from now on. Raises: ``NotFound``, as for a key that never was for that of others."""
        who = current()
        key = self._keys.revoke(key_id, None if who.role is Role.ADMIN else self._owner(None).id, self._clock())
        _note("key %s of “%s” was revoked", key.id, key.user)
        return key

    def principal_of_key(self, secret: str) -> Principal | None:
        """Return on whose behalf a key works, with the lesser of its role and its user's; None for a useless one."""
        if not secret.startswith(KEY_PREFIX) or len(secret) != len(KEY_PREFIX) + _SECRET_CHARS:
            return None
        found = self._keys.of_secret(_digest(secret))
        now = self._clock()
        if found is None:
            return None
        key, user = found
        if key.is_revoked or user.is_disabled or (key.expires_at is not None and key.expires_at <= now):
            return None
        if key.last_used_at is None or now - key.last_used_at >= _NOTED_EVERY:
            self._keys.used(key.id, now)
        return Principal(user.name, key.role if user.role.includes(key.role) else user.role, user.id, key.id)

    def _owner(self, name: str | None) -> User:
        """Return whose keys are meant: one's own, or anybody's for an administrator."""
        who = current()
        wanted = who.name if name is None else _folded(name)
        if who.key_id is not None or wanted != who.name:
            require(Role.ADMIN)
        if not wanted:
            raise InvalidInput("A key belongs to a user.", remedy="Name the user.")
        return self._users.named(wanted)

    # ---- passwords

    @cached_property
    def _nobodys(self) -> str:
        return self._hash(_secret())

    def _verified(self, name: str, password: str) -> User:
        nobodys = self._nobodys
        found = self._users.credentials(name)
        hashed = nobodys if found is None else found[1]
        if len(password) > LONGEST_PASSWORD or not is_storable(password):
            password = ""
        with _Turn(self._hashing):
            is_right = self._passwords.verify(unicodedata.normalize("NFKC", password), hashed)
        if found is None or not is_right:
            log.info("a sign-in was refused")
            raise _refused()
        return found[0]

    def _hash(self, password: str) -> str:
        with _Turn(self._hashing):
            return self._passwords.hash(password)


class _Turn:
    """A place among the few that hash at the same time. Raises: ``RateLimited`` where none becomes free."""

    def __init__(self, places: threading.BoundedSemaphore) -> None:
        self._places = places

    def __enter__(self) -> None:
        if not self._places.acquire(timeout=_HASH_WAIT_S):
            raise RateLimited("Too many people are signing in.")

    def __exit__(self, *_: object) -> None:
        self._places.release()


def _principal(user: User, signed_in_at: datetime) -> Principal:
    return Principal(user.name, user.role, user.id, signed_in_at=signed_in_at)


def _refused() -> Unauthorized:
    return Unauthorized("The name or the password is wrong.", remedy="Try again, or ask an administrator.")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().lower() if is_storable(name) else ""


def _user_name(name: str) -> str:
    folded = _folded(name) if isinstance(name, str) else ""
    if not _NAME.fullmatch(folded):
        raise InvalidInput(
            "A user's name has 1 to 64 letters a–z, digits or ._- and begins with a letter or digit.",
            remedy="Choose such a name.",
        )
    return folded


def _role(role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise InvalidInput("There is no such role.", remedy="Choose reader, editor or admin.") from None


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _note(event: str, *values: object) -> None:
    log.info("%s: " + event, current().name or "the process", *values)
