"""Documents and versions, as lists and pages read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, func, select, update

from core.catalog.documents.claims import Claim, NewVersion, add_tags, claim_all
from core.catalog.documents.document_rows import SOME_DOCUMENTS, document_of, document_rows, tags_of
from core.catalog.documents.isolation import seen, sees, viewer
from core.catalog.documents.leftovers import FileKind, drop
from core.catalog.documents.listed import (
    GONE,
    conditions,
    counted,
    first_ids,
    folded,
    listed_ids,
    listed_languages,
    words_of,
)
from core.catalog.engine import Database
from core.catalog.listing_schema import listed
from core.catalog.schema import IS_CURRENT, NUMBER, document_tags, documents, publications, versions
from core.errors import NotFound
from core.model import Document, DocumentPage, DocumentQuery, DocumentSort, Version


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
            row = tx.execute(_BY_KEY, {"doc_key": doc_key}).one_or_none()
        if row is None or not sees(row.owner_id):
            raise NotFound(f"There is no document “{doc_key}”.")
        return int(row.id)

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
            wanted = DocumentQuery(_words(search), include_deleted, sort=DocumentSort.NAME, limit=limit)
            with self._database.read() as tx:
                return _in_order(tx, first_ids(tx, wanted))
        doc_ids = None if doc_id is None else (doc_id,)
        with self._database.read() as tx:
            found = _read(tx, doc_ids)
        needle = folded(search).strip()
        return [
            document
            for document in found
            if (include_deleted or document.state not in GONE)
            and (not needle or needle in words_of(document.name, document.title, document.tags))
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
        wanted = DocumentQuery(_words(search), include_deleted, tuple(tags), tuple(extensions), state=state or "")
        with self._database.read() as tx:
            fitting = conditions(tx, wanted)
            total = counted(tx, fitting)
            following = select(listed.c.doc_id).where(*fitting)
            # Few fit on one page and are sorted below: to look for them by their keys takes thrice as long.
            if after or total > limit:
                following = following.where(listed.c.doc_key > after).order_by(listed.c.doc_key)
            ids = list(tx.scalars(following.limit(limit + 1)))
            found = _read(tx, ids[:limit])
        return sorted(found, key=lambda each: each.doc_key), total, len(ids) > limit

    def listed(self, wanted: DocumentQuery) -> DocumentPage:
        """Return a page of the documents that whoever acts sees, in the order that is wanted."""
        with self._database.read() as tx:
            ids, total = listed_ids(tx, wanted)
            return DocumentPage(_in_order(tx, ids), total)

    def languages(self) -> list[str]:
        """Return the codes of the languages of the documents that whoever acts sees."""
        with self._database.read() as tx:
            return listed_languages(tx)

    def set_tags(self, doc_id: int, tags: Sequence[str]) -> None:
        with self._database.write() as tx:
            tx.execute(delete(document_tags).where(document_tags.c.doc_id == doc_id))
            add_tags(tx, doc_id, tags)

    def tags(self) -> list[str]:
        """Return the tags of the documents that whoever acts sees."""
        used = select(document_tags.c.tag)
        if viewer() is not None:
            used = used.join(documents, documents.c.id == document_tags.c.doc_id).where(seen())
        with self._database.read() as tx:
            return list(tx.scalars(used.distinct().order_by(document_tags.c.tag)))

    # ---- versions

    def versions(self, doc_id: int) -> list[Version]:
        """Return the versions of a document, newest first."""
        with self._database.read() as tx:
            rows = tx.execute(_VERSIONS, {"doc_id": doc_id}).all()
            published_id = tx.scalar(_SHOWN, {"doc_id": doc_id})
        return [_version(row, row.id == published_id) for row in rows]

    def histories(self, doc_keys: Sequence[str]) -> dict[str, list[Version]]:
        """Return what ``versions`` does of those of the documents that whoever acts sees, by their keys."""
        with self._database.read() as tx:
            rows = [row for row in tx.execute(_HISTORIES, {"doc_keys": doc_keys}) if sees(row.owner_id)]
            published = set(tx.scalars(_ALL_SHOWN, {"doc_ids": list({row.doc_id for row in rows})}))
        found: dict[str, list[Version]] = {}
        for row in rows:
            found.setdefault(row.doc_key, []).append(_version(row, row.id in published))
        return found

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


def _words(search: str) -> tuple[str, ...]:
    """Return what a search in one piece looks for: literal text, its blanks too."""
    return (search.strip(),) if search.strip() else ()


def _in_order(tx: Connection, ids: Sequence[int]) -> list[Document]:
    found = {document.id: document for document in _read(tx, ids)}
    return [found[doc_id] for doc_id in ids if doc_id in found]


def _read(tx: Connection, doc_ids: Collection[int] | None) -> list[Document]:
    """Return documents (None: all that whoever acts sees) by name."""
    tags = tags_of(tx, doc_ids)
    if doc_ids is None:
        rows = tx.execute(document_rows(None).where(seen())).all()
    else:
        rows = [row for row in tx.execute(SOME_DOCUMENTS, {"doc_ids": list(doc_ids)}) if sees(row.owner_id)]
    return [document_of(row, tuple(tags.get(row.id, ()))) for row in rows]


def _version_rows() -> Select[Any]:
    return (
        select(versions, documents.c.doc_key, NUMBER.label("known_as"))
        .join(documents, documents.c.id == versions.c.doc_id)
        .order_by(versions.c.number.desc())
    )


# Written out once: a page asks for dozens, and to make a statement costs more than to run it.
_BY_KEY = select(documents.c.id, documents.c.owner_id).where(documents.c.doc_key == bindparam("doc_key"))
_VERSIONS = _version_rows().where(versions.c.doc_id == bindparam("doc_id"), IS_CURRENT)
_SHOWN = (
    select(publications.c.version_id)
    .where(publications.c.doc_id == bindparam("doc_id"))
    .order_by(publications.c.seq.desc())
    .limit(1)
)
_NAMED = documents.c.doc_key.in_(bindparam("doc_keys", expanding=True))
_HISTORIES = _version_rows().add_columns(documents.c.owner_id).where(_NAMED, IS_CURRENT)
_AMONG = publications.c.doc_id.in_(bindparam("doc_ids", expanding=True))
_LAST = select(func.max(publications.c.seq)).where(_AMONG).group_by(publications.c.doc_id)
_ALL_SHOWN = select(publications.c.version_id).where(publications.c.seq.in_(_LAST))


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
