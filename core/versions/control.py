"""What people do with the versions of a document: see them, choose which one is shown, and go back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import Conflict, NotFound
from core.model import Publication, Version
from core.ports import BlobStore
from core.projection import Projector
from core.versions.history import History

if TYPE_CHECKING:
    from core.catalog import Catalog
    from core.jobs import LocalJobs


class VersionControl:
    """The part of the knowledge base that knows what was shown when; every change is one publication."""

    def __init__(self, catalog: Catalog, blobs: BlobStore, projector: Projector, worker: LocalJobs) -> None:
        self.catalog = catalog
        self._blobs = blobs
        self._projector = projector
        self._worker = worker
        self._history = History(catalog, projector)

    # ---- reading

    def versions(self, key: str) -> list[Version]:
        """Return the versions of a document, newest first."""
        return self.catalog.documents.versions(self.catalog.documents.id_of(key))

    def version(self, key: str, number: int) -> Version:
        for version in self.versions(key):
            if version.number == number:
                return version
        raise NotFound(f"“{key}” has no version {number}.")

    def publications(self, key: str) -> list[Publication]:
        """Return what the document has shown, newest first."""
        return self.catalog.publications.of(self.catalog.documents.id_of(key))

    def sequence(self) -> int:
        """Return the sequence number of the newest publication, 0 before the first."""
        return self.catalog.publications.sequence()

    # ---- what is shown

    def publish(self, key: str, version: int, actor: str = "") -> Publication:
        """Show a version from now on. Raises: ``Conflict`` while it is not indexed."""
        found = self.version(key, version)
        if found.state != "ready":
            raise Conflict(
                f"Version {version} of “{key}” is {found.state} and cannot be shown.",
                remedy="Wait until it is indexed, or start its job again.",
            )
        return self._history.show(self.catalog.documents.id_of(key), found.id, "publish", actor)

    def rollback(self, key: str, actor: str = "") -> Publication:
        """Show again the version that was shown before the present one. Raises: ``Conflict`` where there is none."""
        return self._history.roll_back(self.catalog.documents.id_of(key), actor)

    def delete(self, key: str, actor: str = "") -> Publication:
        """Show nothing of a document from now on; ``restore`` undoes it. Its running uploads are cancelled."""
        doc_id = self.catalog.documents.id_of(key)
        for job_id in self.catalog.jobs.active_of(doc_id):
            self._worker.cancel(job_id)
        return self._history.hide(doc_id, actor)

    def restore(self, key: str, actor: str = "") -> Publication:
        """Show again what a deleted document showed last. Raises: ``Conflict`` where it is not deleted."""
        return self._history.restore(self.catalog.documents.id_of(key), actor)
