"""The parts of a knowledge base, in the order of its two flows: a document comes in, a question is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.accounts import Accounts
    from core.blobs.pinned import PinnedBlobs
    from core.catalog import Catalog
    from core.evaluation.facade import Evaluations
    from core.explain.facade import Explain
    from core.generators import Generators
    from core.indexes.active import ActiveIndex
    from core.indexes.facade import StoreFacade
    from core.indexes.generations import Generations
    from core.indexes.projector import Projector
    from core.ingest.add_documents import DocumentIntake
    from core.ingest.uploads.transfers import Transfers
    from core.jobs.background import Background
    from core.jobs.facade import JobFacade
    from core.platform.data_folder import DataFolder
    from core.ports import JobQueue, Parser
    from core.query.ask import QuestionAnswering
    from core.query.conversations.conversations import Conversations
    from core.query.pipeline import QueryPipeline
    from core.query.search.retrieve import Retriever
    from core.recordings.facade import Recordings
    from core.settings import Settings
    from core.training.facade import Trainings
    from core.versions.cache import ComparisonCache
    from core.versions.documents import DocumentReader
    from core.versions.publishing import Publishing
    from core.versions.purge import Purge
    from core.versions.schedule import Schedule
    from core.versions.service import ComparisonService


@dataclass(frozen=True, slots=True)
class StorageParts:
    """Where everything is kept."""

    folder: DataFolder
    catalog: Catalog
    blobs: PinnedBlobs
    accounts: Accounts


@dataclass(frozen=True, slots=True)
class IndexParts:
    """What is searched, and what keeps it in step with the catalogue."""

    serving: ActiveIndex
    projector: Projector
    generations: Generations
    stores: StoreFacade


@dataclass(frozen=True, slots=True)
class IngestParts:
    """How a document comes in and is worked on."""

    parser: Parser
    adding: DocumentIntake
    transfers: Transfers
    worker: JobQueue
    jobs: JobFacade


@dataclass(frozen=True, slots=True)
class VersionParts:
    """What documents were, are and will be."""

    reader: DocumentReader
    control: Publishing
    schedule: Schedule
    purge: Purge
    comparing: ComparisonService
    comparisons: ComparisonCache


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What writes, and what it leaves."""

    generators: Generators
    recordings: Recordings
    training: Trainings


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """How a question is answered, and what is learnt of that."""

    retriever: Retriever
    queries: QueryPipeline
    conversations: Conversations
    asking: QuestionAnswering
    evaluations: Evaluations
    insight: Explain


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a knowledge base is composed of."""

    settings: Settings
    storage: StorageParts
    indexes: IndexParts
    ingest: IngestParts
    versions: VersionParts
    models: ModelParts
    questions: QuestionParts
    background: Background
