"""The knowledge base: documents go in, are versioned and indexed twice, and only what is published is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, cast, overload

from core.access import current, needs, sees_all
from core.backup.source import BackupSource
from core.backup.write_archive import one_at_a_time
from core.errors import EvoRAGError, StoreUnavailable
from core.indexes.facade import StoreFacade
from core.indexes.row_counts import RowCounts
from core.ingest.add_documents import DocumentIntake
from core.jobs.facade import JobFacade
from core.model import Counts, Health, Role, StoreHealth, Trace, TraceSummary
from core.platform.confinement import health as confinement_health
from core.ports import Embedder, KeywordIndex, VectorIndex
from core.versions.documents import DocumentReader
from core.versions.pages.service import DocumentPages
from core.versions.publishing import Publishing
from core.versions.service import ComparisonService

if TYPE_CHECKING:
    from core.accounts import Accounts
    from core.blobs.pinned import PinnedBlobs
    from core.catalog import Catalog
    from core.evaluation.facade import Evaluations
    from core.explain.facade import Explain
    from core.generators.kept import KeptGenerators
    from core.indexes.active import ActiveIndex
    from core.indexes.generations import Generations
    from core.indexes.projector import Projector
    from core.ingest.uploads.transfers import Transfers
    from core.jobs.background import Background
    from core.platform.data_folder import DataFolder
    from core.platform.disk_room import DiskRoom
    from core.ports import JobQueue, Parser
    from core.query.ask import QuestionAnswering
    from core.query.conversations.conversations import Conversations
    from core.query.pipeline import QueryPipeline
    from core.query.search.retrieve import Retriever
    from core.recordings.facade import Recordings
    from core.settings import Settings
    from core.training.facade import Trainings
    from core.versions.cache import ComparisonCache
    from core.versions.purge import Purge
    from core.versions.rereading import Rereading
    from core.versions.result import ComparisonResult
    from core.versions.schedule import Schedule

P = ParamSpec("P")
R = TypeVar("R")


def _by(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[KnowledgeBase, P], R]:
    """Return the method of the knowledge base that its part of this name carries out."""

    @wraps(method)
    def call(kb: KnowledgeBase, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return cast("R", getattr(getattr(kb, part), method.__name__)(*args, **kwargs))

    return call


@dataclass(frozen=True, slots=True)
class StorageParts:
    """Where everything is kept."""

    folder: DataFolder
    catalog: Catalog
    blobs: PinnedBlobs
    accounts: Accounts
    room: DiskRoom


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
    readings: Rereading
    schedule: Schedule
    purge: Purge
    comparing: ComparisonService
    comparisons: ComparisonCache
    pages: DocumentPages


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What writes, and what it leaves."""

    generators: KeptGenerators
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


class KnowledgeBase:
    """Documents, versions and their projections in one data folder; made by ``core.build``.

    Its parts carry out its methods; areas with many methods are parts with a name, such as ``kb.evaluations``.
    """

    def __init__(self, parts: Parts) -> None:
        self.settings = parts.settings
        self._folder = parts.storage.folder
        self.catalog = parts.storage.catalog
        self._blobs, self._pins = parts.storage.blobs.store, parts.storage.blobs.pins
        self._room = parts.storage.room
        self.accounts = parts.storage.accounts
        self._active = parts.indexes.serving
        self._projector = parts.indexes.projector
        self.generations = parts.indexes.generations
        self._stores, self.quarantine = parts.indexes.stores, parts.indexes.stores.quarantine
        self._parser = parts.ingest.parser
        self._adding = parts.ingest.adding
        self.transfers = parts.ingest.transfers
        self._worker = parts.ingest.worker
        self._jobs = parts.ingest.jobs
        self._reader = parts.versions.reader
        self._versions, self.readings = parts.versions.control, parts.versions.readings
        self._schedule = parts.versions.schedule
        self._purge = parts.versions.purge
        self._comparison_service = parts.versions.comparing
        self._comparisons = parts.versions.comparisons
        self._pages = parts.versions.pages
        self.generators = parts.models.generators
        self.recordings = parts.models.recordings
        self.training = parts.models.training
        self._retriever = parts.questions.retriever
        self.queries = parts.questions.queries
        self.conversations = parts.questions.conversations
        self.asking = parts.questions.asking
        self.evaluations = parts.questions.evaluations
        self.insight = parts.questions.insight
        self._background, self._row_counts = parts.background, RowCounts()
        self._closed = threading.Lock()

    @property
    def _vectors(self) -> VectorIndex:
        return self._active.now().vectors

    @property
    def _keywords(self) -> KeywordIndex:
        return self._active.now().keywords

    @property
    def _embedder(self) -> Embedder:
        return self._active.embedder

    # ---- reading

    documents = _by("_reader", DocumentReader.documents)
    documents_page = _by("_reader", DocumentReader.documents_page)
    document_list = _by("_reader", DocumentReader.document_list)
    document_languages = _by("_reader", DocumentReader.document_languages)
    document = _by("_reader", DocumentReader.document)
    versions = _by("_reader", DocumentReader.versions)
    histories = _by("_reader", DocumentReader.histories)
    version = _by("_reader", DocumentReader.version)
    preview = _by("_reader", DocumentReader.preview)
    blocks_within = _by("_reader", DocumentReader.blocks_within)
    chunk_ids = _by("_reader", DocumentReader.chunk_ids)
    text_of = _by("_reader", DocumentReader.text_of)
    texts = _by("_reader", DocumentReader.texts)
    original = _by("_reader", DocumentReader.original)
    download = _by("_reader", DocumentReader.download)
    tags = _by("_reader", DocumentReader.tags)
    has_pages = _by("_pages", DocumentPages.has_pages)
    pages = _by("_pages", DocumentPages.pages)
    page_image = _by("_pages", DocumentPages.page_image)
    page_text = _by("_pages", DocumentPages.page_text)
    find_on_pages = _by("_pages", DocumentPages.find_on_pages)

    # ---- adding and changing

    add_file = _by("_adding", DocumentIntake.add_file)
    add_path = _by("_adding", DocumentIntake.add_path)
    add_archive = _by("_adding", DocumentIntake.add_archive)
    add_text = _by("_adding", DocumentIntake.add_text)
    add_texts = _by("_adding", DocumentIntake.add_texts)
    load_sample = _by("_adding", DocumentIntake.load_sample)
    sample_left_out = _by("_adding", DocumentIntake.sample_left_out)
    set_tags = _by("_reader", DocumentReader.set_tags)

    # ---- versions: which one is shown, what is said of them, what is removed

    publications = _by("_versions", Publishing.publications)
    audit = _by("_versions", Publishing.audit)
    replaced = _by("_versions", Publishing.replaced)
    sequence = _by("_versions", Publishing.sequence)
    annotate = _by("_versions", Publishing.annotate)
    publish = _by("_versions", Publishing.publish)
    rollback = _by("_versions", Publishing.rollback)
    schedule = _by("_versions", Publishing.schedule)
    publish_due = _by("_versions", Publishing.publish_due)
    unpublish = _by("_versions", Publishing.unpublish)
    delete = _by("_versions", Publishing.delete)
    restore = _by("_versions", Publishing.restore)
    purge = _by("_versions", Publishing.purge)
    saved_questions = _by("_versions", Publishing.saved_questions)
    save_question = _by("_versions", Publishing.save_question)
    share_question = _by("_versions", Publishing.share_question)
    forget_question = _by("_versions", Publishing.forget_question)

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: Literal[True] = True
    ) -> ComparisonResult: ...

    @overload
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool
    ) -> ComparisonResult | None: ...

    @needs(Role.READER)
    def compare(
        self, key: str, old: int, new: int, *, other: str | None = None, wait: bool = True
    ) -> ComparisonResult | None:
        """Compare two versions; without ``wait`` None while it is being computed."""
        return self._comparison_service.compare(key, old, new, other=other, wait=wait)

    diff = compare
    comparison_progress = _by("_comparison_service", ComparisonService.comparison_progress)
    cancel_comparison = _by("_comparison_service", ComparisonService.cancel_comparison)
    image = _by("_comparison_service", ComparisonService.image)
    export = _by("_comparison_service", ComparisonService.export)

    # ---- jobs and stores

    jobs = _by("_jobs", JobFacade.jobs)
    job = _by("_jobs", JobFacade.job)
    job_counts = _by("_jobs", JobFacade.job_counts)
    job_log = _by("_jobs", JobFacade.job_log)
    jobs_changed = _by("_jobs", JobFacade.jobs_changed)
    wait = _by("_jobs", JobFacade.wait)
    finish = _by("_jobs", JobFacade.finish)
    retry = _by("_jobs", JobFacade.retry)
    retry_failed = _by("_jobs", JobFacade.retry_failed)
    cancel = _by("_jobs", JobFacade.cancel)
    prioritise = _by("_jobs", JobFacade.prioritise)
    check = _by("_stores", StoreFacade.check)
    check_files = _by("_stores", StoreFacade.check_files)
    repair = _by("_stores", StoreFacade.repair)
    reindex = _by("_stores", StoreFacade.reindex)
    reindex_elasticsearch = _by("_stores", StoreFacade.reindex_elasticsearch)
    store_report = _by("_stores", StoreFacade.store_report)

    @needs(Role.ADMIN)
    def work_off(self) -> None:
        """Index what is queued and publish what is due in the calling thread, where no worker does."""
        self._worker.work_off()
        while self._schedule.bring():
            self._worker.work_off()
        self._schedule.publish_due()
        self.generations.work_off()

    # ---- state

    @property
    def closing(self) -> threading.Event:
        """Set once the knowledge base is being closed."""
        return self._background.closing

    @property
    def is_starting(self) -> bool:
        return self._background.is_starting

    @needs(Role.READER)
    def health(self) -> Health:
        """Return the state of the stores and models, without waiting for any of them."""
        ready = self._embedder.ready() and not self.is_starting
        dialect = self.catalog.database.engine.dialect.name
        # Asked before the outbox: a store that turns out to be empty gets everything there first.
        unknown = self._projector.unknown()
        try:
            # How much there is in all tells of what others keep to themselves.
            rows = self.catalog.chunk_rows() if sees_all(current()) else None
            pending = self.catalog.outbox.pending()
        except StoreUnavailable as error:
            return Health((StoreHealth("catalog", dialect, "down", None, error.message),), 0, ready)
        stores = (
            self.catalog.health(rows),
            self._store("vector", self._vectors, "vector" in unknown or pending["vector"] > 0),
            self._store("keyword", self._keywords, "keyword" in unknown or pending["keyword"] > 0),
            self.catalog.damages.health(self._blobs.engine),
            *(self._room.health(), confinement_health()),
            StoreHealth("embedder", self._embedder.id, "ok" if ready else "loading", None, self.generations.remark()),
        )
        return Health(stores, sum(pending.values()), ready)

    def _store(self, name: str, index: VectorIndex | KeywordIndex, waits: bool) -> StoreHealth:
        if self.is_starting:
            return StoreHealth(name, index.engine, "loading")
        error = self._projector.errors.get(name)
        if error is not None:
            return StoreHealth(name, index.engine, "down", None, error.message)
        try:
            rows = self._row_counts.of(index)
        except EvoRAGError as failed:
            return StoreHealth(name, index.engine, "down", None, failed.message)
        return StoreHealth(name, index.engine, "waiting" if waits else "ok", rows if sees_all(current()) else None)

    @needs(Role.READER)
    def counts(self) -> Counts:
        return self.catalog.counts()

    @needs(Role.ADMIN)
    def backup(self, *, with_keys: bool = False) -> Iterator[bytes]:
        """Yield an archive of all as it is when this begins; ``with_keys`` with those of servers that write answers.

        Raises: ``Conflict`` while another one is made; ``DiskFull``.
        """
        return one_at_a_time(BackupSource(self.catalog, self._blobs, self._folder), with_keys=with_keys)

    @needs(Role.READER)
    def history(self, limit: int = 100, before: str = "", search: str = "") -> list[TraceSummary]:
        """Return the questions asked, newest first, from behind ``before`` on, that hold each word of ``search``."""
        return self.catalog.questions.recent(limit, before, search)

    @needs(Role.READER)
    def trace(self, trace_id: str) -> Trace:
        """Return the account of a question of the history, or of a failure in an evaluation. Raises: ``NotFound``."""
        kept = self.evaluations.trace if self.evaluations.keeps(trace_id) else self.catalog.questions.get
        return kept(trace_id)

    @needs(Role.ADMIN)
    def forget_answers(self) -> int:
        """Answer every question afresh from now on; return how many answers were kept."""
        return self.catalog.answers.forget_all()

    def close(self) -> None:
        """Stop the workers and close the stores; running jobs go on at the next start."""
        if not self._closed.acquire(blocking=False):
            return
        flows = (self._background, self.transfers, self._schedule, self._purge, self._worker, self.evaluations)
        work = (self.training, self._comparisons, self._pages, self.generations, self._projector, self._retriever)
        for part in (*flows, *work, self.generators, self._parser, self._active, self.catalog):
            part.close()
        # Until here somebody may be about to name a blob: other processes must not remove it.
        self._pins.close()
        self._folder.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
