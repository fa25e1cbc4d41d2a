"""Recovery: the soundest state of a catalogue that is a file takes its place, and its journal is brought to it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import URL

from core.catalog import Catalog
from core.catalog.journal import Journal, Point
from core.catalog.replay import Replayed, Since, replay
from core.catalog.snapshots import Snapshots, is_sound, point_in
from core.errors import CatalogDamaged
from core.platform.data_folder import DataFolder


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What a recovery would do."""

    is_sound: bool
    """Whether nothing is wrong with the catalogue's file."""
    is_behind: bool
    """Whether the catalogue has not got what its journal names."""
    base: Path | None
    """What the catalogue is made of: itself where it is only behind, else the newest sound snapshot, if any."""
    moment: datetime | None
    since: Since
    missing: int = 0
    """Uploads of the journal whose original is gone."""


class Recovery:
    """The recovery of one data folder, whose catalogue nobody has open; ``has`` tells which originals are there."""

    def __init__(self, folder: DataFolder, has: Callable[[str], bool]) -> None:
        self._folder = folder
        self._catalog = folder.catalog_file
        self._journal = Journal(folder.journal_file)
        self._snapshots = Snapshots(folder)
        self._has = has

    def plan(self) -> RecoveryPlan:
        sound = self._catalog.exists() and is_sound(self._catalog)
        present = (point_in(self._catalog) if sound else None) or Point()
        told = self._journal.point()
        is_behind = told is not None and told.is_beyond(present)
        base = self._snapshots.newest_sound()
        reached = (point_in(base) if base is not None else None) or Point()
        # What has lost only its log is newer than most snapshots: what it holds besides documents is not lost then.
        if sound and present != Point() and is_behind and not reached.is_beyond(present) and _is_whole(self._catalog):
            base, reached = self._catalog, present
        since = Since.of(*self._journal.entries(), reached)
        missing = sum(not self._has(each["sha256"]) for each in since.added())
        moment = None if base is None else datetime.fromtimestamp(base.stat().st_mtime, UTC)
        return RecoveryPlan(sound, is_behind, base, moment, since, missing)

    def carry_out(self, plan: RecoveryPlan) -> tuple[Replayed, Path | None]:
        """Do it; return what was brought to the catalogue, and where what was there lies now.

        Raises: ``NotFound`` where there is nothing to make it of: nothing was changed.
        """
        aside = self._snapshots.put_in_place(plan.base)
        if aside is not None and self._folder.journal_file.exists():
            shutil.copy2(self._folder.journal_file, aside)
        # They go by the numbers of versions, of which some may be given again.
        for derived in (self._folder.comparisons, self._folder.pages):
            shutil.rmtree(derived, ignore_errors=True)
        with closing(self._opened()) as catalog:
            done = replay(catalog, plan.since, self._has)
        self._begin_anew()
        return done, aside

    def keep_as_is(self) -> None:
        """Have the journal begin with the catalogue as it is. Raises: ``CatalogDamaged`` where that is not sound."""
        if not self._catalog.exists() or not is_sound(self._catalog):
            raise CatalogDamaged("The catalogue is damaged or missing.")
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Take a snapshot of what is there now, and have the journal begin with it."""
        self._snapshots.take()
        with closing(self._opened()) as catalog:
            self._journal.begin(catalog.database.read, point_in(self._catalog) or Point())
        self._journal.close()

    def _opened(self) -> Catalog:
        return Catalog(URL.create("sqlite", database=str(self._catalog)))


def _is_whole(catalog: Path) -> bool:
    """Tell whether a file whose log is gone is of one moment: its indexes and its references fit its rows."""
    try:
        with closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)) as file:
            sound = [row[0] for row in file.execute("PRAGMA integrity_check(1)")] == ["ok"]
            return sound and next(file.execute("PRAGMA foreign_key_check"), None) is None
    except sqlite3.DatabaseError:
        return False
