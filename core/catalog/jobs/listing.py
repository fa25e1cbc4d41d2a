"""The job ledger as people read it: everyone sees the jobs of the documents that they see, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, or_, select, true

from core import access
from core.catalog.engine import Database
from core.catalog.jobs.changes import newest_change
from core.catalog.jobs.events import log
from core.catalog.schema import NUMBER, documents, jobs, versions
from core.errors import NotFound
from core.model import Job, JobEvent, JobFilter, JobState, Stage

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
_ALL = JobFilter()
_FEW = 300
"""Documents."""


class JobLists:
    """Reads jobs on behalf of whoever acts; another one's private job is as if it had never been."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.changes = database.changes

    def recent(
        self,
        filters: JobFilter = _ALL,
        *,
        active: bool = False,
        limit: int = 200,
        ids: Sequence[str] | None = None,
        before: str | None = None,
        changed_since: int | None = None,
    ) -> list[Job]:
        """Return jobs, newest first, from the one after the job ``before`` on. Raises: ``NotFound`` for ``before``."""
        query = _rows().where(_seen(), *_conditions(filters)).order_by(jobs.c.created_at.desc(), jobs.c.id)
        if active:
            query = query.where(jobs.c.state.in_(ACTIVE))
        if ids is not None:
            query = query.where(jobs.c.id.in_(ids))
        if changed_since is not None:
            query = query.where(jobs.c.change > changed_since)
        with self._database.read() as tx:
            if filters.search:
                query = query.where(_is_named(tx, filters.search))
            if before is not None:
                at = _one(tx, before).created_at
                later = and_(jobs.c.created_at == at, jobs.c.id > before)
                query = query.where(or_(jobs.c.created_at < at, later))
            return [job_of(row) for row in tx.execute(query.limit(limit))]

    def get(self, job_id: str) -> Job:
        """Raises: ``NotFound``."""
        with self._database.read() as tx:
            return job_of(_one(tx, job_id))

    def owner(self, job_id: str) -> tuple[int, int]:
        """Return the ids of the document and the version that the job works on, 0 where it has none.

        Raises: ``NotFound``.
        """
        with self._database.read() as tx:
            row = _one(tx, job_id)
        return row.doc_id or 0, row.version_id or 0

    def owners(self, job_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return what ``owner`` does of several jobs, by their ids."""
        query = select(jobs.c.id, jobs.c.doc_id, jobs.c.version_id).where(jobs.c.id.in_(job_ids))
        with self._database.read() as tx:
            return {row.id: (row.doc_id or 0, row.version_id or 0) for row in tx.execute(query)}

    def active_among(self, job_ids: Sequence[str]) -> set[str]:
        """Return those of the jobs that have not ended."""
        query = select(jobs.c.id).where(jobs.c.id.in_(job_ids), jobs.c.state.in_(ACTIVE))
        with self._database.read() as tx:
            return set(tx.scalars(query))

    def log(self, job_id: str, after: int = 0) -> list[JobEvent]:
        """Return what happened to the job after a sequence number, oldest first. Raises: ``NotFound``."""
        with self._database.read() as tx:
            _one(tx, job_id)
            return log(tx, job_id, after)

    def counts(self, filters: JobFilter = _ALL) -> dict[JobState, int]:
        """Return how many jobs are in each state."""
        query = select(jobs.c.state, func.count()).where(*_conditions(filters)).group_by(jobs.c.state)
        # Counted from an index alone, where nothing is asked of the documents.
        if filters.doc_key or not access.sees_all(access.current()):
            query = query.select_from(jobs).outerjoin(documents, documents.c.id == jobs.c.doc_id).where(_seen())
        found = dict.fromkeys(JobState, 0)
        with self._database.read() as tx:
            for of in _named(filters.search):
                for state, count in tx.execute(query.where(*of)):
                    found[JobState(state)] += count
        return found

    def active_of(self, doc_id: int) -> list[str]:
        """Return the ids of the document's jobs that have not ended."""
        with self._database.read() as tx:
            return list(tx.scalars(select(jobs.c.id).where(jobs.c.doc_id == doc_id, jobs.c.state.in_(ACTIVE))))

    def children(self, job_id: str) -> list[str]:
        """Return the ids of the jobs of an archive's documents that have not ended."""
        own = jobs.c.parent_id == job_id, jobs.c.state.in_(ACTIVE)
        with self._database.read() as tx:
            return list(tx.scalars(select(jobs.c.id).where(*own).order_by(jobs.c.created_at, jobs.c.id)))

    def payload(self, job_id: str) -> dict[str, Any]:
        """Return what a job without a document works on."""
        with self._database.read() as tx:
            return dict(tx.scalar(select(jobs.c.payload).where(jobs.c.id == job_id)) or {})

    def newest_change(self) -> int:
        with self._database.read() as tx:
            return newest_change(tx)


def _one(tx: Connection, job_id: str) -> Row[Any]:
    row = tx.execute(_rows().where(jobs.c.id == job_id, _seen())).one_or_none()
    if row is None:
        raise NotFound(f"There is no job “{job_id[:64]}”.", remedy="Look it up in the list of jobs.")
    return row


def _seen() -> ColumnElement[bool]:
    """Select the jobs that whoever acts may see: of a document as the document itself, of an archive by its owner."""
    who = access.current()
    if access.sees_all(who):
        return true()
    owner = case((jobs.c.doc_id.is_not(None), documents.c.owner_id), else_=jobs.c.owner_id)
    return owner.is_(None) if who.user_id is None else or_(owner.is_(None), owner == who.user_id)


def _conditions(filters: JobFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if filters.states:
        found.append(jobs.c.state.in_(filters.states))
    if filters.kinds:
        found.append(jobs.c.kind.in_(filters.kinds))
    if filters.actor:
        found.append(jobs.c.actor == filters.actor)
    if filters.doc_key:
        found.append(documents.c.doc_key == filters.doc_key)
    if filters.parent_id:
        found.append(jobs.c.parent_id == filters.parent_id)
    if filters.ids is not None:
        found.append(jobs.c.id.in_(filters.ids))
    return found


def _is_named(tx: Connection, search: str) -> ColumnElement[bool]:
    """Select the jobs whose document has these letters of either case in its name, or which have them in their own.

    Of few documents the jobs are looked up; of many, soon found in any order, the names are read with the jobs.
    """
    named = documents.c.name.icontains(search, autoescape=True)
    ids = list(tx.scalars(select(documents.c.id).where(named).limit(_FEW + 1)))
    if len(ids) > _FEW:
        return func.coalesce(documents.c.name, jobs.c.name).icontains(search, autoescape=True)
    return or_(jobs.c.doc_id.in_(ids), and_(*_by_own_name(search)))


def _named(search: str) -> list[tuple[ColumnElement[bool], ...]]:
    """Return the conditions of the parts in which the jobs that ``_is_named`` selects are counted fastest."""
    if not search:
        return [()]
    own = select(documents.c.id).where(documents.c.name.icontains(search, autoescape=True))
    return [(jobs.c.doc_id.in_(own),), _by_own_name(search)]


def _by_own_name(search: str) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.doc_id.is_(None), jobs.c.name.icontains(search, autoescape=True)


def _from(query: Select[Any]) -> Select[Any]:
    return (
        query.select_from(jobs)
        .outerjoin(documents, documents.c.id == jobs.c.doc_id)
        .outerjoin(versions, versions.c.id == jobs.c.version_id)
    )


def _rows() -> Select[Any]:
    named = func.coalesce(func.nullif(jobs.c.name, ""), documents.c.name, "").label("shown_name")
    return _from(select(jobs, documents.c.doc_key, named, NUMBER, versions.c.keyword_ready))


def rows_of(tx: Connection, job_ids: Sequence[str]) -> list[Job]:
    """Return jobs in the order of their ids, whoever acts."""
    found = {row.id: job_of(row) for row in tx.execute(_rows().where(jobs.c.id.in_(job_ids)))}
    return [found[job_id] for job_id in job_ids]


def job_of(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        state=JobState(row.state),
        stage=Stage(row.stage),
        done=row.done,
        total=row.total,
        doc_key=row.doc_key or "",
        version=row.number or 0,
        name=row.shown_name,
        attempts=row.attempts,
        created_at=row.created_at,
        updated_at=row.updated_at,
        error=row.error,
        stage_seconds=row.stage_seconds or {},
        stage_counts=row.stage_counts or {},
        actor=row.actor,
        priority=row.priority,
        parent_id=row.parent_id,
        started_at=row.started_at,
        finished_at=row.finished_at,
        keyword_ready=bool(row.keyword_ready),
        size_bytes=row.size_bytes,
        resources=row.resources or {},
        change=row.change,
    )
