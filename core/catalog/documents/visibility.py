"""Visibility: the catalogue alone decides which chunks a question may see, and gives their text and place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, and_, bindparam, func, or_, select

from core.catalog.documents.isolation import seen, seen_by
from core.catalog.documents.known_passages import UNREAD, KnownPassages
from core.catalog.documents.shown_passages import ShownPassages
from core.catalog.documents.views import (
    FOREIGN,
    NAMES,
    PLACED,
    WITHIN_VERSIONS,
    View,
    shown_versions,
    visible_statement,
)
from core.catalog.engine import Database
from core.catalog.revisions import Revision
from core.catalog.schema import chunks, document_tags, documents, embeddings, publications, version_chunks, versions
from core.errors import NO_SUCH_VERSION, Conflict, NotFound, Purged
from core.model import BlockKind, Chunk, Filters, Label, Locator, PlacedChunk, Preview, VersionRef
from core.model.file_types import kept_as
from core.ports import Vector

Names = tuple[int, str, str, str, int]
"""Number, file name and document key of a version, which never change."""

_MOST_NAMES = 50_000
_VECTORS = 5_000
_MOST_IDS = 10_000
_MOST_USERS = 1_000
_SHOWN_BY = tuple(table.name for table in (chunks, documents, publications, version_chunks, versions))
"""The tables that tell what a view shows."""
_OF_VERSION = version_chunks.c.version_id == bindparam("version_id")
_TOTAL = select(func.count()).select_from(version_chunks).where(_OF_VERSION)
_STRETCH = PLACED.where(
    _OF_VERSION, version_chunks.c.position >= bindparam("start"), version_chunks.c.position < bindparam("end")
).order_by(version_chunks.c.position)


class Visibility:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, Names] = {}
        self._passages = KnownPassages()
        self._shown = ShownPassages(database)
        self._limits: dict[int, tuple[int, int | None]] = {}

    def revision(self) -> Revision | None:
        """Return what changes whenever a view may show something else; None while that may be happening."""
        return self._database.revisions.of(_SHOWN_BY)

    def visible(self, chunk_ids: Iterable[int], view: View) -> dict[int, PlacedChunk]:
        """Return those of the chunks that ``view`` shows, at their first place in the version that it shows.

        Where it shows several versions, a chunk stands in the one shown at its sequence number, else in the newest.
        """
        ids = list(chunk_ids)
        if not ids:
            return {}
        if view.ever:
            with self._database.read() as tx:
                return self._ever_visible(tx, ids, view)
        if view == View(view.sequence):
            shown = self._shown.find(ids, view.sequence, lambda unknown: self._read(unknown, view))
            if shown is not None:
                return shown
        revision = self.revision()
        if revision is None:
            return self._read(ids, view)
        known = self._passages.of(revision, view)
        found: dict[int, PlacedChunk] = {}
        unknown: list[int] = []
        for chunk_id in ids:
            placed = known.get(chunk_id, UNREAD)
            if placed is UNREAD:
                unknown.append(chunk_id)
            elif placed is not None:
                found[chunk_id] = placed
        if unknown:
            read = self._read(unknown, view)
            self._passages.add(revision, view, [(chunk_id, read.get(chunk_id)) for chunk_id in unknown])
            found.update(read)
        return found

    def warm_up(self) -> None:
        """Take into memory what is shown now, as far as there is room for its passages."""
        with self._database.read() as tx:
            newest = int(tx.scalar(select(func.max(publications.c.seq))) or 0)
        self._shown.warm_up(newest, self._of_versions)

    def _of_versions(self, version_ids: list[int]) -> list[tuple[int, PlacedChunk]]:
        query = PLACED.where(version_chunks.c.version_id.in_(version_ids))
        with self._database.read() as tx:
            names = self._names_of(tx, set(version_ids))
            of: dict[int, list[Any]] = {}
            for row in tx.execute(query):
                of.setdefault(row[-1], []).append(row)
        return [(each, placed) for each, rows in of.items() for placed in _first_places(rows, names).values()]

    def _read(self, ids: list[int], view: View) -> dict[int, PlacedChunk]:
        with self._database.read() as tx:
            statement, values = visible_statement(view, ids)
            rows = statement.rows(tx, values)
            names = self._names_of(tx, {row[-1] for row in rows})
        return _first_places(rows, names)

    def _ever_visible(self, tx: Connection, ids: list[int], view: View) -> dict[int, PlacedChunk]:
        holders: dict[int, list[tuple[bool, int, int]]] = {}
        statement, values = visible_statement(view, ids)
        for chunk_id, version_id, number, shown in statement.rows(tx, values):
            holders.setdefault(chunk_id, []).append((version_id == shown, number, version_id))
        if not holders:
            return {}
        home = {chunk_id: max(held)[2] for chunk_id, held in holders.items()}
        rows = [
            row
            for row in tx.execute(WITHIN_VERSIONS, {"ids": list(holders), "version_ids": sorted(set(home.values()))})
            if home[row[0]] == row[-1]
        ]
        placed = _first_places(rows, self._names_of(tx, {row[-1] for row in rows}))
        return {
            chunk_id: replace(chunk, versions=tuple(sorted(number for _, number, _ in holders[chunk_id])))
            for chunk_id, chunk in placed.items()
        }

    def foreign(self, chunk_ids: Collection[int], view: View) -> set[int]:
        """Return those of the chunks that stand in private documents which the view's user does not see."""
        if view.viewer is None or not chunk_ids:
            return set()
        with self._database.read() as tx:
            if len(chunk_ids) <= _MOST_IDS:
                return set(tx.scalars(FOREIGN, {"ids": list(chunk_ids), "viewer": view.viewer}))
            theirs = select(documents.c.id).where(~seen_by(view.viewer))
            return set(tx.scalars(select(chunks.c.id).where(chunks.c.doc_id.in_(theirs)))).intersection(chunk_ids)

    def limit(self, user_id: int | None, newest: int) -> int | None:
        """Return whose view is to be limited: ``user_id``, or None where nothing shown up to ``newest`` is hidden.

        ``newest`` is the newest sequence number: what is known of it stays true until something else is published.
        """
        if user_id is None:
            return None
        known = self._limits.get(user_id)
        if known is None or known[0] != newest:
            known = newest, user_id if self.hides_from(user_id) else None
            # Another dictionary instead of a changed one: other questions may be reading this one.
            self._limits = {**(self._limits if len(self._limits) < _MOST_USERS else {}), user_id: known}
        return known[1]

    def hides_from(self, user_id: int | None) -> bool:
        """Tell whether there are documents, shown or not, that the user does not see; None sees all."""
        if user_id is None:
            return False
        # Two ranges are read from the index of owners; the complement of ``seen_by`` reads every document.
        theirs = or_(documents.c.owner_id < user_id, documents.c.owner_id > user_id)
        with self._database.read() as tx:
            return tx.scalar(select(documents.c.id).where(theirs).limit(1)) is not None

    def searched(self, view: View, most: int) -> list[int] | None:
        """Return the ids of the documents that the view's user sees; None where that is all, or more than ``most``."""
        if view.viewer is None:
            return None
        with self._database.read() as tx:
            found = list(tx.scalars(select(documents.c.id).where(seen_by(view.viewer)).limit(most + 1)))
        return found if len(found) <= most else None

    def version_of(self, ref: VersionRef) -> tuple[int, int, bool]:
        """Return the ids of the document and of the version, and whether it is shown now.

        Raises: ``NotFound``, ``Purged``; ``Conflict`` while it is not ready.
        """
        shown = select(publications.c.version_id).where(publications.c.doc_id == documents.c.id)
        shown = shown.order_by(publications.c.seq.desc()).limit(1)
        query = (
            select(documents.c.id, versions.c.id.label("version_id"), versions.c.state, shown.scalar_subquery())
            .outerjoin(versions, and_(versions.c.doc_id == documents.c.id, versions.c.number == ref.version))
            .where(documents.c.doc_key == ref.doc_key, seen())
        )
        with self._database.read() as tx:
            row = tx.execute(query).one_or_none()
        if row is None:
            raise NotFound(f"There is no document “{ref.doc_key}”.")
        doc_id, version_id, state, shown_id = row
        if version_id is None:
            raise NotFound(f"“{ref.doc_key}” has no version {ref.version}.", remedy=NO_SUCH_VERSION)
        if state == "purged":
            raise Purged(f"Version {ref.version} of “{ref.doc_key}” was purged.")
        if state != "ready":
            raise Conflict(
                f"Version {ref.version} of “{ref.doc_key}” is {state} and cannot be asked.",
                remedy="Wait until it is indexed, or start its job again.",
            )
        return doc_id, version_id, version_id == shown_id

    def chunk_ids(self, view: View, doc_ids: Sequence[int] | None) -> set[int]:
        """Return the ids of all chunks that ``view`` shows, of the documents in ``doc_ids`` (None: of all)."""
        query = (
            select(version_chunks.c.chunk_id, versions.c.doc_id)
            .join(versions, versions.c.id == version_chunks.c.version_id)
            .where(versions.c.id.in_(shown_versions(view)))
        )
        allowed = None if doc_ids is None else frozenset(doc_ids)
        with self._database.read() as tx:
            return {row[0] for row in tx.execute(query) if allowed is None or row[1] in allowed}

    def vectors(self, view: View, model: str, doc_ids: Sequence[int] | None) -> Iterator[tuple[list[int], Vector]]:
        """Yield ids and ``(n, d)`` vectors of all chunks that ``view`` shows of the documents in ``doc_ids``."""
        members = select(version_chunks.c.chunk_id).where(version_chunks.c.version_id.in_(shown_versions(view)))
        query = (
            select(chunks.c.id, chunks.c.doc_id, embeddings.c.vector)
            .join(embeddings, and_(embeddings.c.content_hash == chunks.c.content_hash, embeddings.c.model == model))
            .where(chunks.c.id.in_(members))
        )
        allowed = None if doc_ids is None else frozenset(doc_ids)
        with self._database.read() as tx:
            for rows in tx.execute(query.execution_options(yield_per=_VECTORS)).partitions():
                wanted = [row for row in rows if allowed is None or row.doc_id in allowed]
                if wanted:
                    halves = np.stack([np.frombuffer(row.vector, np.float16) for row in wanted])
                    yield [row.id for row in wanted], halves.astype(np.float32)

    def _names_of(self, tx: Connection, version_ids: set[int]) -> Mapping[int, Names]:
        known = self._known
        if missing := [version_id for version_id in version_ids if version_id not in known]:
            read = {
                row[0]: (row[1], row[2], row[3], row[4] or "", row[5]) for row in tx.execute(NAMES, {"ids": missing})
            }
            # Another dictionary instead of a changed one: other questions may be reading this one.
            known = {**(known if len(known) < _MOST_NAMES else {}), **read}
            known |= {version_id: self._known[version_id] for version_id in version_ids - known.keys()}
            self._known = known
        return known

    def preview(self, doc_key: str, version_id: int, number: int, start: int, count: int) -> Preview:
        """Return ``count`` chunks of a version from position ``start`` on."""
        of = {"version_id": version_id}
        with self._database.read() as tx:
            rows = tx.execute(_STRETCH, {**of, "start": start, "end": start + count}).all()
            names = self._names_of(tx, {version_id})
            placed = tuple(_placed_chunk(row, names[version_id]) for row in rows)
            return Preview(doc_key, number, int(tx.scalar(_TOTAL, of) or 0), placed, names[version_id][4])

    def texts_within(self, version_id: int, start: int, end: int, limit: int) -> list[tuple[int, str]]:
        """Return where each chunk of a version begins that holds some of these characters, and its text, in order."""
        query = (
            select(version_chunks.c.start, chunks.c.text)
            .join(chunks, chunks.c.id == version_chunks.c.chunk_id)
            .where(version_chunks.c.version_id == version_id)
            .where(version_chunks.c.start < end, version_chunks.c.end > start)
            .order_by(version_chunks.c.position)
            .limit(limit)
        )
        with self._database.read() as tx:
            return [(row.start, row.text) for row in tx.execute(query)]

    def documents_matching(self, filters: Filters) -> list[int] | None:
        """Return the ids of the documents that the filters allow of those that whoever acts sees; None: of all."""
        if filters == Filters():
            return None
        with self._database.read() as tx:
            return list(tx.scalars(_filtered(filters).where(seen())))


def _first_places(rows: Iterable[Any], names: Mapping[int, Names]) -> dict[int, PlacedChunk]:
    """Return the chunk of each row once, at its lowest position."""
    found: dict[int, PlacedChunk] = {}
    for row in rows:
        placed = _placed_chunk(row, names[row[-1]])
        known = found.get(placed.id)
        if known is None or placed.chunk.position < known.chunk.position:
            found[placed.id] = placed
    return found


def _filtered(filters: Filters) -> Select[Any]:
    query = select(documents.c.id)
    if filters.doc_keys:
        query = query.where(documents.c.doc_key.in_(filters.doc_keys))
    if filters.tags:
        query = query.where(
            documents.c.id.in_(select(document_tags.c.doc_id).where(document_tags.c.tag.in_(filters.tags)))
        )
    if filters.extensions:
        query = query.where(
            documents.c.id.in_(select(versions.c.doc_id).where(versions.c.extension.in_(kept_as(filters.extensions))))
        )
    moments = []
    if filters.updated_after is not None:
        moments.append(documents.c.updated_at >= filters.updated_after)
    if filters.updated_before is not None:
        moments.append(documents.c.updated_at <= filters.updated_before)
    return query.where(and_(True, *moments))


_KINDS = {kind.value: kind for kind in BlockKind}


def _placed_chunk(row: Any, names: Names) -> PlacedChunk:
    # By position and with a plain dictionary: a question makes a hundred of these.
    (
        chunk_id, doc_id, content_hash, title, heading_path, header, kind, text, token_count,
        position, start, end, locator, _version_id,
    ) = row  # fmt: skip
    number, file_name, doc_key, in_part, reading = names
    labels: tuple[Label, ...] = ()
    if "labels" in locator:
        locator = dict(locator)
        labels = tuple(Label(start, said) for start, said in locator.pop("labels"))
    place = Locator(heading_path=tuple(heading_path), **locator)
    chunk = Chunk(position, text, start, end, _KINDS[kind], place, header, token_count, labels)
    return PlacedChunk(
        chunk_id, doc_id, doc_key, file_name, title, number, chunk, content_hash, in_part=in_part, reading=reading
    )
