"""Claims: an upload finds the same bytes, or takes its document's next number, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, case, exists, func, insert, select, update

from core.catalog.engine import inserted_id
from core.catalog.jobs.ledger import Attempt, NewJob, queue, queue_all
from core.catalog.journal import acknowledge
from core.catalog.schema import IS_CURRENT, NOT_A_DRAFT, document_tags, documents, jobs, publications, versions
from core.model import Filing, JobKind, JobState, UploadOutcome

_UNFILED = Filing()
_FEW = 500
_last_shown = (
    select(publications.c.version_id)
    .where(publications.c.doc_id == documents.c.id)
    .order_by(publications.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)
_last_number = select(func.max(versions.c.number)).where(versions.c.doc_id == documents.c.id).scalar_subquery()
_has_any = exists().where(
    versions.c.doc_id == documents.c.id, versions.c.sha256.in_(bindparam("hashes", expanding=True))
)
_WITHOUT_THESE = select(
    documents.c.id, documents.c.doc_key, _last_shown.label("shown_id"), _last_number.label("last")
).where(documents.c.doc_key.in_(bindparam("keys", expanding=True)), ~_has_any)
"""Documents without any of these bytes, of whatever version, each with what it shows and its highest number."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """What an upload brings to a claim."""

    doc_key: str
    name: str
    extension: str
    sha256: str
    sha1: str
    size_bytes: int
    is_text_entry: bool = False
    title: str = ""
    filing: Filing = _UNFILED
    owner_id: int | None = None
    """Whose private document it is."""
    parent: Attempt | None = None
    """The attempt at the archive that it came in."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim found or made. A restored version without a job is to be shown at once, else by its job."""

    outcome: UploadOutcome
    doc_id: int
    version_id: int
    number: int
    job_id: str | None
    indexed_by: str | None = None
    """The job that indexed what was found, where there is no job."""


def claim_all(tx: Connection, news: Sequence[NewVersion], now: datetime) -> list[Claim]:
    """Claim several versions; new documents are made together. Raises: ``Cancelled``, as ``claim`` does."""
    # Their jobs are taken and listed by age: in the order of the claims.
    moments = [now + timedelta(microseconds=number) for number in range(len(news))]
    return [
        found
        for at in range(0, len(news), _FEW)
        for found in _claim_few(tx, news[at : at + _FEW], moments[at : at + _FEW])
    ]


def _claim_few(tx: Connection, news: Sequence[NewVersion], moments: Sequence[datetime]) -> list[Claim]:
    for parent in {new.parent for new in news if new.parent is not None}:
        parent.check(tx)
    keys = {new.doc_key for new in news}
    known = set(tx.scalars(select(documents.c.doc_key).where(documents.c.doc_key.in_(keys))))
    fresh: dict[str, int] = {}
    for place, new in enumerate(news):
        if new.doc_key not in known:
            fresh.setdefault(new.doc_key, place)
    places = list(fresh.values())
    made = _first_versions(tx, [news[at] for at in places], [moments[at] for at in places]) if places else {}
    counts = Counter(new.doc_key for new in news)
    once = [
        (new, at) for new, at in zip(news, moments, strict=True) if new.doc_key in known and counts[new.doc_key] == 1
    ]
    made |= _next_versions(tx, once) if once else {}
    return [
        made[new.doc_key] if new.doc_key in made and fresh.get(new.doc_key, place) == place else claim(tx, new, moment)
        for place, (new, moment) in enumerate(zip(news, moments, strict=True))
    ]


def _first_versions(tx: Connection, news: Sequence[NewVersion], moments: Sequence[datetime]) -> dict[str, Claim]:
    """Make documents with a first version and its job each; return their claims by their keys."""
    timed = list(zip(news, moments, strict=True))
    tx.execute(insert(documents), [{**_document(new), "created_at": at, "updated_at": at} for new, at in timed])
    named = select(documents.c.doc_key, documents.c.id).where(documents.c.doc_key.in_([new.doc_key for new in news]))
    doc_ids: dict[str, int] = {row.doc_key: row.id for row in tx.execute(named)}
    tags = [{"doc_id": doc_ids[new.doc_key], "tag": tag} for new in news for tag in sorted(_tags_of(new.filing.tags))]
    if tags:
        tx.execute(insert(document_tags), tags)
    sequence = _sequence(tx)
    acknowledge(tx)
    tx.execute(
        insert(versions), [_version(doc_ids[new.doc_key], 1, new, sequence, at, is_first=True) for new, at in timed]
    )
    numbered = select(versions.c.doc_id, versions.c.id).where(versions.c.doc_id.in_(doc_ids.values()))
    version_ids = {row.doc_id: row.id for row in tx.execute(numbered)}
    works = [_job(doc_ids[new.doc_key], version_ids[doc_ids[new.doc_key]], new) for new in news]
    return {
        new.doc_key: Claim(UploadOutcome.NEW, doc_ids[new.doc_key], version_ids[doc_ids[new.doc_key]], 1, job_id)
        for new, job_id in zip(news, queue_all(tx, works, moments), strict=True)
    }


def _next_versions(tx: Connection, timed: Sequence[tuple[NewVersion, datetime]]) -> dict[str, Claim]:
    """Take the next numbers of documents that show something and have none of these bytes; return their claims.

    The others are left to ``claim``. Each document comes once.
    """
    given = {"keys": [new.doc_key for new, _ in timed], "hashes": [new.sha256 for new, _ in timed]}
    rows = {row.doc_key: row for row in tx.execute(_WITHOUT_THESE, given) if row.shown_id is not None}
    wanted = [(new, at) for new, at in timed if new.doc_key in rows]
    if not wanted:
        return {}
    for new, _ in wanted:
        add_tags(tx, rows[new.doc_key].id, new.filing.tags)
    sequence = _sequence(tx)
    acknowledge(tx)
    made = [
        _version(rows[new.doc_key].id, rows[new.doc_key].last + 1, new, sequence, at, is_first=False)
        for new, at in wanted
    ]
    tx.execute(insert(versions), made)
    newest = select(versions.c.doc_id, func.max(versions.c.id)).where(
        versions.c.doc_id.in_([row["doc_id"] for row in made])
    )
    ids: dict[int, int] = dict(tx.execute(newest.group_by(versions.c.doc_id)).all())
    claims = [Claim(UploadOutcome.NEW, row["doc_id"], ids[row["doc_id"]], row["number"], None) for row in made]
    works = [_job(claim.doc_id, claim.version_id, new) for claim, (new, _) in zip(claims, wanted, strict=True)]
    job_ids = queue_all(tx, works, [at for _, at in wanted])
    return {
        new.doc_key: replace(claim, job_id=job_id)
        for (new, _), claim, job_id in zip(wanted, claims, job_ids, strict=True)
    }


def claim(tx: Connection, new: NewVersion, now: datetime) -> Claim:
    """Find the same bytes, or take the document's next number and queue its job.

    Raises: ``Cancelled`` where the archive that it came in is not being unpacked any more.
    """
    if new.parent is not None:
        new.parent.check(tx)
    doc_id = tx.scalar(select(documents.c.id).where(documents.c.doc_key == new.doc_key))
    if doc_id is None:
        return _first_versions(tx, [new], [now])[new.doc_key]
    add_tags(tx, doc_id, new.filing.tags)
    shown_id = _shown_id(tx, doc_id)
    found = _same_bytes(tx, doc_id, new, shown_id, now)
    if found:
        return found if found.job_id else replace(found, indexed_by=_job_that_indexed(tx, found.version_id))
    # What is shown keeps its name and its moment until another version is published.
    if shown_id is None:
        tx.execute(
            update(documents)
            .where(documents.c.id == doc_id)
            .values(name=new.name, is_text_entry=new.is_text_entry, updated_at=now)
        )
    is_first = shown_id is None and _coming(tx, doc_id) is None
    return _next_version(tx, doc_id, new, now, is_first=is_first)


def add_tags(tx: Connection, doc_id: int, tags: Sequence[str]) -> None:
    wanted = _tags_of(tags)
    if not wanted:
        return
    present = set(tx.scalars(select(document_tags.c.tag).where(document_tags.c.doc_id == doc_id)))
    if wanted - present:
        tx.execute(insert(document_tags), [{"doc_id": doc_id, "tag": tag} for tag in sorted(wanted - present)])


def _next_version(tx: Connection, doc_id: int, new: NewVersion, now: datetime, *, is_first: bool) -> Claim:
    number = 1 + (tx.scalar(select(func.max(versions.c.number)).where(versions.c.doc_id == doc_id)) or 0)
    row = _version(doc_id, number, new, _sequence(tx), now, is_first=is_first)
    version_id = inserted_id(tx.execute(insert(versions).values(**row)))
    acknowledge(tx)
    return Claim(UploadOutcome.NEW, doc_id, version_id, number, _queue_job(tx, doc_id, version_id, new, now))


def _document(new: NewVersion) -> dict[str, Any]:
    return {"doc_key": new.doc_key, "name": new.name, "is_text_entry": new.is_text_entry, "owner_id": new.owner_id}


def _tags_of(tags: Sequence[str]) -> set[str]:
    return {tag.strip()[:256] for tag in tags} - {""}


def _version(
    doc_id: int, number: int, new: NewVersion, sequence: int, now: datetime, *, is_first: bool
) -> dict[str, Any]:
    filing = new.filing
    return {
        "doc_id": doc_id,
        "number": number,
        "file_name": new.name,
        "extension": new.extension,
        "is_text_entry": new.is_text_entry,
        "sha256": new.sha256,
        "sha1": new.sha1,
        "size_bytes": new.size_bytes,
        "state": "stored",
        "claimed_seq": sequence,
        "created_at": now,
        "note": filing.note,
        "label": filing.label,
        "actor": filing.actor,
        "title": new.title,
        "is_draft": _is_draft(filing),
        "publish_at": filing.publish_at,
        "publish_actor": filing.actor if filing.publish_at else "",
        "publish_early": _is_early(filing, is_first=is_first),
    }


def _same_bytes(tx: Connection, doc_id: int, new: NewVersion, shown_id: int | None, now: datetime) -> Claim | None:
    """Find the version that makes another one needless, and bring it to what the upload asks for."""
    latest = _newest(tx, doc_id, versions.c.state != "purged")
    if latest is None:
        return None
    shown = _newest(tx, doc_id, versions.c.id == shown_id) if shown_id is not None else None
    ready = _newest(tx, doc_id, versions.c.state == "ready")
    coming = _coming(tx, doc_id, shown.number if shown is not None else 0)
    current = coming if coming is not None else shown
    indexing = latest if latest.state == "stored" else None
    if _is_draft(new.filing):
        for row in (indexing, ready, current):
            if row is not None and _same(row, new):
                return _unchanged(tx, row, new.filing, shown_id)
    elif current is not None and _same(current, new):
        if current.state == "stored":
            # Asked for anew: what happened to the document meanwhile does not stand against it.
            tx.execute(update(versions).where(versions.c.id == current.id).values(claimed_seq=_sequence(tx)))
        job_id = _active_job(tx, current.id)
        if job_id is None and current.state == "ready" and current.embedded_chunks < current.chunk_count:
            # Published early, and its embedding failed: it goes on.
            job_id = _queue_job(tx, doc_id, current.id, new, now)
        return Claim(UploadOutcome.UNCHANGED, doc_id, current.id, current.number, job_id)
    elif indexing is not None and _same(indexing, new):
        is_early = _is_early(new.filing, is_first=shown_id is None and coming is None)
        wanted = {**NOT_A_DRAFT, "claimed_seq": _sequence(tx), "publish_early": indexing.publish_early or is_early}
        wanted |= _said(indexing, new.filing)
        tx.execute(update(versions).where(versions.c.id == indexing.id).values(**wanted))
        return Claim(UploadOutcome.RESTORED, doc_id, indexing.id, indexing.number, _active_job(tx, indexing.id))
    elif coming is None and ready is not None and _same(ready, new):
        tx.execute(update(versions).where(versions.c.id == ready.id).values(**_said(ready, new.filing)))
        return Claim(UploadOutcome.RESTORED, doc_id, ready.id, ready.number, None)
    if latest.state in ("failed", "cancelled") and _same(latest, new):
        return _again(tx, latest, new, now, is_first=shown_id is None and coming is None)
    return None


def _newest(tx: Connection, doc_id: int, *conditions: ColumnElement[bool]) -> Row[Any] | None:
    query = select(versions).where(versions.c.doc_id == doc_id, IS_CURRENT, *conditions)
    return tx.execute(query.order_by(versions.c.number.desc()).limit(1)).one_or_none()


def _unchanged(tx: Connection, row: Row[Any], filing: Filing, shown_id: int | None) -> Claim:
    """Keep the version as it is; a moment of publication that is asked for again takes the place of the former one."""
    if filing.publish_at is not None and row.id != shown_id and (row.is_draft or row.state == "ready"):
        tx.execute(
            update(versions)
            .where(versions.c.id == row.id)
            .values(publish_at=filing.publish_at, publish_actor=filing.actor)
        )
    return Claim(UploadOutcome.UNCHANGED, row.doc_id, row.id, row.number, _active_job(tx, row.id))


def _again(tx: Connection, row: Row[Any], new: NewVersion, now: datetime, *, is_first: bool) -> Claim:
    """Index a version again that failed or was cancelled."""
    filing = new.filing
    tx.execute(
        update(versions)
        .where(versions.c.id == row.id)
        .values(
            state="stored",
            error=None,
            claimed_seq=_sequence(tx),
            **_said(row, filing),
            is_draft=_is_draft(filing),
            publish_at=filing.publish_at,
            publish_actor=filing.actor if filing.publish_at else "",
            publish_early=_is_early(filing, is_first=is_first),
        )
    )
    return Claim(UploadOutcome.NEW, row.doc_id, row.id, row.number, _queue_job(tx, row.doc_id, row.id, new, now))


def _coming(tx: Connection, doc_id: int, after: int = 0) -> Row[Any] | None:
    """Return the newest version that is still to be indexed and shown, of those numbered above ``after``."""
    stored = versions.c.state == "stored", versions.c.is_draft.is_(False)
    return _newest(tx, doc_id, *stored, versions.c.number > after)


def _is_early(filing: Filing, *, is_first: bool) -> bool:
    """Tell whether a version is shown before its vectors are there; unless asked, only what replaces nothing is."""
    if filing.early is None:
        return is_first and not _is_draft(filing)
    return filing.early


def _is_draft(filing: Filing) -> bool:
    return filing.draft or filing.publish_at is not None


def _said(row: Row[Any], filing: Filing) -> dict[str, str]:
    """Keep what is said of a version, and take what is missing from an upload of the same bytes."""
    return {"note": row.note or filing.note, "label": row.label or filing.label}


def _same(row: Row[Any], new: NewVersion) -> bool:
    """Tell whether a version has the bytes, and its chunks where it is indexed."""
    if row.state == "ready" and not row.chunk_count:
        return False
    return bool(row.sha256 == new.sha256 and row.extension == new.extension and row.title == (new.title or row.title))


def _shown_id(tx: Connection, doc_id: int) -> int | None:
    last = select(publications.c.version_id).where(publications.c.doc_id == doc_id)
    return tx.scalar(last.order_by(publications.c.seq.desc()).limit(1))


def _sequence(tx: Connection) -> int:
    return int(tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0))) or 0)


def _active_job(tx: Connection, version_id: int) -> str | None:
    active = (JobState.QUEUED, JobState.RUNNING)
    return tx.scalar(select(jobs.c.id).where(jobs.c.version_id == version_id, jobs.c.state.in_(active)))


def _job_that_indexed(tx: Connection, version_id: int) -> str | None:
    ended = select(jobs.c.id).where(jobs.c.version_id == version_id, jobs.c.kind == JobKind.INGEST)
    is_done = case((jobs.c.state == JobState.DONE, 1), else_=0)
    return tx.scalar(ended.order_by(is_done.desc(), jobs.c.created_at.desc()).limit(1))


def _queue_job(tx: Connection, doc_id: int, version_id: int, new: NewVersion, now: datetime) -> str:
    return queue(tx, _job(doc_id, version_id, new), now)


def _job(doc_id: int, version_id: int, new: NewVersion) -> NewJob:
    return NewJob(
        kind=JobKind.INGEST,
        name=new.name,
        size_bytes=new.size_bytes,
        actor=new.filing.actor,
        owner_id=new.owner_id,
        priority=new.filing.priority,
        parent_id=new.parent.job_id if new.parent is not None else None,
        doc_id=doc_id,
        version_id=version_id,
    )
