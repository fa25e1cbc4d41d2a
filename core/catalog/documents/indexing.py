"""Indexing: how far a version is, and the placing of a large one in steps that nobody waits long for."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update

from core.catalog.documents.placing import place_slice
from core.catalog.documents.publications import Showing, showing
from core.catalog.engine import Database
from core.catalog.schema import documents, versions
from core.model import Part


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


_FIELDS = tuple(IndexedVersion.__slots__)


class IndexingTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, version_id: int) -> IndexedVersion:
        columns = [versions.c[name] for name in _FIELDS]
        with self._database.read() as tx:
            row = tx.execute(select(*columns).where(versions.c.id == version_id)).one()
        return IndexedVersion(*row)

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
        with self._database.write() as tx:
            tx.execute(update(versions).where(*present).values(keyword_ready=True))
