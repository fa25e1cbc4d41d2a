"""Who acts: people, their roles, and the keys of their programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """What somebody may do; each role may do what those before it may."""

    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Tell whether this role may do what ``other`` may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Principal:
    """On whose behalf something is done; the process itself has no user and may do everything."""

    name: str = ""
    role: Role = Role.ADMIN
    user_id: int | None = None
    key_id: str | None = None
    """The key that a program showed, where it was not a person who signed in."""
    signed_in_at: datetime | None = field(default=None, compare=False)
    """When a person gave their password, where they signed in."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who can sign in."""

    id: int
    name: str
    role: Role
    created_at: datetime
    last_seen_at: datetime | None = None
    is_disabled: bool = False
    has_second_factor: bool = False
    """A code is asked for at sign-in."""


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """Whether somebody signs in with a code as well, since when, and how many recovery codes are left."""

    is_on: bool = False
    since: datetime | None = None
    recovery_left: int = 0


@dataclass(frozen=True, slots=True)
class SecondFactorSetup:
    """What an app is given once: the secret in Base32, and an address with it that apps read as a QR code."""

    secret: str
    uri: str


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key of a program, as lists show it; the secret itself is shown once and kept by nobody."""

    id: str
    user: str
    name: str
    role: Role
    """What the key may do at most; its user's role may be less."""
    prefix: str
    """The first characters of the secret, by which people know it again."""
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has signed in, until it expires or they sign out."""

    principal: Principal
    expires_at: datetime
    lacks_factor: bool = False
    """A second factor is demanded, and the user has none: nothing but setting one up is open to them."""


@dataclass(frozen=True, slots=True)
class Device:
    """From where somebody signs in, as far as it is kept: a browser's family with its system, and an address."""

    browser: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class UserSession:
    """A session as lists show it, to its user and to administrators; ``id`` ends it, and opens nothing."""

    id: str
    began_at: datetime
    seen_at: datetime
    """Within a minute."""
    expires_at: datetime
    browser: str = ""
    """Such as ``Firefox on Linux``, empty where it is not known."""
    address: str = ""
    """Where it was begun: an IPv4 address, or the /64 network of an IPv6 one; empty where it is not known."""
    is_present: bool = False
    """It is that of whoever asks."""


@dataclass(frozen=True, slots=True)
class SecondFactorRule:
    """Whether everybody has to have a second factor, and the setting that decides it, if one does."""

    is_demanded: bool = False
    decided_by: str = ""
