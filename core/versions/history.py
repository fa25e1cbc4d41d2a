"""Which version a document shows: every change is one publication, prepared in both indexes before it is committed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from core.errors import Conflict, StoreUnavailable
from core.model import Publication
from core.projection import Projector

if TYPE_CHECKING:
    from core.catalog import Catalog, Showing

log = logging.getLogger(__name__)


class History:
    """Appends publications; the catalogue's decision never waits for a store that is down."""

    def __init__(self, catalog: Catalog, projector: Projector) -> None:
        self._catalog = catalog
        self._projector = projector

    def show(self, doc_id: int, version_id: int, action: str, actor: str) -> Publication:
        """Show a version from now on."""
        return self._commit(doc_id, version_id, action, actor)

    def hide(self, doc_id: int, actor: str) -> Publication:
        """Show nothing of the document from now on."""
        return self._commit(doc_id, None, "delete", actor)

    def roll_back(self, doc_id: int, actor: str) -> Publication:
        """Show again the version that was shown before the present one. Raises: ``Conflict`` where there is none."""
        return self.show(doc_id, self._earlier(doc_id), "rollback", actor)

    def restore(self, doc_id: int, actor: str) -> Publication:
        """Show again what a hidden document showed last. Raises: ``Conflict`` where it is not hidden."""
        if self._catalog.publications.showing(doc_id).version_id is not None:
            raise Conflict("The document is not deleted.")
        return self.show(doc_id, self._earlier(doc_id), "restore", actor)

    def _earlier(self, doc_id: int) -> int:
        showing = self._catalog.publications.showing(doc_id)
        for before in self._catalog.publications.before(doc_id, showing.seq):
            if before.version_id is not None and before.version_id != showing.version_id:
                return before.version_id
        raise Conflict("The document has not shown another version before.")

    def _commit(self, doc_id: int, version_id: int | None, action: str, actor: str) -> Publication:
        """Prepare and commit until nothing came between the two."""
        while True:
            expected = self._prepared(doc_id, version_id)
            done = self._catalog.publications.commit(doc_id, version_id, action, actor, expected=expected)
            if done is not None:
                self._projector.flush_soon()
                return done

    def _prepared(self, doc_id: int, version_id: int | None) -> Showing:
        if version_id is None:
            return self._catalog.publications.showing(doc_id)
        expected = self._catalog.publications.prepare(doc_id, version_id)
        try:
            self._projector.flush()
        except StoreUnavailable as error:
            # The store learns of it from the outbox when it is back.
            log.warning("published while a store does not answer: %s", error.code)
            self._projector.flush_soon()
        return expected
