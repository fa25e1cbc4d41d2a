"""Publications: the append-only account of which version a document shows from which sequence number on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, exists, func, insert, or_, select, update

from core.catalog.documents.completing import complete
from core.catalog.documents.isolation import seen
from core.catalog.documents.placing import place, shelve
from core.catalog.documents.replaced import replaced
from core.catalog.documents.rereading import swap
from core.catalog.documents.views import LACKS_VECTORS
from core.catalog.engine import Database, inserted_id
from core.catalog.jobs.changes import next_change
from core.catalog.jobs.events import record, record_all
from core.catalog.jobs.ledger import Attempt, Step
from core.catalog.journal import acknowledge
from core.catalog.outbox import has_moves
from core.catalog.questions.cached_answers import drop_changed
from core.catalog.schema import NOT_A_DRAFT, NUMBER, documents, jobs, outbox, publications, versions
from core.errors import Cancelled, Conflict
from core.model import JobState, Part, Publication, Stage


@dataclass(frozen=True, slots=True)
class Showing:
    """What a document shows now: the sequence number of its last publication, and the version's id if any.

    ``shelvings`` tells whether chunks were sent to history since, which a version about to be shown may share.
    """

    seq: int
    version_id: int | None
    shelvings: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """A publication that is to be appended; ``version_id`` None shows nothing.

    ``due`` is the moment for which it was scheduled: it is appended only while that stands.
    """

    doc_id: int
    version_id: int | None
    action: str
    actor: str = ""
    note: str = ""
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Finishing:
    """The last step of an upload's job, which ends with its version."""

    step: Step
    version_id: int

    def end(self, tx: Connection, published: int | None = None) -> None:
        """End the job and its version as done.

        Raises: ``Cancelled`` where this attempt is not the running one; ``Conflict`` where the version has no chunks.
        """
        attempt, now = self.step.attempt, datetime.now(UTC)
        own = jobs.c.id == attempt.job_id, jobs.c.attempts == attempt.number, jobs.c.state == JobState.RUNNING
        done = {"state": JobState.DONE, "error": None, "finished_at": now, "change": next_change(tx)}
        if not tx.execute(update(jobs).where(*own).values(**{**self.step.values(), **done})).rowcount:
            raise Cancelled("The job was cancelled.")
        _check_chunks(tx.execute(select(versions).where(versions.c.id == self.version_id)).one())
        ready = {"state": "ready", "error": None, "embedded_chunks": versions.c.chunk_count, "keyword_ready": True}
        tx.execute(update(versions).where(versions.c.id == self.version_id).values(**ready))
        record_all(tx, self.step.lines())
        if published is not None:
            record(tx, [attempt.job_id], "published", stage=self.step.stage, values={"version": published})
        record(tx, [attempt.job_id], "done", stage=self.step.stage)


_PREPARED = versions.c.is_prepared, versions.c.state != "stored"

_newest = select(func.coalesce(func.max(publications.c.seq), 0)).scalar_subquery()
_asked_of = select(_newest, has_moves, exists(versions.c.id).where(LACKS_VECTORS))
_ASKED_OF = tuple(table.name for table in (publications, outbox, versions, jobs))
_earlier = publications.alias("earlier")
_present = versions.alias("present")


class Publications:
    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- reading

    def sequence(self) -> int:
        """Return the newest sequence number, 0 before the first publication."""
        return self.asked_of()[0]

    def asked_of(self) -> tuple[int, bool, bool]:
        """Return the newest sequence number, whether what is shown stands in head, and whether it has its vectors."""

        # What no store has got yet stands nowhere, which is as good.
        def read() -> tuple[int, bool, bool]:
            with self._database.read() as tx:
                newest, moves, lacks_vectors = tx.execute(_asked_of).one()
            return int(newest), not moves, not lacks_vectors

        return self._database.remembered.value("asked of", _ASKED_OF, None, read)

    def has_moved_since(self, sequence: int) -> bool:
        """Tell whether anything that was shown at ``sequence`` may stand in history by now."""

        def read() -> bool:
            replaced = exists().where(_earlier.c.doc_id == publications.c.doc_id, _earlier.c.seq < publications.c.seq)
            moved = exists().where(publications.c.seq > sequence, replaced)
            with self._database.read() as tx:
                return bool(tx.scalar(select(or_(has_moves, moved))))

        return self._database.remembered.value("moved since", (publications.name, outbox.name), sequence, read)

    def sequence_at(self, moment: datetime) -> int:
        with self._database.read() as tx:
            newest = select(func.coalesce(func.max(publications.c.seq), 0)).where(publications.c.at <= moment)
            return int(tx.scalar(newest) or 0)

    def showing(self, doc_id: int) -> Showing:
        with self._database.read() as tx:
            return showing(tx, doc_id)

    def earlier(self, doc_id: int) -> int | None:
        """Return the id of the version that was shown last before what is shown now, among those still kept."""
        with self._database.read() as tx:
            now = showing(tx, doc_id)
            # What showed it may have been another reading than the version is now.
            is_that = and_(_present.c.doc_id == versions.c.doc_id, _present.c.number == NUMBER)
            return tx.scalar(
                select(_present.c.id)
                .select_from(publications)
                .join(versions, versions.c.id == publications.c.version_id)
                .join(_present, is_that)
                .where(
                    publications.c.doc_id == doc_id,
                    publications.c.seq < now.seq,
                    _present.c.id.is_distinct_from(now.version_id),
                    _present.c.state == "ready",
                )
                .order_by(publications.c.seq.desc())
                .limit(1)
            )

    def of(self, doc_id: int) -> list[Publication]:
        """Return the publications of a document, newest first."""
        with self._database.read() as tx:
            return [_publication(row) for row in tx.execute(_rows().where(publications.c.doc_id == doc_id))]

    def audit(
        self, limit: int, before: int | None = None, doc_id: int | None = None, action: str | None = None
    ) -> list[Publication]:
        """Return publications of what whoever acts sees, newest first, from the one before ``before`` on."""
        query = _rows().where(seen()).limit(limit)
        if before is not None:
            query = query.where(publications.c.seq < before)
        if doc_id is not None:
            query = query.where(publications.c.doc_id == doc_id)
        if action is not None:
            query = query.where(publications.c.action == action)
        with self._database.read() as tx:
            return [_publication(row) for row in tx.execute(query)]

    def replaced(self, numbers: Sequence[int]) -> dict[int, int | None]:
        """Return what the document of each publication showed before it, by sequence number: a version, or nothing."""
        with self._database.read() as tx:
            return replaced(tx, numbers)

    # ---- appending

    def prepare(self, doc_id: int, version_id: int) -> Showing:
        """Ask the indexes for the version's chunks in head; return what the document shows until then."""
        with self._database.write() as tx:
            present = showing(tx, doc_id)
            place(tx, version_id, present.version_id, Part.HEAD)
            tx.execute(update(versions).where(versions.c.id == version_id).values(is_prepared=True))
            return present

    def commit(
        self,
        decision: Decision,
        *,
        expected: Showing,
        finishing: Finishing | None = None,
        early: Attempt | None = None,
    ) -> Publication | None:
        """Append the publication and send what it replaces to history, or return None if the world has moved on.

        ``finishing`` is the job whose end this is: both happen or neither does. ``early`` is the attempt that goes on
        with a version's embeddings while it is shown. Raises: ``Cancelled`` where the job has ended already, or was
        started again; ``Conflict`` where the version cannot be shown, is shown already, or no longer shall be. What a
        person shows goes on with its vectors where it lacks some.
        """
        doc_id, version_id = decision.doc_id, decision.version_id
        with self._database.write() as tx:
            present = showing(tx, doc_id)
            if present != expected:
                return None
            if decision.action == "restore" and present.version_id is not None:
                raise Conflict("The document is shown; there is nothing to restore.")
            shown: dict[str, Any] = {}
            if version_id is not None:
                row = tx.execute(select(versions).where(versions.c.id == version_id)).one()
                if (finishing is not None or early is not None) and row.is_draft:
                    return None
                if early is not None and _is_settled(tx, row):
                    return None
                _admit(tx, row, present, finishing, early)
                if decision.due is not None and row.publish_at != decision.due:
                    raise Conflict(f"Version {row.number} is no longer scheduled for this moment.")
                if decision.action == "reread":
                    if present.version_id is None or number_of(tx, present.version_id) != row.reading_of:
                        raise Conflict(f"Version {row.reading_of} is not the one that is shown any more.")
                    swap(tx, row)
                settled = {**NOT_A_DRAFT, "is_prepared": False}
                tx.execute(update(versions).where(versions.c.id == version_id).values(**settled))
                shown = {"name": row.file_name, "is_text_entry": row.is_text_entry}
                if present.version_id is None and finishing is None and early is None:
                    _replace_whole(tx, doc_id)
            if decision.action == "delete":
                scheduled = versions.c.doc_id == doc_id, versions.c.publish_at.is_not(None)
                tx.execute(update(versions).where(*scheduled).values(publish_at=None, publish_actor=""))
            subject = present.version_id if version_id is None else None
            done = append(tx, decision, number_of(tx, subject))
            if version_id is not None and finishing is None and early is None:
                complete(tx, row)
            if present.version_id is not None:
                place(tx, present.version_id, version_id, Part.HISTORY)
            tx.execute(update(documents).where(documents.c.id == doc_id).values(updated_at=datetime.now(UTC), **shown))
        return done

    def finish_shown(self, finishing: Finishing) -> bool:
        """End the job of a version that was published early; tell whether it was."""
        with self._database.write() as tx:
            was_shown = tx.scalar(select(versions.c.state).where(versions.c.id == finishing.version_id)) == "ready"
            if was_shown:
                finishing.end(tx)
            return was_shown

    def is_settled(self, version_id: int) -> bool:
        """Tell whether an upload must not publish (again), as ``finish_settled`` says."""
        with self._database.read() as tx:
            return _is_settled(tx, tx.execute(select(versions).where(versions.c.id == version_id)).one())

    def finish_settled(self, finishing: Finishing) -> bool:
        """End the job of an upload that must not publish (again); tell whether it is one.

        That is so when its version or a newer one was published, or the document hidden, since it was uploaded.
        """
        with self._database.write() as tx:
            row = tx.execute(select(versions).where(versions.c.id == finishing.version_id)).one()
            is_settled = _is_settled(tx, row)
            if is_settled:
                shelve(tx, row.doc_id, row.id, showing(tx, row.doc_id).version_id)
                finishing.end(tx)
            return is_settled

    # ---- versions that are not shown

    def shelve(self, doc_id: int, version_id: int) -> None:
        """Ask the indexes for the version's chunks in history, but for those that what is shown shares."""
        with self._database.write() as tx:
            shelve(tx, doc_id, version_id, showing(tx, doc_id).version_id)

    def prepared(self) -> list[int]:
        """Return the ids of the versions that are about to be published, but for those that are still to be indexed."""
        with self._database.read() as tx:
            return list(tx.scalars(select(versions.c.id).where(*_PREPARED)))

    def shelve_abandoned(self, ids: Collection[int]) -> int:
        """Shelve those of the versions that are prepared and not published; return how many that were.

        Those that are still to be indexed are prepared again by their jobs, others by whoever is about to publish them.
        """
        with self._database.write() as tx:
            prepared = select(versions.c.id, versions.c.doc_id).where(*_PREPARED, versions.c.id.in_(ids))
            rows = tx.execute(prepared).all()
            for row in rows:
                shelve(tx, row.doc_id, row.id, showing(tx, row.doc_id).version_id)
        return len(rows)

    def finish_draft(self, finishing: Finishing) -> bool:
        """End the job of a version that is not to be shown yet; tell whether it is a draft still."""
        with self._database.write() as tx:
            is_draft = tx.scalar(select(versions.c.is_draft).where(versions.c.id == finishing.version_id))
            if is_draft:
                finishing.end(tx)
            return bool(is_draft)


def append(tx: Connection, decision: Decision, subject: int | None) -> Publication:
    """Write one row; ``subject`` is the number of the version that the action is about, where it is not shown."""
    now = datetime.now(UTC)
    # Moments must order as sequence numbers do, or "as of" a moment would cut between them.
    last = tx.scalar(select(publications.c.at).order_by(publications.c.seq.desc()).limit(1))
    values = {
        "doc_id": decision.doc_id,
        "version_id": decision.version_id,
        "action": decision.action,
        "at": max(now, last) if last else now,
        "actor": decision.actor,
        "note": decision.note,
        "subject": subject,
    }
    seq = inserted_id(tx.execute(insert(publications).values(**values)))
    acknowledge(tx)
    drop_changed(tx, [decision.doc_id], seq, purged=decision.action == "purge")
    return _publication(tx.execute(_rows().where(publications.c.seq == seq)).one())


def _admit(
    tx: Connection, version: Row[Any], present: Showing, finishing: Finishing | None, early: Attempt | None
) -> None:
    """See that a version can be shown; what a job brings becomes ready with this. Raises: as ``commit`` does."""
    if finishing is not None:
        finishing.end(tx, published=version.number)
    elif early is not None:
        early.check(tx)
        tx.execute(update(versions).where(versions.c.id == version.id).values(state="ready", error=None))
        record(tx, [early.job_id], "published", stage=Stage.KEYWORDS, values={"version": version.number})
        tx.execute(update(jobs).where(jobs.c.id == early.job_id).values(change=next_change(tx)))
    elif version.state != "ready":
        raise Conflict(f"Version {version.number} is {version.state} and cannot be shown.")
    elif present.version_id == version.id:
        raise Conflict(f"Version {version.number} is shown already.")
    _check_chunks(version)


def _replace_whole(tx: Connection, doc_id: int) -> None:
    """Have what is still being indexed of a document wait for its vectors: it is not what the document shows first."""
    coming = versions.c.doc_id == doc_id, versions.c.state == "stored", versions.c.publish_early
    tx.execute(update(versions).where(*coming).values(publish_early=False))


def _check_chunks(version: Row[Any]) -> None:
    if not version.chunk_count:
        raise Conflict(f"Version {version.number} has no text in the index.", remedy="Upload the file again.")


def _is_settled(tx: Connection, version: Row[Any]) -> bool:
    # What has never shown anything is restored by a row that shows nothing, and hides nothing.
    hides = publications.c.version_id.is_(None) & (publications.c.action != "restore")
    since = (
        select(func.max(NUMBER), func.sum(case((hides, 1), else_=0)))
        .select_from(publications)
        .outerjoin(versions, versions.c.id == publications.c.version_id)
        .where(
            publications.c.doc_id == version.doc_id,
            publications.c.seq > version.claimed_seq,
            # The purge of one version decides nothing about what the document shows.
            (publications.c.action != "purge") | publications.c.subject.is_(None),
        )
    )
    newest, hidden = tx.execute(since).one()
    return bool((newest or 0) >= version.number or hidden)


def number_of(tx: Connection, version_id: int | None) -> int | None:
    """Return the number that a version bears now."""
    return tx.scalar(select(NUMBER).where(versions.c.id == version_id)) if version_id else None


def showing(tx: Connection, doc_id: int) -> Showing:
    """Return what a document shows at this moment."""
    shelvings = tx.scalar(select(documents.c.shelvings).where(documents.c.id == doc_id)) or 0
    row = tx.execute(
        select(publications.c.seq, publications.c.version_id)
        .where(publications.c.doc_id == doc_id)
        .order_by(publications.c.seq.desc())
        .limit(1)
    ).one_or_none()
    return Showing(row.seq, row.version_id, shelvings) if row else Showing(0, None, shelvings)


def _rows() -> Select[Any]:
    return (
        select(publications, documents.c.doc_key, NUMBER)
        .join(documents, documents.c.id == publications.c.doc_id)
        .outerjoin(versions, versions.c.id == publications.c.version_id)
        .order_by(publications.c.seq.desc())
    )


def _publication(row: Row[Any]) -> Publication:
    return Publication(row.seq, row.doc_key, row.number, row.action, row.at, row.actor, row.subject, row.note)
