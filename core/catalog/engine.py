"""Opens the catalogue's database and gives transactions: many readers, one writer at a time."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, make_url, select

from core.catalog.schema import index_settings

log = logging.getLogger(__name__)

# Its own start-up is no news to anyone who runs EvoRAG.
logging.getLogger("alembic").setLevel(logging.WARNING)

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "cache_size=-65536",
    "secure_delete=ON",  # what is purged, or was moved between pages, leaves no copy in the file
    "mmap_size=2147483648",  # a question reads a hundred texts; mapped pages are not copied
)

_WRITES = {"evorag_write": True}
_BUSY_S = 60
_CLEAN = {"key": "secure_delete", "value": "on"}
"""The setting that tells that no page of the file is older than ``secure_delete``, or all were written anew."""


class Database:
    """A database with ``read()`` and ``write()`` transactions; a write transaction sees no other writer.

    On SQLite a write begins with ``BEGIN IMMEDIATE`` behind a lock of this process, so that 64 threads queue instead
    of polling a busy file; WAL and ``synchronous=FULL`` make a commit durable when it returns.
    """

    def __init__(self, url: str | URL) -> None:
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        self.engine = _engine(url, self.is_sqlite)
        self._writer = threading.RLock() if self.is_sqlite else None

    def migrate(self) -> None:
        """Bring the schema to the newest migration."""
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.engine.execution_options(**_WRITES).begin() as connection:
            before = MigrationContext.configure(connection).get_current_revision()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if before is None:
                connection.execute(insert(index_settings).values(_CLEAN))
        if self.is_sqlite:
            self._clean()

    def _clean(self) -> None:
        """Write the file anew if it may hold copies of text that was deleted or moved, and has not been since."""
        with self.read() as connection:
            if connection.scalar(select(index_settings.c.key).where(index_settings.c.key == _CLEAN["key"])):
                return
        try:
            self._act("VACUUM")
            self.truncate_log()
        except sqlite3.Error as error:
            log.warning("the catalogue cannot be written anew and is at the next start: %s", error)
            return
        with self.write() as connection:
            connection.execute(insert(index_settings).values(_CLEAN))

    def truncate_log(self) -> bool:
        """Bring what is committed into the database file and empty its log; tell whether it is empty.

        It waits for no reader: meanwhile nobody could write.
        """
        if not self.is_sqlite:
            return True
        busy, *_ = self._act("PRAGMA wal_checkpoint(TRUNCATE)", busy_s=0)[0]
        return not busy

    def _act(self, statement: str, busy_s: int = _BUSY_S) -> list[Any]:
        """Run a statement that no transaction may hold, waiting so long for other connections."""
        with self._writer or nullcontext():
            connection = self.engine.raw_connection()
            cursor = connection.cursor()
            try:
                cursor.execute(f"PRAGMA busy_timeout={busy_s * 1000}")
                return list(cursor.execute(statement))
            finally:
                cursor.execute(f"PRAGMA busy_timeout={_BUSY_S * 1000}")
                connection.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._writer or nullcontext(), self.engine.execution_options(**_WRITES).begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()


def _engine(url: str | URL, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        return create_engine(url, pool_size=16, max_overflow=48, pool_pre_ping=True, hide_parameters=True)
    engine = create_engine(url, pool_size=16, max_overflow=64, connect_args={"timeout": _BUSY_S}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions by itself: it would begin deferred ones.
        connection.isolation_level = None
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("evorag_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def inserted_id(result: Any) -> int:
    """Return the id that the database gave to the one row that was inserted."""
    return int(result.inserted_primary_key[0])
