"""The catalogue: the only truth about documents, versions, publications, chunks, jobs and questions.

One SQLAlchemy code over SQLite (default) or PostgreSQL, in sections that each hold one concern. Indexes are
projections of what stands here; what a question may see is decided here.
"""

from __future__ import annotations

from sqlalchemy import URL, func, insert, select

from core.catalog.chunks import Chunks
from core.catalog.claims import Claim, NewVersion
from core.catalog.documents import Documents
from core.catalog.engine import Database
from core.catalog.jobs import Jobs
from core.catalog.outbox import KEYWORD, STORES, VECTOR, Batch, Outbox
from core.catalog.publications import Decision, Publications, Showing
from core.catalog.purges import Purges, Tombstone
from core.catalog.questions import Questions
from core.catalog.saved import SavedQuestions
from core.catalog.schedules import Due, Schedules
from core.catalog.schema import chunks, index_settings, jobs, shown_now, version_chunks, versions
from core.catalog.visibility import Visibility
from core.errors import WrongIndex
from core.model import Counts

__all__ = [
    "KEYWORD",
    "STORES",
    "VECTOR",
    "Batch",
    "Catalog",
    "Claim",
    "Decision",
    "Due",
    "NewVersion",
    "Showing",
    "Tombstone",
]


_kept_bytes = select(func.coalesce(func.sum(versions.c.size_bytes), 0)).where(versions.c.state != "purged")


class Catalog:
    """The catalogue behind a database URL; opening it brings its schema up to date."""

    def __init__(self, url: str | URL) -> None:
        self.database = Database(url)
        self.database.migrate()
        self.documents = Documents(self.database)
        self.publications = Publications(self.database)
        self.schedules = Schedules(self.database)
        self.purges = Purges(self.database)
        self.chunks = Chunks(self.database)
        self.visibility = Visibility(self.database)
        self.outbox = Outbox(self.database)
        self.jobs = Jobs(self.database)
        self.questions = Questions(self.database)
        self.saved = SavedQuestions(self.database)

    def settle_index(self, wanted: dict[str, str]) -> None:
        """Record what builds the indexes on first use. Raises: ``WrongIndex`` where something else has built them."""
        with self.database.write() as tx:
            present = {row.key: row.value for row in tx.execute(select(index_settings))}
            for key, value in wanted.items():
                built = present.get(key)
                if built is None:
                    tx.execute(insert(index_settings).values(key=key, value=value))
                elif built != value:
                    raise WrongIndex(f"The index was built with the {key} “{built}”, but “{value}” is configured.")

    def counts(self) -> Counts:
        """Return the totals; documents and chunks are those that are shown now."""
        with self.database.read() as tx:
            return Counts(
                documents=tx.scalar(select(func.count()).select_from(shown_now.subquery())) or 0,
                versions=tx.scalar(select(func.count()).where(versions.c.state == "ready")) or 0,
                chunks=tx.scalar(select(func.count()).where(version_chunks.c.version_id.in_(shown_now))) or 0,
                questions=self.questions.count(),
                running_jobs=tx.scalar(select(func.count()).where(jobs.c.state.in_(("queued", "running")))) or 0,
                size_bytes=tx.scalar(_kept_bytes) or 0,
                sequence=self.publications.sequence(),
            )

    def chunk_rows(self) -> int:
        """Return how many chunks are kept, which is what each index should hold."""
        with self.database.read() as tx:
            return tx.scalar(select(func.count()).select_from(chunks)) or 0

    def close(self) -> None:
        self.database.close()
