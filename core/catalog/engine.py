"""Opens the catalogue's database and gives transactions: many readers, one writer at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url

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
_WITHOUT_SECURE_DELETE = "0001"
"""The schema whose files may hold copies of text that was deleted or moved."""
_LOG_ATTEMPTS = 50
_LOG_PAUSE_S = 0.1


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
        if self.is_sqlite and before == _WITHOUT_SECURE_DELETE:
            self._act("VACUUM")

    def truncate_log(self) -> bool:
        """Bring what is committed into the database file and empty its log; tell whether it is empty."""
        if not self.is_sqlite:
            return True
        for _ in range(_LOG_ATTEMPTS):
            busy, *_ = self._act("PRAGMA wal_checkpoint(TRUNCATE)")[0]
            if not busy:
                return True
            time.sleep(_LOG_PAUSE_S)
        return False

    def _act(self, statement: str) -> list[Any]:
        """Run a statement that no transaction may hold."""
        with self._writer or nullcontext():
            connection = self.engine.raw_connection()
            try:
                return list(connection.cursor().execute(statement))
            finally:
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
    engine = create_engine(url, pool_size=16, max_overflow=64, connect_args={"timeout": 60.0}, hide_parameters=True)

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
