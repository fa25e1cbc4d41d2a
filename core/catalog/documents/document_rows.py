"""Documents as their rows tell them: the newest version, the one that is shown, the state, and the tags."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import (
    BindParameter,
    Case,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
)

from core.catalog.schema import IS_CURRENT, document_tags, documents, publications, versions
from core.model import Document


def document_rows(doc_ids: Collection[int] | BindParameter[Any] | None) -> Select[Any]:
    """Select documents with their newest and their published version; of some without reading the others."""
    decided = select(publications.c.doc_id, func.max(publications.c.seq).label("seq"))
    # The purge of one version decides nothing about what the document shows.
    decided = decided.where(or_(publications.c.action != "purge", publications.c.subject.is_(None)))
    kept_number = case((versions.c.state != "purged", versions.c.number))
    last_version = select(
        versions.c.doc_id,
        func.coalesce(func.max(kept_number), func.max(versions.c.number)).label("number"),
        func.count().label("count"),
        func.min(versions.c.publish_at).label("publish_at"),
    ).where(or_(versions.c.state != "cancelled", _was_deleted_meanwhile()), IS_CURRENT)
    if doc_ids is not None:
        decided = decided.where(publications.c.doc_id.in_(doc_ids))
        last_version = last_version.where(versions.c.doc_id.in_(doc_ids))
    decision = decided.group_by(publications.c.doc_id).subquery("decision")
    newest = last_version.group_by(versions.c.doc_id).subquery("last_version")
    shown = versions.alias("shown")
    query = (
        select(
            documents,
            versions.c.number.label("latest_version"),
            _state(versions, shown).label("state"),
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
            shown.c.metadata["in_part"].as_string().label("in_part"),
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
    return query if doc_ids is None else query.where(documents.c.id.in_(doc_ids))


def document_of(row: Row[Any], tags: tuple[str, ...]) -> Document:
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
        state=row.state,
        published_version=row.published_version,
        latest_version=row.latest_version,
        version_count=row.version_count,
        chunk_count=row.chunk_count or 0,
        created_at=row.created_at,
        updated_at=row.updated_at,
        is_text_entry=row.is_text_entry,
        publish_at=row.publish_at,
        owner="" if row.owner_id is None else owner_of(row.doc_key),
        in_part=row.in_part or "",
    )


def owner_of(doc_key: str) -> str:
    """Return the name of the user whose private document a key names."""
    return doc_key.partition("/")[0].removeprefix("~")


def tags_of(tx: Connection, doc_ids: Collection[int] | None) -> dict[int, list[str]]:
    """Return the tags of documents (None: of all) by document."""
    rows = tx.execute(_TAGS) if doc_ids is None else tx.execute(_SOME_TAGS, {"doc_ids": list(doc_ids)})
    found: dict[int, list[str]] = {}
    for doc_id, tag in rows:
        found.setdefault(doc_id, []).append(tag)
    return found


def _state(latest: FromClause, shown: FromClause) -> Case[str]:
    """Say in words what a document is, by its newest version, the one it shows, and what was decided last."""
    is_shown, failed = shown.c.number.is_not(None), latest.c.state == "failed"
    is_deleted = and_(publications.c.action == "delete", latest.c.claimed_seq < publications.c.seq)
    return case(
        (latest.c.state == "stored", "indexing"),
        (and_(is_shown, failed), "failed"),
        (is_shown, "published"),
        (latest.c.state == "purged", "purged"),
        (is_deleted, "deleted"),
        (failed, "failed"),
        (publications.c.action == "unpublish", "unpublished"),
        else_="draft",
    )


def _was_deleted_meanwhile() -> ColumnElement[bool]:
    """Tell of a cancelled version that its document was deleted before it had any other, and may be restored."""
    other = versions.alias("other")
    others = select(other.c.id).where(other.c.doc_id == versions.c.doc_id, other.c.state != "cancelled")
    deleted = select(publications.c.seq).where(
        publications.c.doc_id == versions.c.doc_id, publications.c.action == "delete"
    )
    return and_(deleted.correlate(versions).exists(), ~others.correlate(versions).exists())


SOME_DOCUMENTS = document_rows(bindparam("doc_ids", expanding=True))
"""Written out once, since every write transaction that touches a document asks for it; ``doc_ids`` are given to it."""
_TAGS = select(document_tags.c.doc_id, document_tags.c.tag).order_by(document_tags.c.tag)
_SOME_TAGS = _TAGS.where(document_tags.c.doc_id.in_(bindparam("doc_ids", expanding=True)))
