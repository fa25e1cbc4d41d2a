"""The schedule: drafts are published by themselves when their moment comes, each exactly once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.errors import Conflict
from core.model import Publication
from core.versions.history import History

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_LONGEST_SLEEP_S = 60.0
"""The clock of the machine can be set, and stands still while it is suspended: it is looked at this often."""
_RECOVERY_S = 10.0


class Schedule:
    """Publishes what is due, when asked or in its own thread.

    A version that is still being indexed at its moment is published as soon as it is ready; one that was due while no
    process ran, at the next start. The publication and the end of its schedule are one transaction.
    """

    def __init__(self, catalog: Catalog, history: History, beside: Callable[[], bool] = lambda: False) -> None:
        """``beside`` brings what becomes ready by itself; it is asked whenever something may have."""
        self._beside = beside
        self._catalog = catalog
        self._history = history
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def publish_due(self, now: datetime | None = None) -> list[Publication]:
        """Publish everything whose moment has come, in order; return what was done."""
        from core.catalog import Decision

        done = []
        with self._catalog.database.exclusive("schedule"):
            for due in self._catalog.schedules.due(now or datetime.now(UTC)):
                decision = Decision(due.doc_id, due.version_id, "publish", due.actor, due=due.at)
                try:
                    done.append(self._history.append(decision))
                except Conflict:
                    # Published, rescheduled, deleted or purged since it was read: the decision of a person goes first.
                    log.info("version %d is no longer to be published by itself", due.version_id)
        return done

    def bring(self) -> bool:
        """Bring what becomes ready by itself; tell whether there was anything, and may be more."""
        return self._beside()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="evorag-schedule", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look again at what is due next: a moment was set, or a version became ready."""
        self._changed.set()

    def close(self) -> None:
        self._stop.set()
        self._changed.set()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.clear()
            try:
                self.publish_due()
                while self.bring() and not self._stop.is_set():
                    pass
                sleep_s = self._until_next()
            except Exception:
                log.exception("scheduled publishing failed and is tried again in %.0f s", _RECOVERY_S)
                sleep_s = _RECOVERY_S
            self._changed.wait(sleep_s)

    def _until_next(self) -> float:
        upcoming = self._catalog.schedules.next()
        if upcoming is None:
            return _LONGEST_SLEEP_S
        return min(max((upcoming - datetime.now(UTC)).total_seconds(), 0.0), _LONGEST_SLEEP_S)
