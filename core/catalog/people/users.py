"""People who can sign in: their rows, and the rule that somebody who can administer stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from core.catalog.engine import Database, inserted_id
from core.catalog.journal import acknowledge, change_of
from core.catalog.schema import documents, second_factors, sessions, users
from core.errors import Conflict, NotFound
from core.model import Role, User


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    def any(self) -> bool:
        with self._database.read() as tx:
            return tx.scalar(select(users.c.id).limit(1)) is not None

    def all(self) -> list[User]:
        """Return everybody, by name."""
        with self._database.read() as tx:
            guarded = set(
                tx.scalars(select(second_factors.c.user_id).where(second_factors.c.confirmed_at.is_not(None)))
            )
            rows = tx.execute(select(users).order_by(users.c.name))
            return [replace(user_of(row), has_second_factor=row.id in guarded) for row in rows]

    def named(self, name: str) -> User:
        """Return one user. Raises: ``NotFound``."""
        with self._database.read() as tx:
            return user_of(_row(tx, name))

    def credentials(self, name: str) -> tuple[User, str] | None:
        """Return a user and the hash of their password; None where there is nobody of that name."""
        with self._database.read() as tx:
            row = tx.execute(select(users).where(users.c.name == name)).one_or_none()
        return None if row is None else (user_of(row), row.password_hash)

    def add(self, name: str, role: Role, password_hash: str) -> User:
        """Add somebody.

        Raises: ``Conflict`` where the name is taken, or documents of somebody who had it before are kept.
        """
        created_at = datetime.now(UTC)
        values = {"name": name, "role": role.value, "password_hash": password_hash, "created_at": created_at}
        try:
            with self._database.write() as tx:
                left = select(documents.c.id).where(documents.c.doc_key.startswith(f"~{name}/", autoescape=True))
                if tx.scalar(left.limit(1)) is not None:
                    raise Conflict(
                        f"Documents of somebody who was called “{name}” are still kept.", remedy="Choose another name."
                    )
                user_id = inserted_id(tx.execute(insert(users).values({**values, "is_disabled": False})))
        except IntegrityError:
            raise Conflict(f"There is a user “{name}” already.", remedy="Choose another name.") from None
        return User(user_id, name, role, created_at)

    def change(self, name: str, *, keep_session: bytes = b"", **values: Any) -> User:
        """Change columns of a user and end their sessions but one. Raises: ``NotFound``, ``Conflict``."""
        with self._database.write() as tx:
            user_id = _row(tx, name).id
            acknowledge(tx, change_of(user_id))
            tx.execute(update(users).where(users.c.id == user_id).values(**values))
            _keep_an_administrator(tx)
            tx.execute(delete(sessions).where(sessions.c.user_id == user_id, sessions.c.token_hash != keep_session))
            return user_of(_row(tx, name))

    def remove(self, name: str) -> None:
        """Remove a user with their sessions and keys. Raises: ``NotFound``, ``Conflict``."""
        with self._database.write() as tx:
            user_id = _row(tx, name).id
            tx.execute(delete(users).where(users.c.id == user_id))
            acknowledge(tx, change_of(user_id))
            _keep_an_administrator(tx)


def _row(tx: Connection, name: str) -> Row[Any]:
    row = tx.execute(select(users).where(users.c.name == name)).one_or_none()
    if row is None:
        raise NotFound(f"There is no user “{name}”.", remedy="Look them up in the list of users.")
    return row


def _keep_an_administrator(tx: Connection) -> None:
    able = select(func.count()).where(users.c.role == Role.ADMIN.value, users.c.is_disabled.is_(False))
    if not tx.scalar(able):
        raise Conflict(
            "This is the last administrator who can sign in.", remedy="Make somebody else an administrator first."
        )


def user_of(row: Row[Any]) -> User:
    return User(row.id, row.name, Role(row.role), row.created_at, row.last_seen_at, row.is_disabled)
