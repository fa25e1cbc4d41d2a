"""Second factors in the catalogue: the secret that an app shares, the last step that was used, and recovery codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from core.catalog.engine import Database
from core.catalog.journal import acknowledge, change_of
from core.catalog.schema import index_settings, second_factors, sessions
from core.errors import Conflict

FACTOR_DEMANDED = "second_factor_demanded"
"""A setting of the catalogue that is there where everybody has to have a second factor."""


@dataclass(frozen=True, slots=True)
class FactorRow:
    """What is kept of a factor, which is asked for once it is confirmed; ``recovery`` are hashes in hexadecimal."""

    secret: str
    started_at: datetime
    confirmed_at: datetime | None
    last_step: int
    recovery: tuple[str, ...]


class SecondFactorTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, user_id: int) -> FactorRow | None:
        with self._database.read() as tx:
            return _row(tx, user_id)

    def begin(self, user_id: int, secret: str, now: datetime) -> None:
        """Keep a secret that is not asked for yet, in place of another such. Raises: ``Conflict`` where one is."""
        with self._database.write() as tx:
            known = _row(tx, user_id)
            if known is not None and known.confirmed_at is not None:
                raise Conflict("There is a second factor already.", remedy="Remove it before another one is set up.")
            tx.execute(delete(second_factors).where(second_factors.c.user_id == user_id))
            values = {"user_id": user_id, "secret": secret, "started_at": now, "last_step": 0, "recovery": []}
            tx.execute(insert(second_factors).values(**values))

    def confirm(self, user_id: int, step: int, recovery: Sequence[str], now: datetime, keep_session: bytes) -> bool:
        """Have a factor asked for from now on, and end the user's sessions but one; tell whether one was begun."""
        begun = second_factors.c.user_id == user_id, second_factors.c.confirmed_at.is_(None)
        values = {"confirmed_at": now, "last_step": step, "recovery": list(recovery)}
        with self._database.write() as tx:
            if not tx.execute(update(second_factors).where(*begun).values(**values)).rowcount:
                return False
            acknowledge(tx, change_of(user_id))
            tx.execute(delete(sessions).where(sessions.c.user_id == user_id, sessions.c.token_hash != keep_session))
        return True

    def use_step(self, user_id: int, step: int) -> bool:
        """Take the code of a step; tell whether neither it nor a later one was taken before."""
        earlier = second_factors.c.user_id == user_id, second_factors.c.last_step < step
        with self._database.write() as tx:
            return bool(tx.execute(update(second_factors).where(*earlier).values(last_step=step)).rowcount)

    def use_recovery(self, user_id: int, hashed: str) -> bool:
        """Take a recovery code out; tell whether it was there."""
        with self._database.write() as tx:
            known = _row(tx, user_id)
            if known is None or hashed not in known.recovery:
                return False
            left = [each for each in known.recovery if each != hashed]
            tx.execute(update(second_factors).where(second_factors.c.user_id == user_id).values(recovery=left))
        return True

    def remove(self, user_id: int, *, ends_sessions: bool = False) -> bool:
        """Remove a factor, and on demand all sessions with it; tell whether there was one."""
        with self._database.write() as tx:
            there = tx.execute(delete(second_factors).where(second_factors.c.user_id == user_id)).rowcount
            acknowledge(tx, change_of(user_id))
            if ends_sessions:
                tx.execute(delete(sessions).where(sessions.c.user_id == user_id))
        return bool(there)

    def is_demanded(self) -> bool:
        """Tell whether administrators have chosen that everybody has to have one."""
        with self._database.read() as tx:
            return tx.scalar(select(index_settings.c.key).where(index_settings.c.key == FACTOR_DEMANDED)) is not None

    def demand(self, is_demanded: bool) -> None:
        """Demand a factor of everybody, or of nobody."""
        with self._database.write() as tx:
            tx.execute(delete(index_settings).where(index_settings.c.key == FACTOR_DEMANDED))
            if is_demanded:
                tx.execute(insert(index_settings).values(key=FACTOR_DEMANDED, value="1"))


def _row(tx: Connection, user_id: int) -> FactorRow | None:
    row = tx.execute(select(second_factors).where(second_factors.c.user_id == user_id)).one_or_none()
    if row is None:
        return None
    # What an import brings may be any JSON.
    kept = row.recovery if isinstance(row.recovery, list) else ()
    recovery = tuple(each for each in kept if isinstance(each, str))
    return FactorRow(row.secret, row.started_at, row.confirmed_at, row.last_step, recovery)
