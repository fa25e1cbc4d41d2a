"""How far a catalogue elsewhere had come when its data folder saw it last, so that one of an earlier day is noticed.

The catalogue of the folder itself has a journal instead. A catalogue that goes on from an earlier day gives numbers
again; once it has come as far as it was, nothing is said any more.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from core.catalog.engine import Database
from core.catalog.journal import Point, point_of
from core.platform.durable import sync

log = logging.getLogger(__name__)

_NEW = ".new"


class Reached:
    """The file ``reached`` of a data folder."""

    def __init__(self, path: Path, database: Database, identity: str) -> None:
        self._path = path
        self._database = database
        self._identity = identity

    def look(self) -> None:
        """Note how far the catalogue has come, or have it say that it is of an earlier day than what was noted."""
        with self._database.read() as tx:
            found = point_of(tx)
        noted = self._noted()
        is_earlier = noted.is_beyond(found)
        if is_earlier and not self._database.is_earlier:
            log.error(
                "The catalogue lacks the newest versions and publications that this data folder has seen (%d and %d):"
                " its database may be of an earlier day than the folder. Put the newer one back; or remove the file"
                " `reached` of the data folder where it is an older one on purpose.",
                max(0, noted.version - found.version),
                max(0, noted.sequence - found.sequence),
            )
        self._database.is_earlier = is_earlier
        if not is_earlier and found != noted:
            self._note(found)

    def _noted(self) -> Point:
        try:
            told = json.loads(self._path.read_bytes())
            return Point(int(told["version"]), int(told["sequence"])) if told["of"] == self._identity else Point()
        except (OSError, ValueError, KeyError, TypeError):
            # What is damaged tells nothing, and is written anew.
            return Point()

    def _note(self, point: Point) -> None:
        told = {"of": self._identity, "version": point.version, "sequence": point.sequence}
        # Several processes have the folder.
        draft = self._path.with_suffix(f"{_NEW}-{os.getpid()}")
        draft.write_text(json.dumps(told), encoding="ascii")
        sync(draft)
        draft.replace(self._path)
