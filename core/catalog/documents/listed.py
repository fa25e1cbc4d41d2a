"""The list of documents as it is kept: written anew at the end of each transaction that changed a document, and read.

Triggers note whose row is stale, in the transaction that made it so; ``bring_up_to_date`` ends that transaction. So
the list is never behind, and nothing is computed of 100,000 documents when fifty of them are looked at.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, or_, select, true

from core.catalog.documents.document_rows import SOME_DOCUMENTS, document_of, tags_of
from core.catalog.documents.isolation import viewer
from core.catalog.listing_schema import listed, unlisted
from core.catalog.schema import document_tags
from core.model import DocumentQuery, DocumentSort
from core.model.file_types import kept_as

GONE = ("deleted", "purged")
_AT_ONCE = 500
_STALE = f"SELECT doc_id FROM unlisted_documents LIMIT {_AT_ONCE}"

_COLUMNS: dict[DocumentSort, ColumnElement[Any]] = {
    DocumentSort.NAME: listed.c.name,
    DocumentSort.TYPE: listed.c.extension,
    DocumentSort.STATE: listed.c.state,
    DocumentSort.VERSIONS: listed.c.version_count,
    DocumentSort.SIZE: listed.c.size_bytes,
    DocumentSort.CHUNKS: listed.c.chunk_count,
    DocumentSort.LANGUAGE: listed.c.language,
    DocumentSort.UPDATED: listed.c.updated_at,
}


def folded(text: str) -> str:
    """Return text as it is searched: one form for each sign (width, composition), and no capitals."""
    return unicodedata.normalize("NFKC", text).casefold()


def words_of(name: str, title: str, tags: Iterable[str]) -> str:
    """Return what a document is found by, folded, a line each."""
    return folded("\n".join((name, title or name, *tags)))


def bring_up_to_date(tx: Connection) -> None:
    """Write anew the rows of the documents that the triggers have noted."""
    while stale := [row[0] for row in tx.exec_driver_sql(_STALE)]:
        tags = tags_of(tx, stale)
        rows = [_row(row, tuple(tags.get(row.id, ()))) for row in tx.execute(SOME_DOCUMENTS, {"doc_ids": stale})]
        tx.execute(delete(listed).where(listed.c.doc_id.in_(stale)))
        if rows:
            tx.execute(insert(listed), rows)
        tx.execute(delete(unlisted).where(unlisted.c.doc_id.in_(stale)))


def _row(row: Any, tags: tuple[str, ...]) -> dict[str, Any]:
    document = document_of(row, tags)
    return {
        "doc_id": document.id,
        "doc_key": document.doc_key,
        "owner_id": row.owner_id,
        "name": document.name,
        "words": words_of(document.name, document.title, tags),
        "state": document.state,
        "extension": document.extension,
        "language": document.language,
        "version_count": document.version_count,
        "size_bytes": document.size_bytes,
        "chunk_count": document.chunk_count,
        "updated_at": document.updated_at,
    }


def listed_ids(tx: Connection, wanted: DocumentQuery) -> tuple[list[int], int]:
    """Return the ids of a page of documents in its order, and how many fit in all."""
    fitting = conditions(tx, wanted)
    total = counted(tx, fitting)
    column, is_down = _COLUMNS[wanted.sort], wanted.descending
    limit = max(0, wanted.limit)
    # Behind the end stands the last page.
    offset = max(0, min(wanted.offset, (total - 1) // limit * limit if limit else 0))
    count = min(limit, total - offset)
    # The second half is counted from the other end.
    is_turned = offset > total // 2
    if is_turned:
        offset, is_down = total - offset - count, not is_down
    page = _page(fitting, column, is_down=is_down).offset(offset).limit(count)
    ids = list(tx.scalars(page)) if count > 0 else []
    return (ids[::-1] if is_turned else ids), total


def first_ids(tx: Connection, wanted: DocumentQuery) -> list[int]:
    """Return the ids of the first documents of ``wanted`` in its order, without counting the others."""
    page = _page(conditions(tx, wanted), _COLUMNS[wanted.sort], is_down=wanted.descending)
    return list(tx.scalars(page.limit(max(0, wanted.limit))))


def _page(fitting: Sequence[ColumnElement[bool]], column: ColumnElement[Any], *, is_down: bool) -> Select[Any]:
    order = (column.desc(), listed.c.doc_id.desc()) if is_down else (column, listed.c.doc_id)
    return select(listed.c.doc_id).where(*fitting).order_by(*order)


def counted(tx: Connection, fitting: Sequence[ColumnElement[bool]]) -> int:
    return int(tx.scalar(select(func.count()).select_from(listed).where(*fitting)) or 0)


def shown_totals(tx: Connection) -> tuple[int, int]:
    """Return how many documents that whoever acts sees are shown now, and how many passages they have."""
    # What is shown has passages: ``publications._check_chunks``.
    shown = select(func.count(), func.coalesce(func.sum(listed.c.chunk_count), 0)).where(listed.c.chunk_count > 0)
    row = tx.execute(shown.where(_seen())).one()
    return int(row[0]), int(row[1])


def listed_languages(tx: Connection) -> list[str]:
    told = select(listed.c.language).where(_seen(), listed.c.language != "")
    return list(tx.scalars(told.distinct().order_by(listed.c.language)))


def conditions(tx: Connection, wanted: DocumentQuery) -> list[ColumnElement[bool]]:
    """Return what narrows the list to what is wanted of what whoever acts sees."""
    # Not LIKE: nothing of what is searched for means anything but itself.
    place = func.instr if tx.dialect.name == "sqlite" else func.strpos
    found = [_seen(), *(place(listed.c.words, folded(word)) > 0 for word in wanted.words)]
    if not wanted.include_deleted:
        found.append(listed.c.state.not_in(GONE))
    if wanted.state:
        found.append(listed.c.state == wanted.state)
    if wanted.extensions:
        found.append(listed.c.extension.in_(kept_as(wanted.extensions)))
    if wanted.language:
        found.append(listed.c.language == wanted.language)
    if wanted.least_versions > 1:
        found.append(listed.c.version_count >= wanted.least_versions)
    for tag in dict.fromkeys(wanted.tags):
        found.append(listed.c.doc_id.in_(select(document_tags.c.doc_id).where(document_tags.c.tag == tag)))
    return found


def _seen() -> ColumnElement[bool]:
    """Select what whoever acts sees, as ``isolation.seen`` does of the documents themselves."""
    user_id = viewer()
    return true() if user_id is None else or_(listed.c.owner_id.is_(None), listed.c.owner_id == user_id)
