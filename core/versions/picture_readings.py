"""Documents whose pictures were too many to wait for get another reading with them, which is used once it is ready.

The version keeps its number. What reads it without pictures has a name of its own (``core.ingest.reader``), so that
the catalogue knows at every moment, and after every crash, which versions still lack theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from core.errors import Conflict
from core.ingest.reader import WITHOUT_PICTURES
from core.versions.history import History

if TYPE_CHECKING:
    from core.catalog import Catalog

_AT_ONCE = 100


class PictureReadings:
    """Begins such readings and uses those that are ready; a person's decision to take one back stands."""

    def __init__(self, catalog: Catalog, history: History, notify: Callable[[], None], reader: str) -> None:
        """``reader`` names what reads documents with their pictures; ``notify`` wakes whoever works on jobs."""
        self._catalog = catalog
        self._history = history
        self._notify = notify
        self._reader = reader
        self._without = f"{reader}{WITHOUT_PICTURES}"

    def go_on(self) -> bool:
        """Begin what can be begun, use what is ready; tell whether there was anything."""
        with self._catalog.database.exclusive("pictures"):
            begun = self._catalog.readings.begin(self._reader, None, "", _AT_ONCE, of=self._without)
            if begun:
                self._notify()
            return bool(self._use()) or begun > 0

    def _use(self) -> int:
        from core.catalog import Decision

        done = 0
        for row in self._catalog.readings.usable(limit=_AT_ONCE, after=(self._without, self._reader)):
            with suppress(Conflict):
                if row.is_shown:
                    self._history.append(Decision(row.doc_id, row.id, "reread", ""))
                else:
                    self._catalog.readings.swap(row.id)
                done += 1
        return done
