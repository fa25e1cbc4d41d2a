"""Documents and versions: an upload claims a version in one transaction, and lists read what was claimed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, select, update

from core.catalog.engine import Database, inserted_id
from core.catalog.schema import document_tags, documents, jobs, publications, versions
from core.errors import NotFound
from core.model import Document, JobState, Stage, UploadOutcome, Version


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
    tags: Sequence[str] = ()
    note: str = ""
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim found or made."""

    outcome: UploadOutcome
    doc_id: int
    version_id: int
    number: int
    job_id: str | None


class Documents:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, new: NewVersion) -> Claim:
        """Find the same bytes, or take the document's next number and queue its job; durable when it returns."""
        with self._database.write() as tx:
            return self._claim(tx, new)

    def claim_many(self, news: Sequence[NewVersion]) -> list[Claim]:
        with self._database.write() as tx:
            return [self._claim(tx, new) for new in news]

    def _claim(self, tx: Connection, new: NewVersion) -> Claim:
        now = datetime.now(UTC)
        doc_id = tx.scalar(select(documents.c.id).where(documents.c.doc_key == new.doc_key))
        if doc_id is None:
            doc_id = inserted_id(
                tx.execute(
                    insert(documents).values(
                        doc_key=new.doc_key,
                        name=new.name,
                        is_text_entry=new.is_text_entry,
                        created_at=now,
                        updated_at=now,
                    )
                )
            )
            latest = published_id = None
        else:
            latest = tx.execute(
                select(versions).where(versions.c.doc_id == doc_id).order_by(versions.c.number.desc()).limit(1)
            ).one()
            published_id = tx.scalar(
                select(publications.c.version_id)
                .where(publications.c.doc_id == doc_id)
                .order_by(publications.c.seq.desc())
                .limit(1)
            )
        _add_tags(tx, doc_id, new.tags)
        if latest is not None:
            found = self._same_bytes(tx, new, latest, published_id, now)
            if found:
                return found
        tx.execute(
            update(documents)
            .where(documents.c.id == doc_id)
            .values(name=new.name, is_text_entry=new.is_text_entry, updated_at=now)
        )
        number = latest.number + 1 if latest is not None else 1
        version_id = inserted_id(
            tx.execute(
                insert(versions).values(
                    doc_id=doc_id,
                    number=number,
                    file_name=new.name,
                    extension=new.extension,
                    sha256=new.sha256,
                    sha1=new.sha1,
                    size_bytes=new.size_bytes,
                    state="stored",
                    claimed_seq=tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0))),
                    created_at=now,
                    note=new.note,
                    actor=new.actor,
                    title=new.title,
                )
            )
        )
        job_id = _queue_job(tx, doc_id, version_id, now)
        return Claim(UploadOutcome.NEW, doc_id, version_id, number, job_id)

    def _same_bytes(
        self, tx: Connection, new: NewVersion, latest: Row[Any], published_id: int | None, now: datetime
    ) -> Claim | None:
        """What is meant to be current decides: a version still being indexed, else the published one."""
        current = latest
        if latest.state != "stored" and published_id is not None and published_id != latest.id:
            current = tx.execute(select(versions).where(versions.c.id == published_id)).one()
        is_current = latest.state == "stored" or published_id == current.id
        if is_current and _same(current, new):
            job_id = tx.scalar(
                select(jobs.c.id).where(jobs.c.version_id == current.id, jobs.c.state.in_(("queued", "running")))
            )
            return Claim(UploadOutcome.UNCHANGED, current.doc_id, current.id, current.number, job_id)
        if not _same(latest, new):
            return None
        if latest.state == "ready":
            return Claim(UploadOutcome.RESTORED, latest.doc_id, latest.id, latest.number, None)
        claimed_seq = tx.scalar(select(func.coalesce(func.max(publications.c.seq), 0)))
        tx.execute(
            update(versions)
            .where(versions.c.id == latest.id)
            .values(state="stored", error=None, claimed_seq=claimed_seq)
        )
        job_id = _queue_job(tx, latest.doc_id, latest.id, now)
        return Claim(UploadOutcome.NEW, latest.doc_id, latest.id, latest.number, job_id)

    def id_of(self, doc_key: str) -> int:
        with self._database.read() as tx:
            doc_id = tx.scalar(select(documents.c.id).where(documents.c.doc_key == doc_key))
        if doc_id is None:
            raise NotFound(f"There is no document “{doc_key}”.")
        return int(doc_id)

    def key_of(self, doc_id: int) -> str:
        with self._database.read() as tx:
            doc_key = tx.scalar(select(documents.c.doc_key).where(documents.c.id == doc_id))
        if doc_key is None:
            raise NotFound(f"There is no document with the id {doc_id}.")
        return str(doc_key)

    def find(self, search: str = "", *, include_deleted: bool = False, doc_id: int | None = None) -> list[Document]:
        """Return documents by name; ``search`` is literal text within the name, title or a tag."""
        with self._database.read() as tx:
            rows = tx.execute(_listing(doc_id)).all()
            tags: dict[int, list[str]] = {}
            tag_rows = select(document_tags.c.doc_id, document_tags.c.tag).order_by(document_tags.c.tag)
            if doc_id is not None:
                tag_rows = tag_rows.where(document_tags.c.doc_id == doc_id)
            for owner, tag in tx.execute(tag_rows):
                tags.setdefault(owner, []).append(tag)
        found = [_document(row, tuple(tags.get(row.id, ()))) for row in rows]
        needle = search.casefold().strip()
        return [
            document
            for document in found
            if (include_deleted or document.state != "deleted")
            and (not needle or needle in "\n".join((document.name, document.title, *document.tags)).casefold())
        ]

    def set_tags(self, doc_id: int, tags: Sequence[str]) -> None:
        with self._database.write() as tx:
            tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
            _add_tags(tx, doc_id, tags)

    def tags(self) -> list[str]:
        with self._database.read() as tx:
            return list(tx.scalars(select(document_tags.c.tag).distinct().order_by(document_tags.c.tag)))

    # ---- versions

    def versions(self, doc_id: int) -> list[Version]:
        """Return the versions of a document, newest first."""
        with self._database.read() as tx:
            rows = tx.execute(_version_rows().where(versions.c.doc_id == doc_id)).all()
            published_id = tx.scalar(
                select(publications.c.version_id)
                .where(publications.c.doc_id == doc_id)
                .order_by(publications.c.seq.desc())
                .limit(1)
            )
        return [_version(row, row.id == published_id) for row in rows]

    def version(self, version_id: int) -> Version:
        """Return one version by its id, without looking at what is published."""
        with self._database.read() as tx:
            row = tx.execute(_version_rows().where(versions.c.id == version_id)).one()
        return _version(row, False)

    def update_version(self, version_id: int, **values: Any) -> None:
        with self._database.write() as tx:
            tx.execute(update(versions).where(versions.c.id == version_id).values(**values))

    def parsed_sha256(self, version_id: int) -> str | None:
        with self._database.read() as tx:
            return tx.scalar(select(versions.c.parsed_sha256).where(versions.c.id == version_id))


def _same(row: Row[Any], new: NewVersion) -> bool:
    return bool(row.sha256 == new.sha256 and row.extension == new.extension and row.title == (new.title or row.title))


def _queue_job(tx: Connection, doc_id: int, version_id: int, now: datetime) -> str:
    job_id = secrets.token_hex(16)
    tx.execute(
        insert(jobs).values(
            id=job_id,
            kind="ingest",
            state=JobState.QUEUED,
            stage=Stage.STORED,
            doc_id=doc_id,
            version_id=version_id,
            created_at=now,
            updated_at=now,
        )
    )
    return job_id


def _add_tags(tx: Connection, doc_id: int, tags: Sequence[str]) -> None:
    wanted = {tag.strip()[:256] for tag in tags} - {""}
    if not wanted:
        return
    present = set(tx.scalars(select(document_tags.c.tag).where(document_tags.c.doc_id == doc_id)))
    if wanted - present:
        tx.execute(insert(document_tags), [{"doc_id": doc_id, "tag": tag} for tag in sorted(wanted - present)])


def _listing(doc_id: int | None) -> Select[Any]:
    """Select documents with their newest and their published version; of one document without reading the others."""
    last_publication = select(publications.c.doc_id, func.max(publications.c.seq).label("seq"))
    last_version = select(versions.c.doc_id, func.max(versions.c.number).label("number"), func.count().label("count"))
    last_version = last_version.where(versions.c.state != "cancelled")
    if doc_id is not None:
        last_publication = last_publication.where(publications.c.doc_id == doc_id)
        last_version = last_version.where(versions.c.doc_id == doc_id)
    published = last_publication.group_by(publications.c.doc_id).subquery("last_publication")
    newest = last_version.group_by(versions.c.doc_id).subquery("last_version")
    shown = versions.alias("shown")
    query = (
        select(
            documents,
            versions.c.number.label("latest_version"),
            versions.c.state.label("latest_state"),
            versions.c.extension.label("latest_extension"),
            versions.c.title.label("latest_title"),
            versions.c.language.label("latest_language"),
            versions.c.size_bytes.label("latest_size"),
            shown.c.number.label("published_version"),
            shown.c.extension,
            shown.c.title,
            shown.c.language,
            shown.c.size_bytes,
            shown.c.chunk_count,
            published.c.seq,
            newest.c.count.label("version_count"),
        )
        .join(newest, newest.c.doc_id == documents.c.id)
        .join(versions, and_(versions.c.doc_id == documents.c.id, versions.c.number == newest.c.number))
        .outerjoin(published, published.c.doc_id == documents.c.id)
        .outerjoin(publications, publications.c.seq == published.c.seq)
        .outerjoin(shown, shown.c.id == publications.c.version_id)
        .order_by(documents.c.name)
    )
    return query if doc_id is None else query.where(documents.c.id == doc_id)


def _document(row: Row[Any], tags: tuple[str, ...]) -> Document:
    if row.latest_state == "stored":
        state = "indexing"
    elif row.published_version is None and row.seq is not None:
        state = "deleted"
    elif row.latest_state == "failed":
        state = "failed"
    else:
        state = "published"
    is_shown = row.published_version is not None
    return Document(
        id=row.id,
        doc_key=row.doc_key,
        name=row.name,
        title=(row.title if is_shown else row.latest_title) or row.name,
        tags=tags,
        extension=row.extension if is_shown else row.latest_extension,
        language=(row.language if is_shown else row.latest_language) or "",
        size_bytes=row.size_bytes if is_shown else row.latest_size,
        state=state,
        published_version=row.published_version,
        latest_version=row.latest_version,
        version_count=row.version_count,
        chunk_count=row.chunk_count or 0,
        created_at=row.created_at,
        updated_at=row.updated_at,
        is_text_entry=row.is_text_entry,
    )


def _version_rows() -> Select[Any]:
    return (
        select(versions, documents.c.doc_key)
        .join(documents, documents.c.id == versions.c.doc_id)
        .order_by(versions.c.number.desc())
    )


def _version(row: Row[Any], is_published: bool) -> Version:
    details: Mapping[str, Any] = {"title": row.title, "language": row.language, **(row.metadata or {})}
    return Version(
        id=row.id,
        doc_key=row.doc_key,
        number=row.number,
        file_name=row.file_name,
        extension=row.extension,
        sha256=row.sha256,
        sha1=row.sha1,
        size_bytes=row.size_bytes,
        state=row.state,
        created_at=row.created_at,
        chunk_count=row.chunk_count,
        chunks_added=row.chunks_added,
        chunks_kept=row.chunks_kept,
        is_published=is_published,
        note=row.note,
        actor=row.actor,
        metadata=details,
        error=row.error,
    )
