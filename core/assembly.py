"""The wiring of a knowledge base: its parts are made in the order of the two flows, whatever technology they use."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from core.accounts import Accounts
from core.blobs.orphans import UnclaimedBlobs
from core.blobs.pinned import PinnedBlobs
from core.blobs.pins import BlobPins
from core.blobs.quota import StorageQuota
from core.blobs.scrub import Scrub
from core.blobs.watched import WatchedBlobs
from core.catalog import KEYWORD, VECTOR, Catalog
from core.catalog.consistency import Making
from core.catalog.reached import Reached
from core.catalog.snapshots import Snapshots
from core.evaluation.facade import Evaluations
from core.explain.facade import Explain
from core.explain.why_not import WhyNots
from core.generators.kept import KeptGenerators
from core.indexes.active import ActiveIndex, IndexFactories
from core.indexes.active_vocabulary import ActiveVocabulary
from core.indexes.consistency import Watched
from core.indexes.earlier_day import look_for_earlier_days
from core.indexes.facade import StoreFacade
from core.indexes.file_check import FileChecker
from core.indexes.generations import Generations
from core.indexes.opening import opened_index
from core.indexes.projector import Projector
from core.indexes.quarantine import Quarantine
from core.indexes.reindex_jobs import ReindexJobs
from core.indexes.repair_jobs import RepairJobs
from core.indexes.warm_up import loading_models
from core.ingest.add_documents import DocumentIntake
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.store_archive import ArchiveIntake
from core.ingest.archives.unpacker import ArchiveUnpacker
from core.ingest.intake import Intake
from core.ingest.mending_blobs import MendingBlobs
from core.ingest.parse_and_chunk import Lanes
from core.ingest.pipeline import IngestPipeline
from core.ingest.reader import reader_of
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.sandbox import ParserLimits, ParserSandbox
from core.ingest.slow_lane import SlowLane
from core.ingest.uploads.destination import DocumentOrArchive
from core.ingest.uploads.transfers import Transfers
from core.jobs.background import Background
from core.jobs.estimates import Estimates
from core.jobs.facade import JobFacade
from core.jobs.handlers import JobHandlers
from core.jobs.local_queue import LocalJobs
from core.knowledge_base import (
    IndexParts,
    IngestParts,
    KnowledgeBase,
    ModelParts,
    Parts,
    QuestionParts,
    StorageParts,
    VersionParts,
)
from core.model import Job, JobKind
from core.platform.data_folder import DataFolder
from core.platform.disk_room import DiskRoom
from core.platform.poller import Poller
from core.platform.work_signal import WorkSignal
from core.ports import BlobStore, JobQueue, Passwords, Signal
from core.query.answer.reading import PassageReaders, ReadingStage
from core.query.answer.write_answer import Answering
from core.query.answer_cache import AnswerCache
from core.query.ask import QuestionAnswering
from core.query.conversations.conversations import Conversations
from core.query.conversations.rewrite import StandaloneRewriter
from core.query.pipeline import QueryPipeline
from core.query.search.rerank import RerankStage
from core.query.search.retrieve import Retriever
from core.query.search.search import Searcher
from core.query.search.spelling import Spelling
from core.recordings.facade import Recordings
from core.settings import Settings, retired_variables
from core.training.facade import Trainings
from core.versions.cache import ComparisonCache, DiffLimits
from core.versions.documents import DocumentReader
from core.versions.history import History
from core.versions.office_check import OfficeCheck
from core.versions.pages.kept import KeptPages
from core.versions.pages.service import DocumentPages
from core.versions.picture_readings import PictureReadings
from core.versions.publishing import Publishing
from core.versions.purge import Purge
from core.versions.rereading import Rereading
from core.versions.schedule import Schedule
from core.versions.service import ComparisonService

log = logging.getLogger(__name__)

_UPKEEP_S, _TIDIED_S, _CHECKED_S = 60.0, 60.0, 15.0


class ProgressChannel(Protocol):
    """Tells other processes of the changes of jobs, and hears of theirs."""

    def start(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class JobSharing:
    """How jobs are shared with other processes."""

    queue: Callable[[LocalJobs, Signal], JobQueue] | None
    """What makes the queue that other processes work on; None where this one does."""
    progress: ProgressChannel | None


@dataclass(frozen=True, slots=True)
class ModelNames:
    """What is loaded by its name when it is first needed."""

    embedder: str
    ocr: str
    """Module and class of what recognises characters, empty where nothing does."""


@dataclass(frozen=True, slots=True)
class Adapters:
    """What the composition root has chosen by the settings."""

    catalog: Catalog
    blobs: BlobStore
    passwords: Passwords
    factories: IndexFactories
    models: ModelNames
    generators: KeptGenerators
    readers: PassageReaders
    sharing: JobSharing


def assemble(settings: Settings, folder: DataFolder, adapters: Adapters) -> tuple[KnowledgeBase, LocalJobs]:
    """Wire the parts of a knowledge base, and start them; return it with what works on the job ledger here.

    Raises: ``WrongIndex`` where what built the index cannot be opened.
    """
    for variable in retired_variables():
        log.warning("%s is no longer a setting; it changes nothing.", variable)
    catalog, generators, sharing = adapters.catalog, adapters.generators, adapters.sharing
    signal, has_written, closing = WorkSignal(), threading.Event(), threading.Event()

    # Where everything is kept.
    pins = BlobPins(folder.root / "holds" if folder.is_shared else None)
    parser = _parser(settings, folder)
    recognition = Recognition(adapters.models.ocr, folder.recognised, folder.incoming)
    readable = MendingBlobs(adapters.blobs, catalog, parser, recognition, folder.incoming)
    watched = WatchedBlobs(adapters.blobs, catalog.damages)
    blobs = PinnedBlobs(watched, pins, UnclaimedBlobs(catalog, watched, pins))
    quota = StorageQuota(
        catalog.transfers, folder.root, settings.max_upload_bytes, settings.user_quota_bytes, settings.min_free_bytes
    )
    room = DiskRoom(
        folder.root,
        reserve_bytes=0 if folder.is_shared else settings.disk_reserve_bytes,
        low_bytes=settings.low_disk_bytes,
        min_free_bytes=settings.min_free_bytes,
    )
    accounts = Accounts.of(catalog, adapters.passwords, settings.security)
    storage = StorageParts(folder, catalog, blobs, accounts, room)

    # What is searched.
    active = opened_index(catalog, adapters.factories, adapters.models.embedder)
    vocabulary = ActiveVocabulary(catalog, active)
    vocabulary.restore()
    projector = Projector(catalog, active, has_written, vocabulary.follow if folder.is_shared else None)
    generations = Generations(catalog, active, projector, adapters.factories, adapters.models.embedder, has_written)
    recordings = Recordings(catalog, folder.recordings, quota, settings.neurons, is_alone=folder.is_alone)
    files = FileChecker(catalog, readable, blobs.unclaimed, folder.transfers, recordings)
    repair_jobs = RepairJobs(catalog, projector, _watched(active, vocabulary), files)
    reindex_jobs = ReindexJobs(catalog, projector, vocabulary)

    # What documents were, are and will be.
    reader = DocumentReader(catalog, readable)
    training = Trainings(folder.models, generators, reader, quota.check_disk, is_alone=folder.is_alone)
    comparisons = _comparisons(settings, storage, readable)
    comparison_service = ComparisonService(catalog, reader, comparisons)
    kept_pages = KeptPages(folder.pages, blobs.store, settings.page_cache_bytes, folder.incoming)
    pages = DocumentPages(reader, kept_pages)
    history = History(catalog, projector, signal.notify)
    pictures = PictureReadings(catalog, history, signal.notify, reader_of(settings.chunk_tokens))
    has_snapshots = catalog.database.is_sqlite and not settings.catalog_url.get_secret_value()
    snapshots = Snapshots(folder, 3600 * settings.snapshot_hours * has_snapshots, catalog.database)
    schedule = Schedule(catalog, history, pictures.go_on)
    threads = settings.job_workers if sharing.queue is None else 0
    purge = Purge(
        catalog,
        blobs,
        projector,
        active.stores,
        (comparisons.forget, pages.forget, snapshots.forget),
        (recordings.redact, training.redact),
        room,
        in_background=sharing.queue is not None or threads > 0,
    )

    # How a document comes in and is worked on.
    lanes = Lanes(recognition, SlowLane(catalog, settings.parser_patience_s, signal))
    intake = Intake(blobs, folder.incoming, quota, settings.max_text_chars)
    archives = _archives(settings, storage, quota)
    is_read_here = not settings.jobs_url
    adding = DocumentIntake(catalog, intake, archives, history, schedule.wake, signal.notify, is_read_here=is_read_here)
    unpacker = ArchiveUnpacker(
        catalog, blobs, folder.incoming, archives, _archive_limits(settings), quota, adding.file_members
    )

    def after_job(jobs: Sequence[Job]) -> None:
        schedule.wake()
        purge.go_on()
        comparison_service.prepare_comparisons(jobs)

    ledger = LocalJobs(
        catalog,
        IngestPipeline(catalog, blobs, parser, active, projector, lanes, folder.incoming, settings.chunk_tokens),
        threads,
        settings.job_batch,
        settings.job_lease_s if folder.is_shared else None,
        is_alone=folder.is_alone,
        handlers=JobHandlers(
            {JobKind.UNPACK: unpacker.run, JobKind.REINDEX: reindex_jobs.run, JobKind.REPAIR: repair_jobs.run},
            tidy=reindex_jobs.tidy,
            after_job=after_job,
        ),
        signal=signal,
    )
    worker = ledger if sharing.queue is None else sharing.queue(ledger, signal)
    transfers = Transfers(
        catalog.transfers,
        folder.transfers,
        quota,
        blobs,
        DocumentOrArchive(adding.claim_transfer, archives, signal.notify),
        expiry=timedelta(hours=settings.upload_expiry_hours),
        threads=2 if settings.job_workers else 0,
        is_shared=folder.is_shared,
    )
    control = Publishing(catalog, reader, history, schedule, purge, worker, room)
    readings = Rereading(catalog, readable, history, purge, worker, reader_of(settings.chunk_tokens))

    # How a question is answered.
    retriever = Retriever(catalog, active.now, settings.leg_timeout_s, projector.lost, not settings.keyword_url)
    stage = RerankStage(catalog, adapters.readers.reranker)
    searcher = Searcher(retriever, stage, settings.search, catalog.publications.has_moved_since)
    reading = ReadingStage(adapters.readers.reader) if adapters.readers.reader is not None else None
    answering = Answering(generators, settings.answers, reading, adapters.readers.verifier)
    queries = QueryPipeline(catalog, searcher, Spelling(catalog, active.now), answering, settings.search)
    rewriter = StandaloneRewriter(
        generators, settings.answers, settings.max_question_chars, settings.generator_standalone
    )
    conversations = Conversations(catalog, rewriter)
    options = settings.of_answers()
    cache = AnswerCache(catalog, active.now, generators, settings.cache, options, recency=settings.recency)
    evaluations = Evaluations(catalog, queries, generators, settings.search, settings.embedder, pins)
    questions = QuestionParts(
        retriever,
        queries,
        conversations,
        QuestionAnswering(catalog, queries, conversations, cache, recordings),
        evaluations,
        Explain(catalog, active.now, worker, WhyNots(catalog, queries, active.now)),
    )

    # What runs beside the calls.
    follow = (active.follow, vocabulary.follow, generators.follow, accounts.follow, transfers.follow, purge.follow)
    poller = Poller(follow if folder.is_shared else ())
    # What processes leave that are killed while others go on.
    reached = Reached(folder.reached_file, catalog.database, catalog.identity)
    tidied = ledger.tidy, evaluations.fail_abandoned, history.take_back_old, recordings.tidy, reached.look
    tidying = Poller(tidied, every_s=_TIDIED_S)
    # Those at a URL are read by `evorag check --deep` alone: to fetch all of them may cost money.
    share = 0.0 if settings.blob_url.get_secret_value() else settings.scrub_share
    scrub = Scrub(catalog, readable, share, timedelta(days=settings.scrub_days), closing)
    catalog.retention.days = settings.retention.days()
    upkeep = Poller((room.refill, catalog.retention.apply, snapshots.take_if_due, scrub.go_on), every_s=_UPKEEP_S)
    check = OfficeCheck(catalog, blobs.store, kept_pages, ledger.is_idle, closing, is_on=settings.checks_office)
    checking = Poller((check.go_on,), every_s=_CHECKED_S)

    def start() -> None:
        is_alone = folder.is_alone
        room.refill()
        models = loading_models(active, adapters.readers.reader)
        try:
            projector.start(after=active.wait_until_loaded)  # it opens Milvus Lite, which would take as long from that
            archives.sweep()
            worker.start()
            if is_alone:
                history.resume()
            purge.go_on()
            if worker.has_threads:
                schedule.start()
        finally:
            folder.share()
        poller.start()
        if folder.is_shared:
            tidying.start()
        generations.start(in_background=ledger.has_threads)
        active.load()
        models.join()
        active.load_rest()
        if is_alone:
            blobs.unclaimed.sweep(closing)
            look_for_earlier_days(catalog, blobs.store, _watched(active, vocabulary), repair_jobs)
        if ledger.has_threads:
            upkeep.start()
            checking.start()

    progress = () if sharing.progress is None else (sharing.progress.close,)
    on_close = (poller.close, *progress, tidying.close, upkeep.close, pages.close, checking.close)
    background = Background(start, on_close, closing)
    kb = KnowledgeBase(
        Parts(
            settings,
            storage,
            IndexParts(
                active,
                projector,
                generations,
                StoreFacade(repair_jobs, worker, Quarantine(files, blobs, adding.add_file)),
            ),
            IngestParts(
                parser, adding, transfers, worker, JobFacade(catalog, worker, Estimates(catalog, settings.job_workers))
            ),
            VersionParts(reader, control, readings, schedule, purge, comparison_service, comparisons, pages),
            ModelParts(generators, recordings, training),
            questions,
            background,
        )
    )
    transfers.start()
    if sharing.progress is not None:
        sharing.progress.start()
    if settings.test_mode:
        background.start()
    else:
        # Pages and uploads do not wait for stores and models; whatever needs them does.
        background.start_soon()
    return kb, ledger


def _watched(active: ActiveIndex, vocabulary: ActiveVocabulary) -> Callable[[], Mapping[str, Watched]]:
    """Return what gives the stores that serve, with what their rows are made by."""

    def stores() -> dict[str, Watched]:
        served = active.follow()
        made = Making(served.embedder.id, model=served.embedder.id)
        return {VECTOR: Watched(served.vectors, lambda: made), KEYWORD: Watched(served.keywords, vocabulary.making)}

    return stores


def _comparisons(settings: Settings, storage: StorageParts, blobs: BlobStore) -> ComparisonCache:
    folder = storage.folder
    return ComparisonCache(
        folder.comparisons,
        blobs,
        DiffLimits(settings.diff_timeout_s, settings.diff_memory_bytes, settings.diff_cache_bytes),
        folder.incoming,
        is_alone=folder.is_alone,
        is_purged=storage.catalog.purges.is_purged,
    )


def _parser(settings: Settings, folder: DataFolder) -> ParserSandbox:
    limits = ParserLimits(
        timeout_s=settings.parser_timeout_s,
        memory_bytes=settings.parser_memory_bytes,
        output_bytes=settings.parser_output_bytes,
        table_cells=settings.table_cell_budget,
    )
    return ParserSandbox(limits, folder.incoming, rooms=folder.rooms_of_readers())


def _archive_limits(settings: Settings) -> ArchiveLimits:
    return ArchiveLimits(
        members=settings.archive_members,
        bytes=settings.archive_bytes,
        ratio=settings.archive_ratio,
        member_bytes=settings.max_upload_bytes,
    )


def _archives(settings: Settings, storage: StorageParts, quota: StorageQuota) -> ArchiveIntake:
    kept_for = timedelta(hours=settings.upload_expiry_hours)
    return ArchiveIntake(
        storage.catalog, storage.blobs, storage.folder.incoming, _archive_limits(settings), quota, kept_for
    )
