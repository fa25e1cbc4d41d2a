"""The second factor at sign-in, which a user may set up: codes of an app, and recovery codes for when it is lost.

An app and the catalogue share a secret, from which both reckon a code every thirty seconds. Ten lines of ``hmac`` do
that, so that no package of others sees the secret. A code is taken once. Recovery codes are taken once each; they have
120 random bits, so that a fast hash of them tells nobody anything.

*Source*: M'Raihi, Machani, Pei and Rydell, RFC 6238, "TOTP: Time-Based One-Time Password Algorithm", 2011.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import quote

from core.access import current, needs
from core.catalog import Catalog
from core.errors import CodeNeeded, Conflict, Forbidden, Unauthorized, WrongCode
from core.model import Role, SecondFactor, SecondFactorRule, SecondFactorSetup, User

STEP_S = 30
DIGITS = 6
_DRIFT = 1
"""Steps that the clock of an app may be early or late."""
_SECRET_BYTES = 20
_RECOVERY_CODES = 10
_RECOVERY_BYTES = 15
_RECOVERY_CHARS = 24
_GROUP = 6
_SETUP_TIME = timedelta(minutes=15)
_TICKET_S = 300
_ISSUER = "EvoRAG"
_VARIABLE = "EVORAG_SECOND_FACTOR"


class SecondFactors:
    """The second factors of the users; one's own is changed by who has signed in and gave the password lately."""

    def __init__(
        self,
        catalog: Catalog,
        clock: Callable[[], datetime],
        require_recent_password: Callable[[], None],
        note: Callable[..., None],
        rule: str,
    ) -> None:
        """``rule`` is ``required`` or ``optional``; ``auto`` leaves it to administrators."""
        self._table = catalog.second_factors
        self._users = catalog.users
        self._clock = clock
        self._require_recent_password = require_recent_password
        self._note = note
        self._rule = rule

    # ---- one's own

    def own(self) -> SecondFactor:
        """Return whether whoever acts has a factor that is asked for, since when, and how many codes are left."""
        known = self._table.get(current().user_id or 0)
        if known is None or known.confirmed_at is None:
            return SecondFactor()
        return SecondFactor(True, known.confirmed_at, len(known.recovery))

    def begin(self) -> SecondFactorSetup:
        """Return a new secret for an app; it is asked for once ``confirm`` has had a code of it.

        Raises: ``Conflict`` where there is a factor, ``Forbidden`` to keys, ``PasswordNeeded``.
        """
        user_id, name = self._person()
        secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")
        self._table.begin(user_id, secret, self._clock())
        label = quote(f"{_ISSUER}:{name}", safe="")
        uri = f"otpauth://totp/{label}?secret={secret}&issuer={_ISSUER}&algorithm=SHA1&digits={DIGITS}&period={STEP_S}"
        return SecondFactorSetup(secret, uri)

    def confirm(self, code: str, *, keep_token: str = "") -> list[str]:
        """Have the factor that was begun asked for from now on; return recovery codes, which nobody can show again.

        All sessions of the user end, but for that of ``keep_token``. Raises: ``Unauthorized`` for a wrong code;
        ``Conflict`` where none was begun lately; what ``begin`` raises.
        """
        user_id, name = self._person()
        known, now = self._table.get(user_id), self._clock()
        if known is None or known.confirmed_at is not None or now - known.started_at > _SETUP_TIME:
            raise Conflict("No second factor was begun lately.", remedy="Begin anew.")
        step = _step_of(known.secret, _plain(code), now)
        if step is None:
            raise _wrong()
        codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode("ascii") for _ in range(_RECOVERY_CODES)]
        kept = hashlib.sha256(keep_token.encode("utf-8", "replace")).digest()
        if not self._table.confirm(user_id, step, [_hashed(each) for each in codes], now, kept):
            raise Conflict("No second factor was begun lately.", remedy="Begin anew.")
        self._note("user “%s” has a second factor", name)
        return ["-".join(each[at : at + _GROUP] for at in range(0, len(each), _GROUP)) for each in codes]

    def remove(self, code: str) -> None:
        """Ask whoever acts for no second factor any more. Raises: ``Unauthorized`` for a wrong code, …"""
        user_id, name = self._person()
        if not self._takes(user_id, code):
            raise _wrong()
        self._table.remove(user_id)
        self._note("user “%s” has no second factor any more", name)

    # ---- everybody's

    @needs(Role.ADMIN)
    def reset(self, name: str) -> None:
        """Remove the second factor of somebody who has lost it, and end their sessions. Raises: ``NotFound``."""
        self._require_recent_password()
        user = self._users.named(name)
        self._table.remove(user.id, ends_sessions=True)
        self._note("user “%s” has no second factor any more", name)

    def rule(self) -> SecondFactorRule:
        """Return whether everybody has to have one; the setting wins over what administrators have chosen."""
        if self._rule != "auto":
            return SecondFactorRule(self._rule == "required", _VARIABLE)
        return SecondFactorRule(self._table.is_demanded())

    @needs(Role.ADMIN)
    def demand(self, is_demanded: bool) -> SecondFactorRule:
        """Demand one of everybody who signs in, or of nobody: who has none reaches nothing but the page to set it up.

        Raises: ``Conflict`` where the setting decides it, ``PasswordNeeded``.
        """
        self._require_recent_password()
        if self._rule != "auto":
            raise Conflict(f"{_VARIABLE} decides it, and wins.", remedy=f"Remove {_VARIABLE}, and start again.")
        self._table.demand(is_demanded)
        self._note("second factors are %s", "demanded of everybody" if is_demanded else "everybody's own choice")
        return self.rule()

    def is_lacking(self, has_factor: bool, is_chosen: bool) -> bool:
        """Tell whether somebody needs a factor that they do not have, where administrators chose so or did not."""
        is_demanded = is_chosen if self._rule == "auto" else self._rule == "required"
        return is_demanded and not has_factor

    # ---- signing in

    def is_asked_for(self, user: User) -> bool:
        """Tell whether a user signs in with a code."""
        known = self._table.get(user.id)
        return known is not None and known.confirmed_at is not None

    def check(self, user: User, code: str) -> None:
        """Take a code of a user who has a factor. Raises: ``CodeNeeded`` without one, ``Unauthorized``."""
        if not self.is_asked_for(user):
            return
        if not code.strip():
            raise CodeNeeded("The code of your second factor is missing.", ticket=self._ticket(user.name))
        if not self._takes(user.id, code):
            raise _wrong()

    def user_of(self, ticket: str) -> User:
        """Return who gave a password within five minutes and was told ``ticket``. Raises: ``Unauthorized``."""
        until, _, name = ticket.partition(":")[2].partition(":")
        found = self._users.credentials(name)
        mark, told = self._mark(name, until), ticket.partition(":")[0]
        # Who has no factor has no mark: none is no mark of theirs.
        is_ours = bool(mark) and hmac.compare_digest(mark.encode(), told.encode("utf-8", "replace"))
        is_late = not (until.isascii() and until.isdigit()) or float(until[:12]) < self._clock().timestamp()
        if found is None or not is_ours or is_late or found[0].is_disabled:
            raise Unauthorized("The password was given too long ago.", remedy="Sign in again.")
        return found[0]

    def is_valid(self, ticket: str) -> bool:
        """Tell whether ``user_of`` knows whose a ticket is."""
        try:
            return self.user_of(ticket) is not None
        except Unauthorized:
            return False

    def _ticket(self, name: str) -> str:
        until = str(int(self._clock().timestamp()) + _TICKET_S)
        return f"{self._mark(name, until)}:{until}:{name}"

    def _mark(self, name: str, until: str) -> str:
        """Return what nobody knows but who reads the catalogue; another password, or factor, makes it another one."""
        found = self._users.credentials(name)
        known = self._table.get(found[0].id) if found is not None else None
        if found is None or known is None or known.confirmed_at is None:
            return ""
        key = hashlib.sha256(f"second step {found[1]} {known.secret}".encode()).digest()
        return hmac.new(key, f"{found[0].id} {until}".encode("utf-8", "replace"), "sha256").hexdigest()

    def _takes(self, user_id: int, code: str) -> bool:
        known, plain = self._table.get(user_id), _plain(code)
        if known is None or known.confirmed_at is None:
            return False
        if len(plain) == _RECOVERY_CHARS:
            return self._table.use_recovery(user_id, _hashed(plain))
        step = _step_of(known.secret, plain, self._clock())
        return step is not None and self._table.use_step(user_id, step)

    def _person(self) -> tuple[int, str]:
        who = current()
        if who.user_id is None or who.key_id is not None:
            raise Forbidden("A second factor is a person's who has signed in.", remedy="Sign in with your password.")
        self._require_recent_password()
        return who.user_id, who.name


def code_of(secret: str, step: int) -> str:
    """Return the code of a step, which counts periods of thirty seconds since 1970."""
    digest = hmac.new(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1").digest()
    at = digest[-1] & 15
    number = int.from_bytes(digest[at : at + 4], "big") & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the step near this moment whose code this is."""
    present = int(now.timestamp()) // STEP_S
    steps = range(present + _DRIFT, present - _DRIFT - 1, -1)
    found = [step for step in steps if hmac.compare_digest(code_of(secret, step).encode(), code.encode())]
    return found[0] if found else None


def _plain(code: str) -> str:
    """Return a code as it is compared, however people group it, or their keyboard widens it."""
    wide = unicodedata.normalize("NFKC", code[:100]).upper()
    return "".join(sign for sign in wide if sign.isascii() and sign.isalnum())


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _wrong() -> WrongCode:
    return WrongCode("The code is wrong, or was used already.")
