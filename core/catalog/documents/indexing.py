"""Indexing: how far a version is, and the placing of a large one in steps that nobody waits long for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select, update

from core.catalog import beside
from core.catalog.documents.leftovers import FileKind, note
from core.catalog.documents.placing import place_slice
from core.catalog.documents.publications import Showing, showing
from core.catalog.documents.views import IS_GOING_ON, LACKS_VECTORS, View
from core.catalog.engine import Database
from core.catalog.schema import documents, jobs, publications, versions
from core.model import Indexing, JobState, Part


@dataclass(frozen=True, slots=True)
class IndexedVersion:
    """How far a version is; ``state`` is ``ready`` once it was published early."""

    state: str
    file_name: str
    actor: str
    chunk_count: int
    chunks_added: int
    embedded_chunks: int
    is_draft: bool
    keyword_ready: bool
    publish_early: bool
    is_prepared: bool

    @property
    def is_early(self) -> bool:
        """Tell whether the version is still to be shown before its vectors are there."""
        return self.publish_early and not self.is_draft and self.state == "stored"


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """What is known of a version before it is indexed; its title and parsed text once it was parsed."""

    file_name: str
    extension: str
    sha256: str
    size_bytes: int
    title: str
    parsed_sha256: str | None
    chunk_count: int
    metadata: Mapping[str, Any] | None
    number: int
    """Below zero of another reading than the one in use."""

    @property
    def shown_title(self) -> str:
        return str((self.metadata or {}).get("title", self.title))


_FIELDS = tuple(IndexedVersion.__slots__)
_ACTIVE = (JobState.QUEUED, JobState.RUNNING)
_STORED = tuple(StoredVersion.__slots__)

_shown_then = publications.c.doc_id == versions.c.doc_id, publications.c.seq <= bindparam("sequence")

_AWAITED = select(
    versions.c.id,
    versions.c.doc_id,
    versions.c.chunk_count,
    versions.c.embedded_chunks,
    select(publications.c.version_id)
    .where(*_shown_then)
    .order_by(publications.c.seq.desc())
    .limit(1)
    .scalar_subquery()
    .label("shown"),
    select(publications.c.seq)
    .where(*_shown_then, publications.c.version_id == versions.c.id)
    .limit(1)
    .scalar_subquery()
    .label("once"),
    IS_GOING_ON.label("goes_on"),
).where(LACKS_VECTORS)
"""Versions that can be shown and lack vectors, each with what its document showed then."""
_AWAITED_SEEN = _AWAITED.join(documents, documents.c.id == versions.c.doc_id).where(
    or_(documents.c.owner_id.is_(None), documents.c.owner_id == bindparam("viewer"))
)


class IndexingTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, version_id: int) -> IndexedVersion:
        columns = [versions.c[name] for name in _FIELDS]
        with self._database.read() as tx:
            row = tx.execute(select(*columns).where(versions.c.id == version_id)).one()
        return IndexedVersion(*row)

    def of_all(self, version_ids: Collection[int]) -> dict[int, IndexedVersion]:
        """Return what ``of`` does of several versions, by their ids."""
        return {of: IndexedVersion(*fields) for of, fields in self._rows(version_ids, _FIELDS)}

    def stored(self, version_ids: Collection[int]) -> dict[int, StoredVersion]:
        """Return what is to be indexed of versions, by their ids."""
        return {of: StoredVersion(*fields) for of, fields in self._rows(version_ids, _STORED)}

    def being_read(self) -> set[str]:
        """Return the SHA-256 of the originals that jobs work on, or will."""
        query = (
            select(versions.c.sha256).join(jobs, jobs.c.version_id == versions.c.id).where(jobs.c.state.in_(_ACTIVE))
        )
        with self._database.read() as tx:
            return set(tx.scalars(query.where(jobs.c.state.in_(_ACTIVE))))

    def _rows(self, version_ids: Collection[int], names: Sequence[str]) -> list[tuple[int, tuple[Any, ...]]]:
        columns = [versions.c[name] for name in names]
        with self._database.read() as tx:
            rows = tx.execute(select(versions.c.id, *columns).where(versions.c.id.in_(version_ids)))
            return [(of, tuple(fields)) for of, *fields in rows]

    def name_parsed(self, parsed: Mapping[int, Mapping[str, Any]]) -> set[int]:
        """Note of versions what their parser said, and the blobs of their text; return the ids of those not purged."""
        present = versions.c.id.in_(parsed), versions.c.state != "purged"

        def act(tx: Connection) -> set[int]:
            before = {
                row.id: row.parsed_sha256
                for row in tx.execute(select(versions.c.id, versions.c.parsed_sha256).where(*present))
            }
            replaced = {known for of, known in before.items() if known and known != parsed[of]["parsed_sha256"]}
            note(tx, FileKind.BLOB, replaced)
            if before:
                own = update(versions).where(versions.c.id == bindparam("of"))
                tx.execute(own, [{"of": of, **parsed[of]} for of in before])
            return set(before)

        return self._database.beside(lambda tx: beside.documents_of(tx, parsed), act)

    def awaited(self, view: View, doc_ids: Collection[int] | None) -> Indexing | None:
        """Return what ``view`` shows of the documents in ``doc_ids`` (None: of all) and still lacks vectors.

        None where nothing does.
        """
        values: dict[str, Any] = {"sequence": view.sequence}
        if view.viewer is not None:
            values["viewer"] = view.viewer
        with self._database.read() as tx:
            rows = tx.execute(_AWAITED if view.viewer is None else _AWAITED_SEEN, values).all()
        allowed = None if doc_ids is None else frozenset(doc_ids)
        shown = [row for row in rows if (allowed is None or row.doc_id in allowed) and _shows(view, row)]
        if not shown:
            return None
        of, stopped = {row.doc_id for row in shown}, {row.doc_id for row in shown if not row.goes_on}
        return Indexing(
            len(of), sum(row.chunk_count for row in shown), sum(row.embedded_chunks for row in shown), len(stopped)
        )

    def begin(self, doc_id: int, version_id: int, part: Part) -> Showing:
        """Say where the version's chunks are about to be placed; return what the document shows until then."""
        with self._database.write() as tx:
            tx.execute(update(versions).where(versions.c.id == version_id).values(is_prepared=part is Part.HEAD))
            return showing(tx, doc_id)

    def place_in_head(self, version_id: int, without: int | None, first: int, count: int) -> None:
        """Ask for the chunks of ``count`` places in head, but for those that the version ``without`` has there."""
        with self._database.write() as tx:
            place_slice(tx, version_id, without, Part.HEAD, first, count)

    def place_in_history(self, doc_id: int, version_id: int, first: int, count: int) -> None:
        """Ask for the chunks of ``count`` places in history, but for those that what is shown shares."""
        with self._database.write() as tx:
            place_slice(tx, version_id, showing(tx, doc_id).version_id, Part.HISTORY, first, count)
            # Whoever is about to show another version learns that chunks which it may share were sent to history.
            own = documents.c.id == doc_id
            tx.execute(update(documents).where(own).values(shelvings=documents.c.shelvings + 1))

    def keywords_ready(self, version_ids: list[int]) -> None:
        """Note that versions can be found by their words, but for those whose chunks have gone meanwhile."""
        present = versions.c.id.in_(version_ids), versions.c.state == "stored", versions.c.chunk_count > 0
        ready = update(versions).where(*present).values(keyword_ready=True)
        self._database.beside(lambda tx: beside.documents_of(tx, version_ids), lambda tx: tx.execute(ready))


def _shows(view: View, version: Any) -> bool:
    if view.pinned is not None and view.pinned[0] == version.doc_id:
        return bool(view.pinned[1] == version.id)
    if view.ever:
        return version.shown is not None and version.once is not None
    return bool(version.shown == version.id)
