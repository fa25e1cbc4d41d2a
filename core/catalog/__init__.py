"""The catalogue: the only truth about documents, versions, publications, chunks, jobs and questions.

One SQLAlchemy code over SQLite (default) or PostgreSQL, in sections that each hold one concern. Indexes are
projections of what stands here; what a question may see is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import URL, Select, func, select

from core.catalog.consistency import ConsistencyTable
from core.catalog.damages import Damages
from core.catalog.documents.cancelling import Cancelling
from core.catalog.documents.chunks import Chunks
from core.catalog.documents.claims import Claim, NewVersion
from core.catalog.documents.embeddings import Embeddings
from core.catalog.documents.group_publishing import GroupPublishing
from core.catalog.documents.indexing import IndexingTable
from core.catalog.documents.isolation import seen, viewer
from core.catalog.documents.leftovers import FileKind, Leftovers
from core.catalog.documents.listed import shown_totals
from core.catalog.documents.listing import Documents
from core.catalog.documents.naming import Naming
from core.catalog.documents.office_checks import OfficeCheckTable
from core.catalog.documents.publications import Decision, Publications, Showing
from core.catalog.documents.purges import Purges, Tombstone
from core.catalog.documents.reopening import Reopening
from core.catalog.documents.rereading import ReadingTable
from core.catalog.documents.schedules import Due, Schedules
from core.catalog.documents.transfers import TransferLedger
from core.catalog.documents.visibility import Visibility
from core.catalog.engine import Database
from core.catalog.generations import GenerationTable
from core.catalog.generator_servers import GeneratorServerTable
from core.catalog.identity import mark
from core.catalog.jobs.archives import Archives
from core.catalog.jobs.ledger import ACTIVE, Jobs
from core.catalog.journal import Journal
from core.catalog.outbox import KEYWORD, STORES, VECTOR, Batch, Outbox
from core.catalog.people.credentials import Keys, Sessions
from core.catalog.people.second_factors import SecondFactorTable
from core.catalog.people.users import Users
from core.catalog.questions.cached_answers import CachedAnswers
from core.catalog.questions.conversations import ConversationTable
from core.catalog.questions.evaluations import EvaluationTable
from core.catalog.questions.history import Questions
from core.catalog.questions.question_sets import QuestionSets
from core.catalog.questions.recordings import RecordingTable
from core.catalog.questions.saved import SavedQuestions
from core.catalog.retention import Retention
from core.catalog.schema import IS_CURRENT, chunks, documents, versions
from core.catalog.vocabulary import VocabularyTable
from core.errors import CatalogDamaged
from core.model import Counts, JobFilter, StoreHealth

__all__ = [
    "KEYWORD",
    "STORES",
    "VECTOR",
    "Batch",
    "Catalog",
    "Claim",
    "Decision",
    "Due",
    "FileKind",
    "NewVersion",
    "Showing",
    "Tombstone",
]


_kept_bytes = select(func.coalesce(func.sum(versions.c.size_bytes), 0)).where(versions.c.state != "purged", IS_CURRENT)


class Catalog:
    """The catalogue behind a database URL; opening it brings its schema up to date.

    ``agree`` looks at it before anything in it is changed, and returns the identity that it is to have.
    """

    def __init__(
        self, url: str | URL, agree: Callable[[Database], str] | None = None, journal: Journal | None = None
    ) -> None:
        self.database = Database(url, journal)
        try:
            identity = agree(self.database) if agree is not None else ""
            self.database.migrate()
            if identity:
                mark(self.database, identity)
        except BaseException:
            self.database.close()
            raise
        self.identity = identity
        self.documents = Documents(self.database)
        self.publications = Publications(self.database)
        self.group_publishing = GroupPublishing(self.database)
        self.cancelling = Cancelling(self.database)
        self.reopening = Reopening(self.database)
        self.schedules = Schedules(self.database)
        self.purges = Purges(self.database)
        self.readings = ReadingTable(self.database)
        self.office_checks = OfficeCheckTable(self.database)
        self.chunks = Chunks(self.database)
        self.embeddings = Embeddings(self.database)
        self.indexing = IndexingTable(self.database)
        self.visibility = Visibility(self.database)
        self.naming = Naming(self.database)
        self.outbox = Outbox(self.database)
        self.generations = GenerationTable(self.database)
        self.generator_servers = GeneratorServerTable(self.database)
        self.jobs = Jobs(self.database)
        self.archives = Archives(self.database)
        self.transfers = TransferLedger(self.database)
        self.leftovers = Leftovers(self.database)
        self.questions = Questions(self.database)
        self.conversations = ConversationTable(self.database)
        self.answers = CachedAnswers(self.database)
        self.recordings = RecordingTable(self.database)
        self.saved = SavedQuestions(self.database)
        self.question_sets = QuestionSets(self.database)
        self.evaluations = EvaluationTable(self.database)
        self.users = Users(self.database)
        self.sessions = Sessions(self.database)
        self.keys = Keys(self.database)
        self.second_factors = SecondFactorTable(self.database)
        self.vocabulary = VocabularyTable(self.database)
        self.consistency = ConsistencyTable(self.database)
        self.damages = Damages(self.database)
        self.retention = Retention(self.database)

    def health(self, rows: int | None) -> StoreHealth:
        """Return how the catalogue is, with the number of its rows."""
        engine = self.database.engine.dialect.name
        if self.database.is_damaged:
            return StoreHealth("catalog", engine, "down", None, f"It is damaged. {CatalogDamaged.remedy}")
        if self.database.is_earlier:
            told = "It lacks what this data folder has seen: its database may be of an earlier day. The log says more."
            return StoreHealth("catalog", engine, "earlier", rows, told)
        return StoreHealth("catalog", engine, "ok", rows)

    def counts(self) -> Counts:
        """Return the totals of what whoever acts sees; documents and chunks are those that are shown now."""
        with self.database.read() as tx:

            def total(what: Select[Any]) -> int:
                return int(tx.scalar(what.where(versions.c.doc_id.in_(mine)) if limited else what) or 0)

            limited = viewer() is not None
            mine = select(documents.c.id).where(seen())
            shown, chunks_shown = shown_totals(tx)
            return Counts(
                documents=shown,
                versions=total(
                    select(func.count()).select_from(versions).where(versions.c.state == "ready", IS_CURRENT)
                ),
                chunks=chunks_shown,
                questions=self.questions.count(),
                running_jobs=sum(self.jobs.counts(JobFilter(states=ACTIVE)).values()),
                size_bytes=total(_kept_bytes),
                sequence=self.publications.sequence(),
            )

    def chunk_rows(self) -> int:
        """Return how many chunks are kept, which is what each index should hold."""
        with self.database.read() as tx:
            return tx.scalar(select(func.count()).select_from(chunks)) or 0

    def close(self) -> None:
        self.questions.close()
        self.database.close()
