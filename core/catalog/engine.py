"""Opens the catalogue's database and gives transactions: many readers, one writer at a time or several side by side."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, insert, make_url, select
from sqlalchemy.exc import DBAPIError

from core.catalog.beside import MOST_PARTS, be_alone, hold
from core.catalog.documents.listed import bring_up_to_date
from core.catalog.jobs.changes import Changes, newest_change, noted
from core.catalog.journal import Journal, Point, acknowledged, point_of
from core.catalog.migrating import NEWEST, known_revision, moved
from core.catalog.revisions import Remembered, Revisions
from core.catalog.schema import index_settings
from core.errors import CatalogDamaged, DiskFull, EvoRAGError, StoreUnavailable

log = logging.getLogger(__name__)

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "cache_size=-16384",
    "soft_heap_limit=100663296",  # of all connections together: their caches give way to one another
    "secure_delete=ON",  # what is purged, or was moved between pages, leaves no copy in the file
    "mmap_size=0",  # mapped pages would count as memory of this process, as many as the file has
)

_UNREADABLE = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS})
_WRITES = {"evorag_write": True}
_BESIDE = {**_WRITES, "evorag_beside": True}
_MOST_BESIDE = 4
"""Transactions of this process that write beside one another; more would only take connections from readers."""
_TRIES = 5
"""How often one that failed of another beside it is begun again before it is alone."""
_SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_AGAIN_S = (0.1, 0.3, 0.6, 1.0)
"""Waits before a server that takes no connection is asked again, so that its restart fails nothing that begins."""
_BUSY_S = 60
_CLEAN = {"key": "secure_delete", "value": "on"}
"""The setting that tells that no page of the file is older than ``secure_delete``, or all were written anew."""


T = TypeVar("T")


class Database:
    """A database with ``read()`` and ``write()`` transactions; a write transaction sees no other writer.

    On SQLite a write begins with ``BEGIN IMMEDIATE`` behind a lock of this process, so that 64 threads queue instead
    of polling a busy file; WAL and ``synchronous=FULL`` make a commit durable when it returns. On PostgreSQL it begins
    with a lock over all processes, and a read sees one snapshot, as it does on SQLite. What ``beside`` writes sees no
    other writer of the parts of the catalogue that it names (``core/catalog/beside.py``).

    Both raise ``StoreUnavailable`` where the server does not answer: nothing of a write stays then, unless the answer
    to its commit was lost. What ``acknowledge`` was called for is in the ``journal`` when ``write`` ends.
    """

    def __init__(self, url: str | URL, journal: Journal | None = None) -> None:
        address = make_url(url)
        self.is_sqlite = address.get_backend_name() == "sqlite"
        self._server = None if self.is_sqlite else _server()
        self.engine = _sqlite(address) if self._server is None else self._server.opened(address)
        event.listen(self.engine, "begin", self._begin)
        self._reads = self.engine if self.is_sqlite else self.engine.execution_options(**_SNAPSHOT)
        self._writes = self.engine.execution_options(**_WRITES)
        self._besides = self.engine.execution_options(**_BESIDE)
        self._sessions = None if self._server is None else self._server.SessionParts(address)
        self._journal = journal
        self.is_damaged = False
        """Whether the file of the catalogue has turned out to be damaged since it was opened."""
        self.is_earlier = False
        """Whether it has not come as far as its data folder has seen it."""
        self._has_list = False
        """Whether the schema is known to be the newest one, which has a list of documents to bring up to date."""
        log_file = Path(f"{address.database or ''}-wal")
        self.ended_unclean = self.is_sqlite and log_file.exists()
        """Whether the last process that had the file open did not close it."""
        self._writer = threading.RLock()
        self._beside = threading.BoundedSemaphore(_MOST_BESIDE)
        self.revisions = Revisions(is_alone=self.is_sqlite)
        self.revisions.watch(self.engine, _is_writing)
        self.remembered = Remembered(self.revisions)
        self.changes = Changes(self._newest_change)
        """The changes of the job ledger, told once they are committed."""
        # A part that nobody is in is forgotten: some are named by ids, of which there is no end.
        self._parts: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._naming = threading.Lock()
        self._claims: set[str] = set()

    def migrate(self) -> None:
        """Bring the schema to the newest migration. Raises: ``Conflict`` where a newer release has written it."""
        with _connected(self._writes) as connection, connection.begin():
            before = known_revision(connection)
            if before != NEWEST:
                moved(connection, "upgrade", NEWEST)
            bring_up_to_date(connection)
            if before is None:
                connection.execute(insert(index_settings).values(_CLEAN))
        self.revisions.ended()
        self._has_list = True
        if self.is_sqlite:
            self._clean()

    def is_to_be_migrated(self) -> bool:
        """Tell whether there is a schema, and it is an earlier one. Raises: as ``migrate`` does."""
        with self.read() as connection:
            current = known_revision(connection)
        return current not in (None, NEWEST)

    def take_back(self, revision: str) -> None:
        """Bring the schema back to an earlier migration, all of it or nothing."""
        with self._writer, _connected(self._writes) as connection, connection.begin():
            moved(connection, "downgrade", revision)
        self.revisions.ended()

    def _clean(self) -> None:
        """Write the file anew if it may hold copies of text that was deleted or moved, and has not been since."""
        with self.read() as connection:
            if connection.scalar(select(index_settings.c.key).where(index_settings.c.key == _CLEAN["key"])):
                return
        try:
            self._act("VACUUM")
            self.truncate_log()
        except (sqlite3.Error, EvoRAGError) as error:
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
        with self._writer:
            connection = self.engine.raw_connection()
            cursor = connection.cursor()
            try:
                cursor.execute(f"PRAGMA busy_timeout={busy_s * 1000}")
                return list(cursor.execute(statement))
            finally:
                cursor.execute(f"PRAGMA busy_timeout={_BUSY_S * 1000}")
                connection.close()

    def begin_journal(self, base: Point | None = None, since: datetime | None = None) -> bool:
        """Have the journal name what came after ``base``, which was at ``since``; without it only what comes now.

        Tell whether the disk took it.
        """
        if self._journal is None:
            return True
        with self.read() as tx:
            now = point_of(tx)
        return self._journal.begin(self.read, base or now, since)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._watched(), _connected(self._reads) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._writing(self._writes, self._writer) as connection:
            yield connection

    def beside(self, parts: Callable[[Connection], Collection[str]], act: Callable[[Connection], T]) -> T:
        """Write what ``act`` does, which touches nothing but ``parts``, beside whatever writes to other parts.

        ``parts`` is asked with other transactions still at work on them, and ``act`` is called when none is any more.
        Both may be called again, with nothing of the call before in the database.
        """
        server, tries = self._server, _TRIES
        while server is not None and tries:
            tries -= 1
            try:
                with self._writing(self._besides, self._beside) as connection:
                    names = parts(connection)
                    if len(names) > MOST_PARTS:
                        break
                    hold(connection, names)
                    server.hold_parts(connection, names)
                    found = act(connection)
                return found
            except DBAPIError as error:
                if not server.is_collision(error):
                    raise
        with self.write() as connection:
            return act(connection)

    @contextmanager
    def _writing(self, engine: Engine, turn: AbstractContextManager[Any]) -> Iterator[Connection]:
        with self._watched(), turn, _connected(engine) as connection:
            try:
                with connection.begin():
                    be_alone(connection)
                    noted(connection)
                    acknowledged(connection)
                    yield connection
                    if self._has_list:
                        bring_up_to_date(connection)
                    change = noted(connection)
                    entries = acknowledged(connection)
            finally:
                self.revisions.ended()
        # Other writers go on meanwhile, and those who wait find their lines written.
        if entries is not None and self._journal is not None:
            self._journal.follow(self.read, entries)
        if change:
            self.changes.committed(change)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except CatalogDamaged:
            self.is_damaged = True
            raise

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Wait until nobody else, in whatever process, is in the part of this name, and hold it."""
        with self._part(name):
            if self._sessions is None:
                yield
                return
            with self._sessions.held(name, wait=True):
                yield

    @contextmanager
    def if_free(self, name: str) -> Iterator[bool]:
        """Hold the part of this name as ``exclusive`` does where nobody has it; give whether that is so."""
        part = self._part(name)
        if not part.acquire(blocking=False):
            yield False
            return
        try:
            if self._sessions is None:
                yield True
                return
            with self._sessions.held(name, wait=False) as has_it:
                yield has_it
        finally:
            part.release()

    @contextmanager
    def claimed(self, names: Sequence[str]) -> Iterator[set[str]]:
        """Hold those of many parts that nobody else, in whatever thread or process, is in, and give them."""
        with self._naming:
            free = set(names) - self._claims
            self._claims |= free
        try:
            if self._sessions is None:
                yield free
                return
            with self._sessions.claimed(list(free)) as held:
                yield held
        finally:
            with self._naming:
                self._claims -= free

    def _part(self, name: str) -> threading.Lock:
        with self._naming:
            return self._parts.setdefault(name, threading.Lock())

    def _newest_change(self) -> int:
        with self.read() as tx:
            return newest_change(tx)

    def close(self) -> None:
        self.engine.dispose()
        if self._journal is not None:
            self._journal.close()
        if self._sessions is not None:
            self._sessions.close()

    def _begin(self, connection: Connection) -> None:
        if self.is_sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if _is_writing(connection) else "BEGIN")
        elif self._server is not None and _is_writing(connection):
            is_beside = connection.get_execution_options().get("evorag_beside")
            (self._server.begin_beside if is_beside else self._server.begin_write)(connection)


def _server() -> ModuleType:
    # Its driver takes a tenth of a second to import, and a catalogue in a file has no use for it.
    from core.catalog import postgresql

    return postgresql


def _is_writing(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("evorag_write"))


def _connected(engine: Engine) -> Connection:
    """Return a connection of an engine. Raises: ``StoreUnavailable``."""
    for wait_s in _AGAIN_S:
        try:
            return engine.connect()
        except CatalogDamaged:
            raise
        except StoreUnavailable:
            time.sleep(wait_s)
    return engine.connect()


def _sqlite(url: URL) -> Engine:
    # The connection that was used last is taken first: it has in its cache what was read last.
    pool = {"pool_size": 16, "max_overflow": 64, "pool_use_lifo": True}
    engine = create_engine(url, **pool, connect_args={"timeout": _BUSY_S}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions by itself: it would begin deferred ones.
        connection.isolation_level = None
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError as error:
            _say(error)
            raise

    @event.listens_for(engine, "handle_error")
    def _meant(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, sqlite3.DatabaseError):
            _say(context.original_exception)

    return engine


def _say(error: sqlite3.DatabaseError) -> None:
    """Say of an error of the file or its disk what it means. Raises: ``CatalogDamaged``, ``DiskFull``."""
    whole_code = getattr(error, "sqlite_errorcode", 0)
    code = whole_code & 0xFF
    if code == sqlite3.SQLITE_FULL:
        raise DiskFull("There is no room on the disk of the catalogue.") from error
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise CatalogDamaged("The catalogue is damaged.") from error
    if whole_code in _UNREADABLE:
        raise CatalogDamaged("The disk gives an error instead of the catalogue.") from error
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        raise DiskFull(
            "The disk of the catalogue takes no writes.",
            remedy="Free space on the disk of the data folder, and see to it that it can be written to.",
        ) from error


def inserted_id(result: Any) -> int:
    """Return the id that the database gave to the one row that was inserted."""
    return int(result.inserted_primary_key[0])
