"""Publications: the append-only account of which version a document shows from which sequence number on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, literal, select, update

from core.catalog.engine import Database, inserted_id
from core.catalog.outbox import STORES
from core.catalog.schema import documents, jobs, outbox, publications, version_chunks, versions
from core.errors import Cancelled
from core.model import JobState, Part, Publication, Stage


@dataclass(frozen=True, slots=True)
class Showing:
    """What a document shows now: the sequence number of its last publication, and the version's id if any."""

    seq: int
    version_id: int | None


@dataclass(frozen=True, slots=True)
class Finishing:
    """The attempt of an upload's job that publishes its version."""

    job_id: str
    attempt: int
    version_id: int
    stage_seconds: Mapping[str, float]

    def end(self, tx: Connection) -> None:
        """End the job and its version as done. Raises: ``Cancelled`` where this attempt is not the running one."""
        ended = tx.execute(
            update(jobs)
            .where(jobs.c.id == self.job_id, jobs.c.state == JobState.RUNNING, jobs.c.attempts == self.attempt)
            .values(
                state=JobState.DONE,
                stage=Stage.PUBLISHED,
                done=1,
                total=1,
                stage_seconds=dict(self.stage_seconds),
                updated_at=datetime.now(UTC),
            )
        )
        if not ended.rowcount:
            raise Cancelled("The job was cancelled.")
        tx.execute(update(versions).where(versions.c.id == self.version_id).values(state="ready", error=None))


_present = select(
    select(func.coalesce(func.max(publications.c.seq), 0)).scalar_subquery(),
    select(func.min(outbox.c.id)).scalar_subquery(),
)


class Publications:
    def __init__(self, database: Database) -> None:
        self._database = database

    def sequence(self) -> int:
        """Return the newest sequence number, 0 before the first publication."""
        with self._database.read() as tx:
            return int(tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0))) or 0)

    def present(self) -> tuple[int, bool]:
        """Return the newest sequence number, and whether both indexes have been told everything up to it."""
        with self._database.read() as tx:
            newest, waiting = tx.execute(_present).one()
        return int(newest), waiting is None

    def sequence_at(self, moment: datetime) -> int:
        with self._database.read() as tx:
            newest = select(func.coalesce(func.max(publications.c.seq), 0)).where(publications.c.at <= moment)
            return int(tx.scalar(newest) or 0)

    def showing(self, doc_id: int) -> Showing:
        with self._database.read() as tx:
            return _showing(tx, doc_id)

    def of(self, doc_id: int) -> list[Publication]:
        """Return the publications of a document, newest first."""
        query = (
            select(publications, documents.c.doc_key, versions.c.number)
            .join(documents, documents.c.id == publications.c.doc_id)
            .outerjoin(versions, versions.c.id == publications.c.version_id)
            .where(publications.c.doc_id == doc_id)
            .order_by(publications.c.seq.desc())
        )
        with self._database.read() as tx:
            return [
                Publication(row.seq, row.doc_key, row.number, row.action, row.at, row.actor)
                for row in tx.execute(query)
            ]

    def prepare(self, doc_id: int, version_id: int) -> Showing:
        """Ask the indexes for the version's chunks in head; return what the document shows until then."""
        with self._database.write() as tx:
            showing = _showing(tx, doc_id)
            _enqueue_difference(tx, version_id, showing.version_id, Part.HEAD)
            return showing

    def commit(
        self,
        doc_id: int,
        version_id: int | None,
        action: str,
        actor: str,
        *,
        expected: Showing,
        finishing: Finishing | None = None,
    ) -> Publication | None:
        """Append the publication and send what it replaces to history, or return None if the world has moved on.

        ``finishing`` is the job whose end this is: both happen or neither does. Raises: ``Cancelled`` where the job
        has ended already, or was started again.
        """
        with self._database.write() as tx:
            showing = _showing(tx, doc_id)
            if showing != expected:
                return None
            if finishing is not None:
                finishing.end(tx)
            now = datetime.now(UTC)
            # Moments must order as sequence numbers do, or "as of" a moment would cut between them.
            last = tx.scalar(select(publications.c.at).order_by(publications.c.seq.desc()).limit(1))
            at = max(now, last) if last else now
            seq = inserted_id(
                tx.execute(
                    insert(publications).values(doc_id=doc_id, version_id=version_id, action=action, at=at, actor=actor)
                )
            )
            if showing.version_id is not None:
                _enqueue_difference(tx, showing.version_id, version_id, Part.HISTORY)
            tx.execute(update(documents).where(documents.c.id == doc_id).values(updated_at=now))
            doc_key = tx.scalar(select(documents.c.doc_key).where(documents.c.id == doc_id))
            number = tx.scalar(select(versions.c.number).where(versions.c.id == version_id)) if version_id else None
        return Publication(seq, str(doc_key), number, action, at, actor)

    def is_settled(self, doc_id: int, version_id: int) -> bool:
        """Tell whether an upload must not publish (again).

        That is so when its version or a newer one was published, or the document deleted, since it was uploaded.
        """
        with self._database.read() as tx:
            own = tx.execute(select(versions.c.number, versions.c.claimed_seq).where(versions.c.id == version_id)).one()
            newest = tx.scalar(
                select(func.max(versions.c.number))
                .join(publications, publications.c.version_id == versions.c.id)
                .where(publications.c.doc_id == doc_id)
            )
            deleted = tx.scalar(
                select(func.max(publications.c.seq)).where(
                    publications.c.doc_id == doc_id, publications.c.version_id.is_(None)
                )
            )
        return bool((newest or 0) >= own.number or (deleted or 0) > own.claimed_seq)

    def shelve(self, doc_id: int, version_id: int) -> None:
        """Send the chunks of a version that is not shown to history, but for those that what is shown shares."""
        with self._database.write() as tx:
            showing = _showing(tx, doc_id)
            if showing.version_id != version_id:
                _enqueue_difference(tx, version_id, showing.version_id, Part.HISTORY)

    def before(self, doc_id: int, seq: int) -> Sequence[Showing]:
        """Return what the document showed before the publication ``seq``, newest first."""
        query = (
            select(publications.c.seq, publications.c.version_id)
            .where(publications.c.doc_id == doc_id, publications.c.seq < seq)
            .order_by(publications.c.seq.desc())
        )
        with self._database.read() as tx:
            return [Showing(row.seq, row.version_id) for row in tx.execute(query)]


def _showing(tx: Connection, doc_id: int) -> Showing:
    row = tx.execute(
        select(publications.c.seq, publications.c.version_id)
        .where(publications.c.doc_id == doc_id)
        .order_by(publications.c.seq.desc())
        .limit(1)
    ).one_or_none()
    return Showing(row.seq, row.version_id) if row else Showing(0, None)


def _enqueue_difference(tx: Connection, of: int, without: int | None, part: Part) -> None:
    """Ask every store to hold in ``part`` the chunks of version ``of`` that version ``without`` does not have."""
    members = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == of)
    others = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id == without)
    chosen = (members if without is None else members.except_(others)).subquery()
    for store in STORES:
        rows = select(literal(store), chosen.c.chunk_id, literal(part.value)).distinct()
        tx.execute(insert(outbox).from_select(["store", "chunk_id", "part"], rows))
