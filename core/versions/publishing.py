"""What people do with the versions of a document: see them, choose which one is shown, go back, and remove them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from core.access import actor as acting_for
from core.access import current, needs, require
from core.blobs.pins import Holds
from core.errors import Conflict, Purged
from core.indexes.active import Store
from core.indexes.projector import Projector
from core.ingest.upload_options import check_label, check_moment, check_note, storable_actor
from core.model import Job, Publication, Role, SavedQuestion, Version
from core.ports import BlobStore, JobQueue
from core.versions.cache import Comparisons
from core.versions.history import History
from core.versions.purge import Purge
from core.versions.schedule import Schedule
from core.versions.service import Comparing

if TYPE_CHECKING:
    from core.catalog import Catalog, Decision
    from core.recordings.facade import Recordings

_LONGEST_AUDIT = 1000


class VersionControl(Comparing):
    """The part of the knowledge base that knows what was shown when; every change is one publication."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        holds: Holds,
        projector: Projector,
        worker: JobQueue,
        stores: Callable[[], Sequence[tuple[str, Store]]],
        comparisons: Comparisons,
        recordings: Recordings,
    ) -> None:
        super().__init__(catalog, comparisons)
        self._blobs = blobs
        self._projector = projector
        self._worker = worker
        self._history = History(catalog, projector)
        self._schedule = Schedule(catalog, self._history)
        self._purge = Purge(catalog, blobs, holds, projector, stores, comparisons.forget, recordings)
        worker.after_batch(self._after_batch)

    # ---- reading

    @needs(Role.READER)
    def publications(self, key: str) -> list[Publication]:
        """Return what the document has shown, newest first."""
        return self.catalog.publications.of(self.catalog.documents.id_of(key))

    @needs(Role.READER)
    def audit(
        self, *, limit: int = 200, before: int | None = None, key: str | None = None, action: str | None = None
    ) -> list[Publication]:
        """Return the publications of all documents (of one, of one action), newest first, before a sequence number."""
        doc_id = None if key is None else self.catalog.documents.id_of(key)
        return self.catalog.publications.audit(min(max(limit, 0), _LONGEST_AUDIT), before, doc_id, action)

    @needs(Role.READER)
    def sequence(self) -> int:
        """Return the sequence number of the newest publication, 0 before the first."""
        return self.catalog.publications.sequence()

    # ---- what is said of a version

    @needs(Role.EDITOR)
    def annotate(self, key: str, version: int, *, note: str | None = None, label: str | None = None) -> Version:
        """Give a version another note or label; None leaves it. Raises: ``InvalidInput`` where it is too long."""
        values = {} if note is None else {"note": check_note(note)}
        values |= {} if label is None else {"label": check_label(label)}
        found = self._kept(key, version)
        if values and not self.catalog.documents.update_version(found.id, **values):
            raise _purged(key, version)
        return self.version(key, version)

    # ---- what is shown

    @needs(Role.EDITOR)
    def publish(self, key: str, version: int, actor: str = "", note: str = "") -> Publication:
        """Show a version from now on.

        Raises: ``Conflict`` while it is not indexed, where it is shown already, or once it is purged.
        """
        return self._show(key, version, "publish", actor, note)

    @needs(Role.EDITOR)
    def rollback(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Show an older version again: by default the one shown before the present one.

        Raises: ``Conflict`` where there is none, or it is shown already.
        """
        if version is None:
            doc_id = self.catalog.documents.id_of(key)
            return self._append(doc_id, self._history.earlier(doc_id), "rollback", actor, note)
        return self._show(key, version, "rollback", actor, note)

    @needs(Role.EDITOR)
    def schedule(self, key: str, version: int, at: datetime | None, actor: str = "") -> Version:
        """Publish a version by itself at a moment, or no longer (None); one that is being indexed becomes a draft.

        Raises: ``InvalidInput`` for a moment without zone or in the past; ``Conflict`` where the version is shown,
        purged, or could not be indexed, or the document is deleted.
        """
        moment = None if at is None else check_moment(at)
        self.catalog.schedules.set(self.version(key, version).id, moment, storable_actor(acting_for(actor)))
        self._schedule.wake()
        return self.version(key, version)

    @needs(Role.ADMIN)
    def publish_due(self, now: datetime | None = None) -> list[Publication]:
        """Publish every version whose moment has come, in order; return what was done."""
        return self._schedule.publish_due(now)

    @needs(Role.EDITOR)
    def unpublish(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document, which stays listed, from now on. Raises: ``Conflict`` where nothing is shown."""
        return self._append(self.catalog.documents.id_of(key), None, "unpublish", actor, note)

    @needs(Role.EDITOR)
    def delete(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document from now on, and list it no longer; ``restore`` undoes it.

        Its running uploads and what is scheduled of it are cancelled.
        """
        doc_id = self.catalog.documents.id_of(key)
        for job_id in self.catalog.jobs.active_of(doc_id):
            # What is shown already is embedded to its end, so that it can be restored.
            with suppress(Conflict):
                self._worker.cancel(job_id)
        return self._append(doc_id, None, "delete", actor, note)

    @needs(Role.EDITOR)
    def restore(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show again what a deleted or unpublished document showed last. Raises: ``Conflict`` where it shows one."""
        doc_id = self.catalog.documents.id_of(key)
        if self.catalog.publications.showing(doc_id).version_id is not None:
            raise Conflict("The document is shown; there is nothing to restore.")
        return self._append(doc_id, self._history.earlier(doc_id), "restore", actor, note)

    # ---- removing for good

    @needs(Role.EDITOR)
    def purge(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Remove text, vectors and bytes of a version (of all versions, for None) for good; a tombstone stays.

        What other versions share stays with them. It is invisible when this returns, and gone from the disk soon after.
        All versions are removed by an administrator, or by whoever uploaded every one of them.
        Raises: ``Conflict`` where the one version is shown, or purged.
        """
        doc_id = self.catalog.documents.id_of(key)
        if version is None and any(kept.actor != current().name for kept in self.versions(key)):
            require(Role.ADMIN)
        version_id = None if version is None else self.version(key, version).id
        done = self.catalog.purges.bury(doc_id, version_id, storable_actor(acting_for(actor)), check_note(note))
        self._finish_purges()
        return done

    # ---- questions whose answers are watched

    @needs(Role.READER)
    def saved_questions(self) -> list[SavedQuestion]:
        """Return the saved questions, oldest first."""
        return self.catalog.saved.all()

    @needs(Role.EDITOR)
    def save_question(self, text: str) -> SavedQuestion:
        """Keep a question; one that is kept already stays as it is. Raises: ``InvalidInput`` and its kinds."""
        return self.catalog.saved.save(text)

    @needs(Role.EDITOR)
    def forget_question(self, question_id: str) -> None:
        """Forget a saved question. Raises: ``NotFound``."""
        self.catalog.saved.forget(question_id)

    # ---- at work

    @needs(Role.ADMIN)
    def resume_versions(self, *, take_back: bool = True) -> None:
        """Go on with what a killed process left, and publish on time from now on where there are workers.

        With ``take_back`` what is prepared and not published is: then no other process is about to publish it.
        """
        if take_back:
            self._history.resume()
        self._finish_purges()
        if self._worker.has_threads:
            self._schedule.start()

    @needs(Role.ADMIN)
    def follow_purges(self) -> None:
        """Go on with purges that another process has begun; what is tried already is left its pauses."""
        if self._purge.has_news():
            self._finish_purges()

    @needs(Role.ADMIN)
    def take_back_old(self) -> None:
        """Take back what processes that are gone had prepared and not published."""
        self._history.take_back_old()

    def _after_batch(self, jobs: Sequence[Job]) -> None:
        self._schedule.wake()
        self._finish_purges()
        self.prepare_comparisons(jobs)

    def _finish_purges(self) -> None:
        if self._worker.has_threads:
            self._purge.finish_soon()
        else:
            self._purge.finish()

    def _show(self, key: str, number: int, action: str, actor: str, note: str) -> Publication:
        found = self.version(key, number)
        if found.state != "ready":
            raise Conflict(
                f"Version {number} of “{key}” is {found.state} and cannot be shown.",
                remedy="Choose another version."
                if found.state == "purged"
                else "Wait until it is indexed, or start its job again.",
            )
        if found.is_published:
            raise Conflict(f"Version {number} of “{key}” is shown already.")
        return self._append(self.catalog.documents.id_of(key), found.id, action, actor, note)

    def _append(self, doc_id: int, version_id: int | None, action: str, actor: str, note: str) -> Publication:
        return self._history.append(_decision(doc_id, version_id, action, actor, note))

    def _kept(self, key: str, number: int) -> Version:
        """Return a version that has its text. Raises: ``NotFound``, ``Purged``."""
        found = self.version(key, number)
        if found.state == "purged":
            raise _purged(key, number)
        return found


def _decision(doc_id: int, version_id: int | None, action: str, actor: str, note: str) -> Decision:
    from core.catalog import Decision

    return Decision(doc_id, version_id, action, storable_actor(acting_for(actor)), check_note(note))


def _purged(key: str, number: int) -> Purged:
    return Purged(f"Version {number} of “{key}” was purged.")
