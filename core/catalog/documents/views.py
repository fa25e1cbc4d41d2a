"""What a question may see, as one value, and the statements that ask the catalogue for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, func, literal, select

from core.catalog.documents.isolation import seen_by
from core.catalog.prepared import Prepared
from core.catalog.schema import (
    IS_LACKING_VECTORS,
    NUMBER,
    chunks,
    documents,
    jobs,
    publications,
    version_chunks,
    versions,
)


@dataclass(frozen=True, slots=True)
class View:
    """What a question may see: what was shown at ``sequence``.

    ``pinned`` is the id of a document and the id of the version that it shows instead. With ``ever`` the documents that
    showed anything at ``sequence`` show all that they have shown up to then. ``viewer`` is the user whose private
    documents are seen besides the shared ones (``isolation.viewer``; None: all are).
    """

    sequence: int
    pinned: tuple[int, int] | None = None
    ever: bool = False
    viewer: int | None = None


def _has_job(*states: str) -> ColumnElement[bool]:
    return exists().where(jobs.c.version_id == versions.c.id, jobs.c.state.in_(states))


IS_GOING_ON = _has_job("queued", "running")
LACKS_VECTORS = and_(IS_LACKING_VECTORS, _has_job("queued", "running", "failed"))
"""Tells of a version that it can be shown, and that its embedding goes on or has failed."""

PLACED = select(
    chunks.c.id,
    chunks.c.doc_id,
    chunks.c.content_hash,
    chunks.c.title,
    chunks.c.heading_path,
    chunks.c.header,
    chunks.c.kind,
    chunks.c.text,
    chunks.c.token_count,
    version_chunks.c.position,
    version_chunks.c.start,
    version_chunks.c.end,
    version_chunks.c.locator,
    version_chunks.c.version_id,
).join(version_chunks, version_chunks.c.chunk_id == chunks.c.id)

NAMES = (
    select(
        versions.c.id,
        NUMBER,
        versions.c.file_name,
        documents.c.doc_key,
        versions.c.metadata["in_part"].as_string().label("in_part"),
        versions.c.reading,
    )
    .join(documents, documents.c.id == versions.c.doc_id)
    .where(versions.c.id.in_(bindparam("ids", expanding=True)))
)

_shown_version = (
    select(publications.c.version_id)
    .where(publications.c.doc_id == chunks.c.doc_id, publications.c.seq <= bindparam("sequence"))
    .order_by(publications.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)

_of_ids = chunks.c.id.in_(bindparam("ids", expanding=True))

_VISIBLE = PLACED.where(_of_ids, version_chunks.c.version_id == _shown_version)

_VISIBLE_PINNED = PLACED.where(
    _of_ids,
    version_chunks.c.version_id
    == case((chunks.c.doc_id == bindparam("pinned_doc"), bindparam("pinned_version")), else_=_shown_version),
)

_EVER_SHOWN = (
    select(version_chunks.c.chunk_id, version_chunks.c.version_id, NUMBER, _shown_version.label("shown"))
    .distinct()
    .join(chunks, chunks.c.id == version_chunks.c.chunk_id)
    .join(versions, versions.c.id == version_chunks.c.version_id)
    .where(
        _of_ids,
        _shown_version.is_not(None),
        version_chunks.c.version_id.in_(
            select(publications.c.version_id).where(
                publications.c.doc_id == chunks.c.doc_id, publications.c.seq <= bindparam("sequence")
            )
        ),
    )
)

_foreign = (
    select(documents.c.id)
    .where(documents.c.id == chunks.c.doc_id)
    .where(documents.c.owner_id.is_not(None), documents.c.owner_id != bindparam("viewer"))
    .correlate(chunks)
    .exists()
)

FOREIGN = select(chunks.c.id).where(_of_ids, _foreign)

_STATEMENTS: dict[tuple[str, bool], Prepared] = {
    (name, is_limited): Prepared(statement.where(~_foreign) if is_limited else statement)
    for name, statement in (("visible", _VISIBLE), ("pinned", _VISIBLE_PINNED), ("ever", _EVER_SHOWN))
    for is_limited in (False, True)
}


def visible_statement(view: View, ids: Sequence[int]) -> tuple[Prepared, dict[str, Any]]:
    """Return the statement that selects what a view shows of some chunks, and its values.

    It yields placed chunks; with ``view.ever`` the id of a chunk, that and the number of a version that holds it, and
    the id of the version that its document shows.
    """
    values: dict[str, Any] = {"ids": ids, "sequence": view.sequence}
    name = "ever" if view.ever else "visible"
    if view.pinned is not None:
        name = "pinned"
        values["pinned_doc"], values["pinned_version"] = view.pinned
    if view.viewer is not None:
        values["viewer"] = view.viewer
    return _STATEMENTS[name, view.viewer is not None], values


WITHIN_VERSIONS = PLACED.where(_of_ids, version_chunks.c.version_id.in_(bindparam("version_ids", expanding=True)))


def shown_versions(view: View) -> Select[Any]:
    """Select the ids of all versions that ``view`` shows."""
    last = select(func.max(publications.c.seq)).where(publications.c.seq <= view.sequence)
    shown = publications.c.seq.in_(last.group_by(publications.c.doc_id)) & publications.c.version_id.is_not(None)
    if view.viewer is not None:
        seen = select(documents.c.id).where(seen_by(view.viewer))
        shown &= publications.c.doc_id.in_(seen)
    if view.ever:
        alive = select(publications.c.doc_id).where(shown)
        return select(publications.c.version_id).where(
            publications.c.seq <= view.sequence,
            publications.c.doc_id.in_(alive),
            publications.c.version_id.is_not(None),
        )
    if view.pinned is None:
        return select(publications.c.version_id).where(shown)
    doc_id, version_id = view.pinned
    others = select(publications.c.version_id).where(shown, publications.c.doc_id != doc_id)
    return select(others.union_all(select(literal(version_id))).subquery().c.version_id)
