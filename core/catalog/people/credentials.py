"""Sessions of people and keys of programs, found by the SHA-256 of their secrets; the secrets are kept nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, bindparam, delete, func, insert, or_, select, update

from core.catalog.engine import Database
from core.catalog.journal import acknowledge, revocation
from core.catalog.people.second_factors import FACTOR_DEMANDED
from core.catalog.people.users import user_of
from core.catalog.schema import api_keys, index_settings, second_factors, sessions, users
from core.errors import NotFound
from core.model import ApiKey, Device, Role, User

_SESSION = (
    select(
        users,
        sessions.c.created_at.label("began_at"),
        sessions.c.seen_at,
        sessions.c.expires_at,
        second_factors.c.confirmed_at.label("factor_since"),
        select(index_settings.c.value)
        .where(index_settings.c.key == FACTOR_DEMANDED)
        .scalar_subquery()
        .label("demanded"),
    )
    .join(sessions, sessions.c.user_id == users.c.id)
    .outerjoin(second_factors, second_factors.c.user_id == users.c.id)
    .where(sessions.c.token_hash == bindparam("token_hash"))
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    user: User
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    has_factor: bool
    is_factor_demanded: bool
    """Administrators have chosen so."""


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session among those of its user."""

    token_hash: bytes
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    device: Device


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token_hash: bytes, user_id: int, now: datetime, expires_at: datetime, device: Device) -> None:
        """Begin a session, and forget those of everybody that have expired."""
        values = {"user_id": user_id, "created_at": now, "seen_at": now, "expires_at": expires_at}
        values |= {"browser": device.browser, "address": device.address}
        with self._database.write() as tx:
            tx.execute(delete(sessions).where(sessions.c.expires_at <= now))
            tx.execute(insert(sessions).values(token_hash=token_hash, **values))
            tx.execute(update(users).where(users.c.id == user_id).values(last_seen_at=now))

    def get(self, token_hash: bytes) -> SessionRow | None:
        with self._database.read() as tx:
            row = tx.execute(_SESSION, {"token_hash": token_hash}).one_or_none()
        if row is None:
            return None
        has_factor, is_demanded = row.factor_since is not None, row.demanded is not None
        return SessionRow(user_of(row), row.began_at, row.seen_at, row.expires_at, has_factor, is_demanded)

    def open(self, user_id: int, now: datetime) -> list[OpenSession]:
        """Return the sessions of a user that have not expired, lately seen first."""
        query = select(sessions).where(sessions.c.user_id == user_id, sessions.c.expires_at > now)
        with self._database.read() as tx:
            rows = tx.execute(query.order_by(sessions.c.seen_at.desc(), sessions.c.token_hash)).all()
        return [
            OpenSession(row.token_hash, row.created_at, row.seen_at, row.expires_at, Device(row.browser, row.address))
            for row in rows
        ]

    def touch(self, token_hash: bytes, user_id: int, now: datetime, expires_at: datetime) -> None:
        with self._database.write() as tx:
            values = {"seen_at": now, "expires_at": expires_at}
            tx.execute(update(sessions).where(sessions.c.token_hash == token_hash).values(values))
            tx.execute(update(users).where(users.c.id == user_id).values(last_seen_at=now))

    def rename(self, token_hash: bytes, other: bytes) -> bool:
        """Let a session go on under another token; tell whether it was there."""
        with self._database.write() as tx:
            renamed = update(sessions).where(sessions.c.token_hash == token_hash).values(token_hash=other)
            return bool(tx.execute(renamed).rowcount)

    def remove(self, token_hash: bytes) -> None:
        with self._database.write() as tx:
            tx.execute(delete(sessions).where(sessions.c.token_hash == token_hash))

    def remove_all(self, user_id: int, kept: bytes, now: datetime) -> int:
        """End the sessions of a user but one; return how many had not expired."""
        others = sessions.c.user_id == user_id, sessions.c.token_hash != kept
        with self._database.write() as tx:
            tx.execute(delete(sessions).where(*others, sessions.c.expires_at <= now))
            return int(tx.execute(delete(sessions).where(*others)).rowcount)


class Keys:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, user: User, secret_hash: bytes, key: ApiKey, most: int) -> bool:
        """Add a key unless the user has ``most`` that are valid; tell whether it was."""
        lasts = or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > key.created_at)
        valid = select(func.count()).where(api_keys.c.user_id == user.id, api_keys.c.revoked_at.is_(None), lasts)
        with self._database.write() as tx:
            if (tx.scalar(valid) or 0) >= most:
                return False
            tx.execute(
                insert(api_keys).values(
                    id=key.id,
                    user_id=user.id,
                    name=key.name,
                    role=key.role.value,
                    prefix=key.prefix,
                    secret_hash=secret_hash,
                    created_at=key.created_at,
                    expires_at=key.expires_at,
                )
            )
        return True

    def all(self, user_id: int | None = None) -> list[ApiKey]:
        """Return the keys of one user, or of everybody, newest first."""
        query = _key_rows().order_by(api_keys.c.created_at.desc(), api_keys.c.id)
        if user_id is not None:
            query = query.where(api_keys.c.user_id == user_id)
        with self._database.read() as tx:
            return [_key(row) for row in tx.execute(query)]

    def of_secret(self, secret_hash: bytes) -> tuple[ApiKey, User] | None:
        query = (
            select(users, api_keys.c.id.label("key_id"))
            .join(api_keys, api_keys.c.user_id == users.c.id)
            .where(api_keys.c.secret_hash == secret_hash)
        )
        with self._database.read() as tx:
            row = tx.execute(query).one_or_none()
            if row is None:
                return None
            return _key(tx.execute(_key_rows().where(api_keys.c.id == row.key_id)).one()), user_of(row)

    def used(self, key_id: str, now: datetime) -> None:
        with self._database.write() as tx:
            tx.execute(update(api_keys).where(api_keys.c.id == key_id).values(last_used_at=now))

    def revoke(self, key_id: str, user_id: int | None, now: datetime) -> ApiKey:
        """Make a key useless from now on; ``user_id`` is whose it must be. Raises: ``NotFound``."""
        query = _key_rows().where(api_keys.c.id == key_id)
        if user_id is not None:
            query = query.where(api_keys.c.user_id == user_id)
        with self._database.write() as tx:
            if tx.execute(query).one_or_none() is None:
                raise NotFound("There is no such key.", remedy="Look it up in the list of keys.")
            revoked = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
            tx.execute(revoked.values(revoked_at=now))
            acknowledge(tx, revocation(key_id))
            return _key(tx.execute(query).one())

    def revoke_all(self, user_id: int, now: datetime) -> int:
        """Make all keys of a user useless from now on; return how many were not."""
        valid = api_keys.c.user_id == user_id, api_keys.c.revoked_at.is_(None)
        with self._database.write() as tx:
            ids = list(tx.scalars(select(api_keys.c.id).where(*valid)))
            if ids:
                tx.execute(update(api_keys).where(*valid).values(revoked_at=now))
                acknowledge(tx, *map(revocation, ids))
        return len(ids)


def _key_rows() -> Select[Any]:
    return select(api_keys, users.c.name.label("user_name")).join(users, users.c.id == api_keys.c.user_id)


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        user=row.user_name,
        name=row.name,
        role=Role(row.role),
        prefix=row.prefix,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        is_revoked=row.revoked_at is not None,
    )
