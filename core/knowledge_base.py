"""The knowledge base: documents go in, are versioned and indexed twice, and only what is published is shown."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import current, needs, sees_all
from core.backup.source import Place
from core.backup.write_archive import one_at_a_time
from core.blobs.orphans import UnclaimedBlobs
from core.blobs.pins import Holds
from core.errors import EvoRAGError, NotFound, StoreUnavailable
from core.generators import Generators
from core.indexes.facade import StoreControl
from core.indexes.row_counts import RowCounts
from core.ingest.add_documents import Adding
from core.ingest.intake import Intake
from core.ingest.sandbox import read_blocks
from core.ingest.upload_options import check_tags
from core.ingest.uploads.destination import DocumentOrArchive
from core.ingest.uploads.transfers import Transfers
from core.jobs.facade import JobControl
from core.model import (
    BLOCK_JOINT,
    Counts,
    Document,
    Health,
    Preview,
    Role,
    StoreHealth,
    Trace,
    TraceSummary,
)
from core.ports import BlobStore, Embedder, JobQueue, KeywordIndex, Parser, VectorIndex

if TYPE_CHECKING:
    from core.accounts import Accounts
    from core.blobs.quota import Room
    from core.catalog import Catalog
    from core.evaluation.facade import Evaluations
    from core.explain.facade import Insight
    from core.indexes.active import Serving
    from core.indexes.generations import Generations
    from core.indexes.projector import Projector
    from core.indexes.repair_jobs import Repairing
    from core.ingest.archives.store_archive import ArchiveIntake
    from core.platform.data_folder import DataFolder
    from core.query.ask import Asking
    from core.query.conversations.conversations import Conversations
    from core.query.pipeline import QueryPipeline
    from core.query.search.retrieve import Retriever
    from core.recordings.facade import Recordings
    from core.settings import Settings
    from core.training.facade import Trainings
    from core.versions.cache import Comparisons

log = logging.getLogger(__name__)

_LONGEST_PREVIEW = 500


class KnowledgeBase(JobControl, StoreControl, Adding):
    """Documents, versions and their projections in one data folder; made by ``core.build``."""

    def __init__(
        self,
        settings: Settings,
        folder: DataFolder,
        catalog: Catalog,
        blobs: BlobStore,
        holds: Holds,
        unclaimed: UnclaimedBlobs,
        serving: Serving,
        parser: Parser,
        projector: Projector,
        worker: JobQueue,
        retriever: Retriever,
        queries: QueryPipeline,
        comparisons: Comparisons,
        room: Room,
        archives: ArchiveIntake,
        accounts: Accounts,
        generators: Generators,
        evaluations: Evaluations,
        conversations: Conversations,
        asking: Asking,
        insight: Insight,
        recordings: Recordings,
        training: Trainings,
        generations: Generations,
        repairing: Repairing,
    ) -> None:
        super().__init__(catalog, blobs, holds, projector, worker, serving.stores, comparisons, recordings)
        self.settings = settings
        self.queries = queries
        self.accounts = accounts
        self.generators = generators
        self.evaluations = evaluations
        self.conversations = conversations
        self.asking = asking
        self.insight = insight
        self.recordings = recordings
        self.training = training
        self.generations = generations
        self._repairing = repairing
        self._purge.take_from(training.redact)
        self._folder = folder
        self._serving = serving
        self._holds = holds
        self._parser = parser
        self._retriever = retriever
        self._row_counts = RowCounts()
        self._intake = Intake(blobs, holds, unclaimed, folder.incoming, room, settings.max_text_chars)
        self.transfers = Transfers(
            catalog.transfers,
            folder.transfers,
            room,
            blobs,
            holds,
            unclaimed,
            DocumentOrArchive(self._claim_transfer, archives, worker.wake),
            expiry=timedelta(hours=settings.upload_expiry_hours),
            threads=2 if settings.job_workers else 0,
            is_shared=folder.is_shared,
        )
        self._archives = archives
        self._closed = threading.Lock()
        self._closing_acts: list[Callable[[], None]] = []
        self.closing = threading.Event()
        """Set once the knowledge base is being closed."""
        self._starting: threading.Thread | None = None

    @property
    def _vectors(self) -> VectorIndex:
        return self._serving.now().vectors

    @property
    def _keywords(self) -> KeywordIndex:
        return self._serving.now().keywords

    @property
    def _embedder(self) -> Embedder:
        return self._serving.embedder

    # ---- reading

    @needs(Role.READER)
    def documents(self, search: str = "", *, include_deleted: bool = False, limit: int | None = None) -> list[Document]:
        """Return documents by name, at most ``limit``; ``search`` is literal text in the name, the title or a tag."""
        return self.catalog.documents.find(search, include_deleted=include_deleted, limit=limit)

    @needs(Role.READER)
    def documents_page(
        self,
        search: str = "",
        *,
        include_deleted: bool = False,
        tags: Collection[str] = (),
        extensions: Collection[str] = (),
        state: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> tuple[list[Document], int, bool]:
        """Return documents by key from behind ``after`` on, how many fit in all, and whether more follow."""
        return self.catalog.documents.page(
            search,
            include_deleted=include_deleted,
            tags=tags,
            extensions=extensions,
            state=state,
            after=after,
            limit=limit,
        )

    @needs(Role.READER)
    def document(self, key: str) -> Document:
        found = self.catalog.documents.find(include_deleted=True, doc_id=self.catalog.documents.id_of(key))
        if not found:
            raise NotFound(f"There is no document “{key}”.")
        return found[0]

    @needs(Role.READER)
    def preview(self, key: str, version: int, start: int = 0, count: int = 50) -> Preview:
        """Return a stretch of a version's chunks, by position."""
        found = self._kept(key, version)
        return self.catalog.visibility.preview(
            key, found.id, version, max(start, 0), min(max(count, 0), _LONGEST_PREVIEW)
        )

    @needs(Role.READER)
    def chunk_ids(self, key: str, version: int, limit: int) -> list[int]:
        """Return the ids of a version's first chunks, by position; a text that stands twice is there twice."""
        return self.catalog.chunks.placed_ids(self._kept(key, version).id, limit)

    @needs(Role.READER)
    def text_of(self, key: str, version: int | None = None) -> str:
        """Return the text of a version (of the newest one by default): as typed for text entries, else as parsed."""
        return self._text(self.document(key), version)

    @needs(Role.READER)
    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every document that is shown, with its text."""
        shown = [document for document in self.documents() if document.published_version is not None]
        return ((document, self._text(document, document.published_version)) for document in shown)

    def _text(self, document: Document, version: int | None) -> str:
        key = document.doc_key
        found = self._kept(key, version or document.published_version or document.latest_version)
        if self.catalog.documents.is_text_entry(found.id):
            # A file that once had the entry's name may be in any encoding; its parsed text serves then.
            with contextlib.suppress(UnicodeDecodeError):
                return self._blobs.path(found.sha256).read_bytes().decode("utf-8")
        parsed = self.catalog.documents.parsed_sha256(found.id)
        if parsed is None:
            raise NotFound(f"Version {found.number} of “{key}” has no text yet.", remedy="Wait until it is indexed.")
        return BLOCK_JOINT.join(block.text for block in read_blocks(self._blobs.path(parsed)))

    @needs(Role.READER)
    def original(self, key: str, version: int) -> tuple[Path, str]:
        """Return the file that holds a version's original bytes, and the name to give it."""
        found = self._kept(key, version)
        return self._blobs.path(found.sha256), found.file_name

    @needs(Role.READER)
    def download(self, key: str, version: int, target: Path) -> Path:
        """Write a version's original bytes to a file, or into a folder under the file's name; return the path."""
        original, name = self.original(key, version)
        return Path(shutil.copyfile(original, target / Path(name).name if target.is_dir() else target))

    @needs(Role.READER)
    def tags(self) -> list[str]:
        return self.catalog.documents.tags()

    # ---- changing

    @needs(Role.EDITOR)
    def set_tags(self, key: str, tags: Sequence[str]) -> Document:
        check_tags(tags)
        self.catalog.documents.set_tags(self.catalog.documents.id_of(key), tags)
        return self.document(key)

    # ---- jobs

    @needs(Role.ADMIN)
    def work_off(self) -> None:
        """Index what is queued and publish what is due in the calling thread, where no worker does."""
        self._worker.work_off()
        self.publish_due()
        self.generations.work_off()

    # ---- state

    @needs(Role.ADMIN)
    def start_with(self, start: Callable[[], None]) -> None:
        """Run ``start`` in the background; until it has ended the stores count as loading."""

        def run() -> None:
            try:
                start()
            except Exception:
                log.exception("starting up failed; what needs the stores or models will say so")

        self._starting = threading.Thread(target=run, name="evorag-start", daemon=True)
        self._starting.start()

    @needs(Role.ADMIN)
    def close_first(self, act: Callable[[], None]) -> None:
        """Have ``act`` called when the knowledge base is closed, before anything else ends."""
        self._closing_acts.append(act)

    @property
    def is_starting(self) -> bool:
        return self._starting is not None and self._starting.is_alive()

    @needs(Role.READER)
    def health(self) -> Health:
        """Return the state of the stores and models, without waiting for any of them."""
        ready = bool(getattr(self._embedder, "ready", True)) and not self.is_starting
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
            StoreHealth("catalog", dialect, "ok", rows),
            self._store("vector", self._vectors, "vector" in unknown or pending["vector"] > 0),
            self._store("keyword", self._keywords, "keyword" in unknown or pending["keyword"] > 0),
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
    def backup(self) -> Iterator[bytes]:
        """Yield an archive of everything as it is when this begins, piece by piece, while the work goes on.

        Raises: ``Conflict`` while another one is made; ``DiskFull``.
        """
        return one_at_a_time(Place(self.catalog, self._blobs, self._folder))

    # ---- questions already asked

    @needs(Role.READER)
    def history(self, limit: int = 100) -> list[TraceSummary]:
        """Return the questions asked, newest first."""
        return self.catalog.questions.recent(limit)

    @needs(Role.READER)
    def trace(self, trace_id: str) -> Trace:
        """Return the account of a question of the history, or of a failure in an evaluation. Raises: ``NotFound``."""
        if self.evaluations.keeps(trace_id):
            return self.evaluations.trace(trace_id)
        return self.catalog.questions.get(trace_id)

    @needs(Role.ADMIN)
    def forget_answers(self) -> int:
        """Answer every question afresh from now on; return how many answers were kept."""
        return self.catalog.answers.forget_all()

    def close(self) -> None:
        """Stop the workers and close the stores; running jobs go on at the next start."""
        if not self._closed.acquire(blocking=False):
            return
        self.closing.set()
        if self._starting is not None:
            self._starting.join(timeout=60)
        for act in self._closing_acts:
            act()
        self.transfers.close()
        self._schedule.close()
        self._purge.close()
        self._worker.close()
        self.evaluations.close()
        self.training.close()
        self._comparisons.close()
        self.generations.close()
        self._projector.close()
        self._retriever.close()
        self.generators.close()
        self._parser.close()
        self._serving.close()
        self.catalog.close()
        # Until here somebody may be about to name a blob: other processes must not remove it.
        self._holds.close()
        self._folder.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
