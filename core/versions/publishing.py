"""What people do with the versions of a document: see them, choose which one is shown, go back, and remove them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from core.access import actor as acting_for
from core.access import current, needs, require
from core.errors import Conflict
from core.ingest.upload_options import check_label, check_moment, check_note, storable_actor
from core.model import Publication, Role, SavedQuestion, Version
from core.platform.disk_room import DiskRoom
from core.ports import JobQueue
from core.versions.documents import DocumentReader, purged
from core.versions.history import History
from core.versions.purge import Purge
from core.versions.schedule import Schedule

if TYPE_CHECKING:
    from core.catalog import Catalog

_LONGEST_AUDIT = 1000


class Publishing:
    """The part of the knowledge base that knows what was shown when; every change is one publication."""

    def __init__(
        self,
        catalog: Catalog,
        reader: DocumentReader,
        history: History,
        schedule: Schedule,
        purge: Purge,
        worker: JobQueue,
        room: DiskRoom,
    ) -> None:
        self._catalog = catalog
        self._reader = reader
        self._history = history
        self._schedule = schedule
        self._purge = purge
        self._worker = worker
        self._room = room

    # ---- reading

    @needs(Role.READER)
    def publications(self, key: str) -> list[Publication]:
        """Return what the document has shown, newest first."""
        return self._catalog.publications.of(self._catalog.documents.id_of(key))

    @needs(Role.READER)
    def audit(
        self, *, limit: int = 200, before: int | None = None, key: str | None = None, action: str | None = None
    ) -> list[Publication]:
        """Return the publications of all documents (of one, of one action), newest first, before a sequence number."""
        doc_id = None if key is None else self._catalog.documents.id_of(key)
        return self._catalog.publications.audit(min(max(limit, 0), _LONGEST_AUDIT), before, doc_id, action)

    @needs(Role.READER)
    def replaced(self, numbers: Sequence[int]) -> dict[int, int | None]:
        """Return which version the document of each publication showed before it, by their sequence numbers."""
        return self._catalog.publications.replaced(numbers)

    @needs(Role.READER)
    def sequence(self) -> int:
        """Return the sequence number of the newest publication, 0 before the first."""
        return self._catalog.publications.sequence()

    # ---- what is said of a version

    @needs(Role.EDITOR)
    def annotate(self, key: str, version: int, *, note: str | None = None, label: str | None = None) -> Version:
        """Give a version another note or label; None leaves it. Raises: ``InvalidInput`` where it is too long."""
        values = {} if note is None else {"note": check_note(note)}
        values |= {} if label is None else {"label": check_label(label)}
        found = self._reader.kept(key, version)
        if values and not self._catalog.documents.update_version(found.id, **values):
            raise purged(key, version)
        return self._reader.version(key, version)

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
            doc_id = self._catalog.documents.id_of(key)
            return self._append(doc_id, self._history.earlier(doc_id), "rollback", actor, note)
        return self._show(key, version, "rollback", actor, note)

    @needs(Role.EDITOR)
    def schedule(self, key: str, version: int, at: datetime | None, actor: str = "") -> Version:
        """Publish a version by itself at a moment, or no longer (None); one that is being indexed becomes a draft.

        Raises: ``InvalidInput`` for a moment without zone or in the past; ``Conflict`` where the version is shown,
        purged, or could not be indexed, or the document is deleted.
        """
        moment = None if at is None else check_moment(at)
        self._catalog.schedules.set(self._reader.version(key, version).id, moment, storable_actor(acting_for(actor)))
        self._schedule.wake()
        return self._reader.version(key, version)

    @needs(Role.ADMIN)
    def publish_due(self, now: datetime | None = None) -> list[Publication]:
        """Publish every version whose moment has come, in order; return what was done."""
        return self._schedule.publish_due(now)

    @needs(Role.EDITOR)
    def unpublish(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document, which stays listed, from now on. Raises: ``Conflict`` where nothing is shown."""
        return self._append(self._catalog.documents.id_of(key), None, "unpublish", actor, note)

    @needs(Role.EDITOR)
    def delete(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show nothing of a document from now on, and list it no longer; ``restore`` undoes it.

        Its running uploads and what is scheduled of it are cancelled. It works on a full disk, as ``purge`` does.
        """
        return self._room.spend(lambda: self._delete(self._catalog.documents.id_of(key), actor, note))

    def _delete(self, doc_id: int, actor: str, note: str) -> Publication:
        for job_id in self._catalog.jobs.active_of(doc_id):
            # What is shown already is embedded to its end, so that it can be restored.
            with suppress(Conflict):
                self._worker.cancel(job_id)
        return self._append(doc_id, None, "delete", actor, note)

    @needs(Role.EDITOR)
    def restore(self, key: str, actor: str = "", note: str = "") -> Publication:
        """Show again what a deleted or unpublished document showed last.

        One that was deleted before its first version was shown is listed again, and its version is indexed and shown:
        ``subject`` is its number then. Raises: ``Conflict`` where one is shown, or there is nothing to bring back.
        """
        doc_id = self._catalog.documents.id_of(key)
        if self._catalog.publications.showing(doc_id).version_id is not None:
            raise Conflict("The document is shown; there is nothing to restore.")
        earlier = self._catalog.publications.earlier(doc_id)
        if earlier is None:
            done = self._catalog.reopening.reopen(doc_id, storable_actor(acting_for(actor)), check_note(note))
        else:
            done = self._append(doc_id, earlier, "restore", actor, note)
        self._worker.wake()
        return done

    # ---- removing for good

    @needs(Role.EDITOR)
    def purge(self, key: str, version: int | None = None, actor: str = "", note: str = "") -> Publication:
        """Remove text, vectors and bytes of a version (of all versions, for None) for good; a tombstone stays.

        What other versions share stays with them. It is invisible when this returns, and gone from the disk soon after.
        All versions are removed by an administrator, or by whoever uploaded every one of them.
        Raises: ``Conflict`` where the one version is shown, or purged.
        """
        doc_id = self._catalog.documents.id_of(key)
        if version is None and any(kept.actor != current().name for kept in self._reader.versions(key)):
            require(Role.ADMIN)
        version_id = None if version is None else self._reader.version(key, version).id
        by, why = storable_actor(acting_for(actor)), check_note(note)
        done = self._room.spend(lambda: self._catalog.purges.bury(doc_id, version_id, by, why))
        self._purge.go_on()
        return done

    # ---- questions whose answers are watched

    @needs(Role.READER)
    def saved_questions(self) -> list[SavedQuestion]:
        """Return the saved questions that whoever acts sees, oldest first."""
        return self._catalog.saved.all()

    @needs(Role.EDITOR)
    def save_question(self, text: str, *, shared: bool = True) -> SavedQuestion:
        """Keep a question; one that is kept already stays as it is. Raises: ``InvalidInput`` and its kinds."""
        return self._catalog.saved.save(text, shared=shared)

    @needs(Role.EDITOR)
    def share_question(self, question_id: str, shared: bool) -> SavedQuestion:
        """Show a saved question to everybody, or to its owner alone.

        Raises: ``NotFound``; ``Conflict`` without an owner; ``Forbidden`` to others than its owner and administrators.
        """
        return self._catalog.saved.share(question_id, shared)

    @needs(Role.EDITOR)
    def forget_question(self, question_id: str) -> None:
        """Forget a saved question. Raises: ``NotFound``."""
        self._catalog.saved.forget(question_id)

    def _show(self, key: str, number: int, action: str, actor: str, note: str) -> Publication:
        found = self._reader.version(key, number)
        if found.state != "ready":
            raise Conflict(
                f"Version {number} of “{key}” is {found.state} and cannot be shown.",
                remedy="Choose another version."
                if found.state == "purged"
                else "Wait until it is indexed, or start its job again.",
            )
        if found.is_published:
            raise Conflict(f"Version {number} of “{key}” is shown already.")
        return self._append(self._catalog.documents.id_of(key), found.id, action, actor, note)

    def _append(self, doc_id: int, version_id: int | None, action: str, actor: str, note: str) -> Publication:
        return self._history.publish(doc_id, version_id, action, actor, note)
