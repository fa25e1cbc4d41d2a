"""Which version a document shows: every change is one publication, prepared in both indexes before it is committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from core.access import actor as acting_for
from core.errors import Conflict, StoreUnavailable
from core.indexes.projector import Projector
from core.ingest.upload_options import check_note, storable_actor
from core.model import Publication

if TYPE_CHECKING:
    from core.catalog import Catalog, Decision, Showing

log = logging.getLogger(__name__)

_LONGEST_S = 600.0
"""Time within which what is prepared is published: the stores are waited for in between."""


class History:
    """Appends publications; the catalogue's decision never waits for a store that is down."""

    def __init__(self, catalog: Catalog, projector: Projector, tell_workers: Callable[[], None]) -> None:
        """Append publications; ``tell_workers`` is called once what is shown again may lack vectors."""
        self._tell_workers = tell_workers
        self._catalog = catalog
        self._projector = projector
        self._since: dict[int, float] = {}

    def publish(self, doc_id: int, version_id: int | None, action: str, actor: str = "", note: str = "") -> Publication:
        """Show a version, or nothing, on behalf of whoever acts. Raises: what ``append`` raises."""
        from core.catalog import Decision

        by = storable_actor(acting_for(actor))
        return self.append(Decision(doc_id, version_id, action, by, check_note(note)))

    def append(self, decision: Decision, expected: Showing | None = None) -> Publication:
        """Show a version, or nothing, from now on; ``expected`` is what was shown when it was prepared, if it was.

        Raises: ``Conflict`` where the version cannot be shown or is shown already, or there is nothing to unpublish.
        """
        try:
            while True:
                expected = expected or self._prepared(decision)
                if decision.action == "unpublish" and expected.version_id is None:
                    raise Conflict("The document shows nothing.")
                done = self._catalog.publications.commit(decision, expected=expected)
                if done is not None:
                    self._tell_workers()
                    return done
                expected = None
        except Exception:
            # What was prepared is not to stay among what is shown.
            if decision.version_id is not None:
                self._catalog.publications.shelve(decision.doc_id, decision.version_id)
            raise
        finally:
            self._projector.flush_soon()

    def append_all(self, decisions: Sequence[Decision]) -> list[Publication]:
        """Show versions of several documents, which wait for the stores together; leave out conflicts."""
        prepared = [
            (each, self._catalog.publications.prepare(each.doc_id, each.version_id))
            for each in decisions
            if each.version_id is not None
        ]
        self._flush()
        done: list[Publication] = []
        for decision, expected in prepared:
            with suppress(Conflict):
                done.append(self.append(decision, expected))
        return done

    def resume(self) -> None:
        """Take back what a killed process had prepared and not published, where no other one is about to publish."""
        self._take_back(self._catalog.publications.prepared())

    def take_back_old(self) -> None:
        """Take back what has been prepared and not published for so long that its process must have ended.

        Where it has not, it prepares the version once more.
        """
        now = time.monotonic()
        self._since = {each: self._since.get(each, now) for each in self._catalog.publications.prepared()}
        self._take_back([each for each, since in self._since.items() if now - since >= _LONGEST_S])

    def _take_back(self, version_ids: Collection[int]) -> None:
        if version_ids and self._catalog.publications.shelve_abandoned(version_ids):
            self._projector.flush_soon()

    def earlier(self, doc_id: int) -> int:
        """Return the id of the version that was shown before the present one. Raises: ``Conflict``: there is none."""
        found = self._catalog.publications.earlier(doc_id)
        if found is None:
            raise Conflict("The document has not shown another version before.")
        return found

    def _prepared(self, decision: Decision) -> Showing:
        if decision.version_id is None:
            return self._catalog.publications.showing(decision.doc_id)
        expected = self._catalog.publications.prepare(decision.doc_id, decision.version_id)
        self._flush()
        return expected

    def _flush(self) -> None:
        try:
            self._projector.flush()
        except StoreUnavailable as error:
            # The store learns of it from the outbox when it is back.
            log.warning("published while a store does not answer: %s", error.code)
            self._projector.flush_soon()
