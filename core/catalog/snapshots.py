"""Snapshots of a catalogue that is a file: copies of one moment, checked, of which the two newest are kept.

SQLite's backup makes them while everything goes on. A purge removes all of them, since they hold what it removed, and
with them what a recovery has set aside and what killed processes have left of either. What became of the catalogue
after the newest one is in the journal, which goes back to the older one.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from core.catalog.engine import Database
from core.catalog.journal import Point
from core.errors import CatalogDamaged, DiskFull, EvoRAGError, NotFound
from core.platform.data_folder import DataFolder
from core.platform.durable import sync

log = logging.getLogger(__name__)

_KEPT = 2
_PAGES_AT_ONCE = 1_000
_PAUSE_S = 0.02
_BUSY_S = 60
_LOGS = ("-wal", "-shm")
_NEW = ".new"
_NAMED = "%Y%m%dT%H%M%S.%fZ"
_ASIDE = "damaged"


def is_sound(catalog: Path) -> bool:
    """Read every page of a catalogue that is a file; tell whether SQLite finds nothing wrong with them."""
    try:
        with closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True, timeout=_BUSY_S)) as file:
            return [row[0] for row in file.execute("PRAGMA quick_check(1)")] == ["ok"]
    except sqlite3.DatabaseError:
        return False


def point_in(catalog: Path) -> Point | None:
    """Return how far a catalogue that is a file has come, None where it cannot be read."""
    newest = "SELECT (SELECT max(id) FROM versions), (SELECT max(seq) FROM publications)"
    try:
        with closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True, timeout=_BUSY_S)) as file:
            version, sequence = file.execute(newest).fetchone()
    except sqlite3.DatabaseError:
        return None
    return Point(version or 0, sequence or 0)


class Snapshots:
    """The snapshots below the data folder; ``every_s`` is their distance in seconds, 0 where none are made."""

    def __init__(
        self,
        folder: DataFolder,
        every_s: float = 0.0,
        database: Database | None = None,
    ) -> None:
        """The open ``database`` of the folder is told where a look at it finds damage, and its journal begins anew."""
        self._database = database
        self._is_unchecked = database is not None and database.ended_unclean
        self._folder = folder.root / "snapshots"
        self._catalog = folder.catalog_file
        self._every_s = every_s
        self._changing = threading.Lock()

    def paths(self) -> list[Path]:
        """Return the snapshots, newest first."""
        return sorted(self._folder.glob("*.db"), reverse=True)

    def take_if_due(self) -> None:
        """Take a snapshot where the newest is old enough; where that fails the log says so.

        A catalogue that the last process did not close is read whole first.
        """
        if self._is_unchecked:
            self._is_unchecked = False
            if not is_sound(self._catalog):
                self._say_damaged()
        newest = next(iter(self.paths()), None)
        if not self._every_s or (newest is not None and time.time() - newest.stat().st_mtime < self._every_s):
            return
        try:
            self.take()
        except (EvoRAGError, OSError, sqlite3.Error) as error:
            log.warning("no snapshot of the catalogue could be taken (%s)", type(error).__name__)
            if isinstance(error, CatalogDamaged):
                self._say_damaged()

    def _say_damaged(self) -> None:
        log.error("the catalogue is damaged. %s", CatalogDamaged.remedy)
        if self._database is not None:
            self._database.is_damaged = True

    def take(self) -> Path:
        """Copy the catalogue as it is now, and keep the two newest copies.

        Raises: ``CatalogDamaged`` where the copy is not sound: then the earlier ones stay.
        """
        with self._changing:
            self._folder.mkdir(exist_ok=True)
            name = datetime.now(UTC).strftime(_NAMED)
            draft, target = self._folder / f"{name}{_NEW}", self._folder / f"{name}.db"
            for left in self._folder.glob(f"*{_NEW}*"):
                left.unlink()
            try:
                with (
                    closing(sqlite3.connect(self._catalog, timeout=_BUSY_S)) as source,
                    closing(sqlite3.connect(draft)) as copy,
                ):
                    source.backup(copy, pages=_PAGES_AT_ONCE, sleep=_PAUSE_S)
                    # A copy is one file, which nothing is written to beside.
                    copy.execute("PRAGMA journal_mode=DELETE")
                if not is_sound(draft):
                    raise CatalogDamaged("The catalogue is damaged: a copy of it is not sound.")
                sync(draft)
                os.replace(draft, target)
            finally:
                for path in self._folder.glob(f"{draft.name}*"):
                    path.unlink()
            for old in self.paths()[_KEPT:]:
                old.unlink()
            if self._database is not None:
                self._database.begin_journal(*self.oldest())
        return target

    def oldest(self) -> tuple[Point | None, datetime | None]:
        """Return how far the oldest snapshot had come that can be read, and when it was begun; None without one."""
        for path in reversed(self.paths()):
            if (point := point_in(path)) is not None:
                return point, datetime.strptime(path.stem, _NAMED).replace(tzinfo=UTC)
        return None, None

    def forget(self, _version_ids: Collection[int]) -> None:
        """Remove all snapshots, what was set aside, and what the journal says: they hold what is being purged.

        The next one is due now. Raises: ``DiskFull`` where the journal still says it.
        """
        with self._changing:
            for path in self._folder.glob("*"):
                path.unlink()
            self._catalog.with_suffix(_NEW).unlink(missing_ok=True)
            aside = self._folder.with_name(_ASIDE)
            if aside.exists():
                log.warning("what a recovery had set aside is removed, since something is purged: %s", aside)
                shutil.rmtree(aside)
            if self._database is not None and not self._database.begin_journal():
                raise DiskFull("The journal of the catalogue cannot be written anew.")

    def newest_sound(self) -> Path | None:
        return next((path for path in self.paths() if is_sound(path)), None)

    def put_in_place(self, found: Path | None) -> Path | None:
        """Put a sound snapshot, or the catalogue without its log, in the catalogue's place.

        Nobody may have it open. Return where what was there lies now, None where there was nothing.
        Raises: ``NotFound`` where nothing was found: nothing was changed.
        """
        if found is None:
            raise NotFound(
                "There is no sound snapshot of the catalogue.",
                remedy="Put catalog.db back from a copy of the data folder, or import a backup into a new folder.",
            )
        draft = self._catalog.with_suffix(_NEW)
        with closing(sqlite3.connect(f"file:{found}?mode=ro", uri=True)) as source:
            draft.unlink(missing_ok=True)
            with closing(sqlite3.connect(draft)) as copy:
                source.backup(copy)
        sync(draft)
        aside = self._set_aside()
        os.replace(draft, self._catalog)
        sync(self._catalog.parent)
        return aside

    def _set_aside(self) -> Path | None:
        """Move the damaged catalogue, with its log, to a folder of its own; None where there is none."""
        if not any(self._catalog.with_name(self._catalog.name + suffix).exists() for suffix in (*_LOGS, "")):
            return None
        aside = self._folder.with_name(_ASIDE) / datetime.now(UTC).strftime(_NAMED)
        aside.mkdir(parents=True)
        for suffix in (*_LOGS, ""):
            path = self._catalog.with_name(self._catalog.name + suffix)
            if path.exists():
                os.replace(path, aside / path.name)
        return aside
