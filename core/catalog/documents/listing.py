"""Documents and versions, as lists and pages read them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Case, Connection, FromClause, Row, Select, and_, case, delete, func, or_, select, update

from core.catalog.documents.claims import Claim, NewVersion, add_tags, claim_all
from core.catalog.documents.isolation import seen
from core.catalog.documents.leftovers import FileKind, drop
from core.catalog.engine import Database
from core.catalog.schema import IS_CURRENT, NUMBER, document_tags, documents, publications, versions
from core.errors import NotFound
from core.model import Document, Version

_GONE = ("deleted", "purged")


class Documents:
    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, new: NewVersion) -> Claim:
        """Find the same bytes, or take the document's next number and queue its job; durable when it returns."""
        return self.claim_many([new])[0]

    def claim_many(
        self, news: Sequence[NewVersion], also: Callable[[Connection, list[Claim]], None] | None = None
    ) -> list[Claim]:
        """Claim several versions in one transaction, together with what ``also`` writes."""
        with self._database.write() as tx:
            claims = claim_all(tx, news, datetime.now(UTC))
            drop(tx, FileKind.BLOB, {new.sha256 for new in news})
            if also is not None:
                also(tx, claims)
        return claims

    def id_of(self, doc_key: str) -> int:
        """Return the id of a document that whoever acts sees. Raises: ``NotFound``."""
        with self._database.read() as tx:
            doc_id = tx.scalar(select(documents.c.id).where(documents.c.doc_key == doc_key, seen()))
        if doc_id is None:
            raise NotFound(f"There is no document “{doc_key}”.")
        return int(doc_id)

    def key_of(self, doc_id: int) -> str:
        with self._database.read() as tx:
            doc_key = tx.scalar(select(documents.c.doc_key).where(documents.c.id == doc_id, seen()))
        if doc_key is None:
            raise NotFound(f"There is no document with the id {doc_id}.")
        return str(doc_key)

    def find(
        self, search: str = "", *, include_deleted: bool = False, doc_id: int | None = None, limit: int | None = None
    ) -> list[Document]:
        """Return the documents that whoever acts sees, by name; ``search`` is literal text in name, title or tag.

        The first ``limit`` of them take a fraction of the time of all.
        """
        if limit is not None:
            brief, listed = _brief(include_deleted)
            with self._database.read() as tx:
                fitting = _fitting(tx, brief.order_by(listed.c.name), search)
                return _read(tx, [row.id for row in fitting[:limit]])
        doc_ids = None if doc_id is None else (doc_id,)
        with self._database.read() as tx:
            rows = tx.execute(_listing(doc_ids).where(seen())).all()
            tags = _tags(tx, doc_ids)
        found = [_document(row, tuple(tags.get(row.id, ()))) for row in rows]
        needle = search.casefold().strip()
        return [
            document
            for document in found
            if (include_deleted or document.state not in _GONE)
            and (not needle or _holds(needle, document.name, document.title, document.tags))
        ]

    def page(
        self,
        search: str = "",
        *,
        include_deleted: bool = False,
        tags: Collection[str] = (),
        extensions: Collection[str] = (),
        state: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> tuple[list[Document], int, bool]:
        """Return documents by key from behind ``after`` on, how many fit in all, and whether more follow.

        ``search`` is as for ``find``; ``tags`` are those that a document must have all.
        """
        query, listed = _brief(include_deleted)
        if state is not None:
            query = query.where(listed.c.state == state)
        if extensions:
            is_shown = listed.c.published_version.is_not(None)
            kind = case((is_shown, listed.c.extension), else_=listed.c.latest_extension)
            query = query.where(kind.in_(extensions))
        if tags:
            having = (
                select(document_tags.c.doc_id).where(document_tags.c.tag.in_(tags)).group_by(document_tags.c.doc_id)
            )
            query = query.where(listed.c.id.in_(having.having(func.count() == len(set(tags)))))
        with self._database.read() as tx:
            keys = sorted((row.doc_key, row.id) for row in _fitting(tx, query, search))
            first = bisect_right(keys, after, key=itemgetter(0))
            found = _read(tx, [doc_id for _, doc_id in keys[first : first + limit]])
        return sorted(found, key=lambda each: each.doc_key), len(keys), first + limit < len(keys)

    def set_tags(self, doc_id: int, tags: Sequence[str]) -> None:
        with self._database.write() as tx:
            tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
            add_tags(tx, doc_id, tags)

    def tags(self) -> list[str]:
        """Return the tags of the documents that whoever acts sees."""
        with self._database.read() as tx:
            used = select(document_tags.c.tag).join(documents, documents.c.id == document_tags.c.doc_id).where(seen())
            return list(tx.scalars(used.distinct().order_by(document_tags.c.tag)))

    # ---- versions

    def versions(self, doc_id: int) -> list[Version]:
        """Return the versions of a document, newest first."""
        with self._database.read() as tx:
            rows = tx.execute(_version_rows().where(versions.c.doc_id == doc_id, IS_CURRENT)).all()
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

    def reading(self, doc_id: int, number: int, reading: int) -> Version | None:
        """Return one reading of a version, current or not, without looking at what is published."""
        own = versions.c.doc_id == doc_id, NUMBER.in_((number,)), versions.c.reading == reading
        with self._database.read() as tx:
            row = tx.execute(_version_rows().where(*own)).one_or_none()
        return None if row is None else _version(row, False)

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


def _brief(include_deleted: bool) -> tuple[Select[Any], FromClause]:
    """Select just enough of the documents that whoever acts sees to choose among them, and tell from what."""
    listed = _listing(None).where(seen()).order_by(None).subquery()
    is_shown = listed.c.published_version.is_not(None)
    title = case((is_shown, listed.c.title), else_=listed.c.latest_title)
    query = select(listed.c.id, listed.c.doc_key, listed.c.name, title.label("title"))
    return query if include_deleted else query.where(listed.c.state.not_in(_GONE)), listed


def _fitting(tx: Connection, brief: Select[Any], search: str) -> Sequence[Row[Any]]:
    """Return those of a brief selection that hold ``search``."""
    rows = tx.execute(brief).all()
    needle = search.casefold().strip()
    if not needle:
        return rows
    # No database folds the letters of all scripts.
    known = _tags(tx, None)
    return [row for row in rows if _holds(needle, row.name, row.title or "", known.get(row.id, ()))]


def _read(tx: Connection, doc_ids: Collection[int]) -> list[Document]:
    """Return documents by name."""
    tags = _tags(tx, doc_ids)
    return [_document(row, tuple(tags.get(row.id, ()))) for row in tx.execute(_listing(doc_ids))]


def _tags(tx: Connection, doc_ids: Collection[int] | None) -> dict[int, list[str]]:
    """Return the tags of documents (None: of all) by document."""
    query = select(document_tags.c.doc_id, document_tags.c.tag).order_by(document_tags.c.tag)
    if doc_ids is not None:
        query = query.where(document_tags.c.doc_id.in_(doc_ids))
    found: dict[int, list[str]] = {}
    for doc_id, tag in tx.execute(query):
        found.setdefault(doc_id, []).append(tag)
    return found


def _holds(needle: str, name: str, title: str, tags: Iterable[str]) -> bool:
    return needle in "\n".join((name, title or name, *tags)).casefold()


def _listing(doc_ids: Collection[int] | None) -> Select[Any]:
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
    ).where(versions.c.state != "cancelled", IS_CURRENT)
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


def _version_rows() -> Select[Any]:
    return (
        select(versions, documents.c.doc_key, NUMBER.label("known_as"))
        .join(documents, documents.c.id == versions.c.doc_id)
        .order_by(versions.c.number.desc())
    )


def _version(row: Row[Any], is_published: bool) -> Version:
    details: dict[str, Any] = {"title": row.title, "language": row.language, **(row.metadata or {})}
    # How it differed from the reading before: ``rereading.note``.
    details.pop("anew", None)
    return Version(
        id=row.id,
        doc_key=row.doc_key,
        number=row.known_as,
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
        keyword_ready=row.keyword_ready,
        embedded_chunks=row.embedded_chunks,
        reading=row.reading,
    )
