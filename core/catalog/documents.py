"""Documents and versions, as lists and pages read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, case, delete, func, or_, select, update

from core.catalog.claims import Claim, NewVersion, add_tags, claim
from core.catalog.engine import Database
from core.catalog.schema import document_tags, documents, publications, versions
from core.errors import NotFound
from core.model import Document, Version


class Documents:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, new: NewVersion) -> Claim:
        """Find the same bytes, or take the document's next number and queue its job; durable when it returns."""
        return self.claim_many([new])[0]

    def claim_many(self, news: Sequence[NewVersion]) -> list[Claim]:
        """Claim several versions in one transaction."""
        with self._database.write() as tx:
            return [claim(tx, new, datetime.now(UTC)) for new in news]

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
            if (include_deleted or document.state not in ("deleted", "purged"))
            and (not needle or needle in "\n".join((document.name, document.title, *document.tags)).casefold())
        ]

    def set_tags(self, doc_id: int, tags: Sequence[str]) -> None:
        with self._database.write() as tx:
            tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
            add_tags(tx, doc_id, tags)

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

    def update_version(self, version_id: int, **values: Any) -> bool:
        """Change columns of a version; tell whether it was there to be changed, and not purged."""
        present = update(versions).where(versions.c.id == version_id, versions.c.state != "purged")
        with self._database.write() as tx:
            return bool(tx.execute(present.values(**values)).rowcount)

    def parsed_sha256(self, version_id: int) -> str | None:
        with self._database.read() as tx:
            return tx.scalar(select(versions.c.parsed_sha256).where(versions.c.id == version_id))

    def is_text_entry(self, version_id: int) -> bool:
        """Tell whether the version was typed, so that its bytes are its text."""
        with self._database.read() as tx:
            return bool(tx.scalar(select(versions.c.is_text_entry).where(versions.c.id == version_id)))


def _listing(doc_id: int | None) -> Select[Any]:
    """Select documents with their newest and their published version; of one document without reading the others."""
    decided = select(publications.c.doc_id, func.max(publications.c.seq).label("seq"))
    # The purge of one version decides nothing about what the document shows.
    decided = decided.where(or_(publications.c.action != "purge", publications.c.subject.is_(None)))
    kept_number = case((versions.c.state != "purged", versions.c.number))
    last_version = select(
        versions.c.doc_id,
        func.coalesce(func.max(kept_number), func.max(versions.c.number)).label("number"),
        func.count().label("count"),
        func.min(versions.c.publish_at).label("publish_at"),
    ).where(versions.c.state != "cancelled")
    if doc_id is not None:
        decided = decided.where(publications.c.doc_id == doc_id)
        last_version = last_version.where(versions.c.doc_id == doc_id)
    decision = decided.group_by(publications.c.doc_id).subquery("decision")
    newest = last_version.group_by(versions.c.doc_id).subquery("last_version")
    shown = versions.alias("shown")
    query = (
        select(
            documents,
            versions.c.number.label("latest_version"),
            versions.c.state.label("latest_state"),
            versions.c.claimed_seq.label("latest_claimed_seq"),
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
            publications.c.seq,
            publications.c.action,
            newest.c.count.label("version_count"),
            newest.c.publish_at,
        )
        .join(newest, newest.c.doc_id == documents.c.id)
        .join(versions, and_(versions.c.doc_id == documents.c.id, versions.c.number == newest.c.number))
        .outerjoin(decision, decision.c.doc_id == documents.c.id)
        .outerjoin(publications, publications.c.seq == decision.c.seq)
        .outerjoin(shown, shown.c.id == publications.c.version_id)
        .order_by(documents.c.name)
    )
    return query if doc_id is None else query.where(documents.c.id == doc_id)


def _document(row: Row[Any], tags: tuple[str, ...]) -> Document:
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
        state=_state(row),
        published_version=row.published_version,
        latest_version=row.latest_version,
        version_count=row.version_count,
        chunk_count=row.chunk_count or 0,
        created_at=row.created_at,
        updated_at=row.updated_at,
        is_text_entry=row.is_text_entry,
        publish_at=row.publish_at,
    )


def _state(row: Row[Any]) -> str:
    if row.latest_state == "stored":
        return "indexing"
    if row.published_version is not None:
        return "failed" if row.latest_state == "failed" else "published"
    if row.latest_state == "purged":
        return "purged"
    if row.action == "delete" and row.latest_claimed_seq < row.seq:
        return "deleted"
    if row.latest_state == "failed":
        return "failed"
    return "unpublished" if row.action == "unpublish" else "draft"


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
        label=row.label,
        chunks_removed=row.chunks_removed,
        is_draft=row.is_draft,
        publish_at=row.publish_at,
        purged_at=row.purged_at,
        purged_by=row.purged_by,
    )
