"""A PostgreSQL server as the catalogue's database: connections, locks over all processes, and what its errors mean."""

from __future__ import annotations

import select
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError, DisconnectionError

from core.errors import CatalogUnavailable, StoreUnavailable

IDLE_WRITE_S = 600
"""Time after which the server takes the lock from a writer that sends nothing, as a process that was frozen."""

_CONNECTIONS, _MORE_CONNECTIONS = 8, 16
_GONE = ("08", "53", "57P", "25006")
"""Beginnings of the codes of a server that is lost, full, shutting down, starting, or a standby now."""

_COLLISIONS = ("40P01", "40001", "23505")
"""Codes of a deadlock, of a serialization failure, and of a row that another transaction has inserted meanwhile."""

_ALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 60_000,
    "options": "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4",
    "application_name": "evorag",
}
"""Both sides notice within a minute that the other one's machine is gone."""


class _Text(StrDumperUnknown):
    """PostgreSQL keeps no NUL in text: each becomes U+FFFD, so that nothing moves and nothing is refused."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\x00", "\ufffd") if "\x00" in obj else obj)


def opened(url: URL) -> Engine:
    """Return the engine of a server; it connects when it is first used, and again after a connection was lost."""
    return _engine(url, pool_size=_CONNECTIONS, max_overflow=_MORE_CONNECTIONS)


def _engine(url: URL, **options: Any) -> Engine:
    address = url.set(drivername="postgresql+psycopg")
    engine = create_engine(address, hide_parameters=True, connect_args=_ALIVE, **options)
    event.listen(engine, "connect", _configure)
    event.listen(engine, "checkout", _look)
    event.listen(engine, "handle_error", _meant)
    return engine


def begin_write(tx: Connection) -> None:
    """Wait until no transaction writes, in whatever process; the end of this one lets the next one in."""
    _begin(tx, "pg_advisory_xact_lock")


def begin_beside(tx: Connection) -> None:
    """Wait until no transaction writes that is to be alone; those that are not may do so at the same time."""
    _begin(tx, "pg_advisory_xact_lock_shared")


def _begin(tx: Connection, lock: str) -> None:
    tx.exec_driver_sql(
        f"SELECT set_config('idle_in_transaction_session_timeout', %s, true), {lock}(%s)",
        (f"{IDLE_WRITE_S}s", _lock_id("write")),
    )


def hold_parts(tx: Connection, names: Collection[str]) -> None:
    """Hold parts until the transaction ends; all take theirs in the same order, so that none wait in a circle."""
    locks = sorted(_lock_id(f"write:{name}") for name in names)
    tx.exec_driver_sql("SELECT pg_advisory_xact_lock(id) FROM unnest(%s::bigint[]) AS id", (locks,))


def is_collision(error: DBAPIError) -> bool:
    """Tell whether a transaction failed of another one beside it, and nothing of it is there."""
    return getattr(error.orig, "sqlstate", None) in _COLLISIONS


class SessionParts:
    """Parts of the program that one session of the server is in at a time.

    A connection that is cut gives its part up: what is done in a part must be right when it is begun again elsewhere.
    """

    def __init__(self, url: URL) -> None:
        self._engine = _engine(url, pool_size=1, max_overflow=-1, isolation_level="AUTOCOMMIT")

    @contextmanager
    def held(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold a part, and give whether it is held: without waiting only where it is free."""
        lock = (_lock_id(f"part:{name}"),)
        with self._engine.connect() as connection:
            has_it = True
            if wait:
                connection.exec_driver_sql("SELECT pg_advisory_lock(%s)", lock)
            else:
                has_it = bool(connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", lock).scalar())
            try:
                yield has_it
            finally:
                if has_it:
                    _release(connection, *lock)

    @contextmanager
    def claimed(self, names: Sequence[str]) -> Iterator[set[str]]:
        """Hold those of many parts that are free, without waiting, and give them."""
        locks = {_lock_id(f"part:{name}"): name for name in names}
        with self._engine.connect() as connection:
            asked = "SELECT id, pg_try_advisory_lock(id) FROM unnest(%s::bigint[]) AS id"
            held = [row[0] for row in connection.exec_driver_sql(asked, (list(locks),)) if row[1]]
            try:
                yield {locks[each] for each in held}
            finally:
                _release(connection, *held)

    def close(self) -> None:
        self._engine.dispose()


def _release(connection: Connection, *locks: int) -> None:
    try:
        connection.exec_driver_sql("SELECT pg_advisory_unlock(id) FROM unnest(%s::bigint[]) AS id", (list(locks),))
    except (StoreUnavailable, DBAPIError):
        connection.invalidate()  # the server releases what a session held


def _lock_id(name: str) -> int:
    return int.from_bytes(blake2b(f"evorag:{name}".encode(), digest_size=8).digest(), "big", signed=True)


def _configure(connection: psycopg.Connection[Any], _record: Any) -> None:
    connection.adapters.register_dumper(str, _Text)


def _look(connection: psycopg.Connection[Any], _record: Any, _proxy: Any) -> None:
    """Refuse a connection on which a server has said something unasked: that it ends. It is not asked for that."""
    said = select.poll()
    said.register(connection.fileno(), select.POLLIN)
    if said.poll(0):
        raise DisconnectionError


def _meant(context: ExceptionContext) -> None:
    """Say of a server that is gone that it is; keep values of rows, which are users' text, out of other errors."""
    error = context.original_exception
    if not isinstance(error, psycopg.Error):
        return
    if context.is_disconnect or context.connection is None or (error.sqlstate or "").startswith(_GONE):
        raise CatalogUnavailable("The server of the catalogue does not answer.") from error
    said = error.diag.message_primary or type(error).__name__
    error.args = (said,)
    if context.sqlalchemy_exception is not None:
        context.sqlalchemy_exception.args = (f"({type(error).__name__}) {said}",)
