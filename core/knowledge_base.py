"""The knowledge base: documents go in, are versioned and indexed twice, and only what is published is shown."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from core.errors import Conflict, EvoRAGError, NotFound
from core.ingest.filing import check_tags
from core.ingest.holds import Holds
from core.ingest.intake import Intake
from core.ingest.sandbox import read_blocks
from core.model import (
    BLOCK_JOINT,
    Counts,
    Document,
    Filing,
    Health,
    Job,
    Preview,
    StoreHealth,
    Trace,
    TraceSummary,
    Upload,
    UploadOutcome,
)
from core.ports import BlobStore, Embedder, KeywordIndex, Parser, VectorIndex
from core.versions.control import VersionControl

if TYPE_CHECKING:
    from core.catalog import Catalog, Claim, NewVersion
    from core.data_folder import DataFolder
    from core.jobs import LocalJobs
    from core.projection import Projector
    from core.query.pipeline import QueryPipeline
    from core.query.retrieve import Retriever
    from core.settings import Settings
    from core.versions.comparisons import Comparisons

log = logging.getLogger(__name__)

_LONGEST_PREVIEW = 500


class KnowledgeBase(VersionControl):
    """Documents, versions and their projections in one data folder; made by ``core.build``."""

    def __init__(
        self,
        settings: Settings,
        folder: DataFolder,
        catalog: Catalog,
        blobs: BlobStore,
        holds: Holds,
        vectors: VectorIndex,
        keywords: KeywordIndex,
        embedder: Embedder,
        parser: Parser,
        projector: Projector,
        worker: LocalJobs,
        retriever: Retriever,
        queries: QueryPipeline,
        comparisons: Comparisons,
    ) -> None:
        super().__init__(catalog, blobs, holds, projector, worker, (vectors, keywords), comparisons)
        self.settings = settings
        self.queries = queries
        self._folder = folder
        self._vectors = vectors
        self._keywords = keywords
        self._embedder = embedder
        self._parser = parser
        self._retriever = retriever
        self._intake = Intake(blobs, holds, folder.incoming, settings.max_upload_bytes, settings.max_text_chars)
        self._closed = threading.Lock()
        self._starting: threading.Thread | None = None

    # ---- adding

    def add_file(
        self,
        name: str,
        stream: BinaryIO,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
    ) -> Upload:
        """Store a file as the next version of the document that its name says, and queue its indexing.

        A draft is indexed but not shown; with ``publish_at`` it is published by itself at that moment. Tags are the
        document's, at once.
        Raises: ``BadFilename``, ``TooLarge``, ``UnsupportedType``, ``EmptyDocument``, ``InvalidInput``; then nothing is
        stored.
        """
        filing = Filing(tuple(tags), note, label, actor, draft, publish_at)
        return self._claimed(lambda: [self._intake.file(name, stream, filing)])[0]

    def add_path(self, path: Path, **filing: Any) -> Upload:
        """Store a file of this machine, as ``add_file`` does. Raises: ``NotFound``, and what ``add_file`` raises."""
        if path.is_symlink() or not path.is_file():
            raise NotFound(f"“{path.name}” is not an ordinary file.", remedy="Name an existing file, not a link.")
        with path.open("rb") as stream:
            return self.add_file(path.name, stream, **filing)

    def add_text(
        self,
        name: str,
        text: str,
        *,
        title: str = "",
        tags: Sequence[str] = (),
        note: str = "",
        label: str = "",
        actor: str = "",
        draft: bool = False,
        publish_at: datetime | None = None,
    ) -> Upload:
        """Store a text entry, as ``add_file`` does. Raises: ``TooLarge`` over the limit, ``EmptyDocument``."""
        filing = Filing(tuple(tags), note, label, actor, draft, publish_at)
        return self._claimed(lambda: [self._intake.text(name, text, title, filing)])[0]

    def add_texts(self, entries: Sequence[tuple[str, str, str]]) -> list[Upload]:
        """Store many text entries, each (name, title, text), in one transaction."""
        return self._claimed(lambda: (self._intake.text(name, text, title, Filing()) for name, title, text in entries))

    def load_sample(self) -> list[Upload]:
        """Add the sample documents in order, second versions after the first ones."""
        from core.sample import documents

        return [self._add_sample(sample.name, sample.path, sample.tags) for sample in documents()]

    def _add_sample(self, name: str, path: Path, tags: Sequence[str]) -> Upload:
        with path.open("rb") as stream:
            return self.add_file(name, stream, tags=tags)

    def _claimed(self, take_in: Callable[[], Iterable[NewVersion]]) -> list[Upload]:
        """Claim versions of what was taken in; what a restored version showed before is shown at once."""
        news: list[NewVersion] = []
        try:
            news.extend(take_in())
            claims = self.catalog.documents.claim_many(news)
            self._worker.wake()
            shown = [self._shown(claim, new) for claim, new in zip(claims, news, strict=True)]
        finally:
            self._intake.release(news)
            self._schedule.wake()
        return [
            Upload(claim.outcome, new.doc_key, claim.number, new.sha1, claim.job_id)
            for claim, new in zip(shown, news, strict=True)
        ]

    def _shown(self, claim: Claim, new: NewVersion) -> Claim:
        """Show a restored version at once; claim anew what was shown or purged by others in this moment."""
        while claim.outcome is UploadOutcome.RESTORED and claim.job_id is None:
            try:
                self._append(claim.doc_id, claim.version_id, "publish", new.filing.actor, "")
            except Conflict:
                claim = self.catalog.documents.claim(new)
                self._worker.wake()
            else:
                break
        return claim

    # ---- reading

    def documents(self, search: str = "", *, include_deleted: bool = False) -> list[Document]:
        """Return documents by name; ``search`` is literal text in the name, the title or a tag."""
        return self.catalog.documents.find(search, include_deleted=include_deleted)

    def document(self, key: str) -> Document:
        found = self.catalog.documents.find(include_deleted=True, doc_id=self.catalog.documents.id_of(key))
        if not found:
            raise NotFound(f"There is no document “{key}”.")
        return found[0]

    def preview(self, key: str, version: int, start: int = 0, count: int = 50) -> Preview:
        """Return a stretch of a version's chunks, by position."""
        found = self._kept(key, version)
        return self.catalog.visibility.preview(
            key, found.id, version, max(start, 0), min(max(count, 0), _LONGEST_PREVIEW)
        )

    def text_of(self, key: str, version: int | None = None) -> str:
        """Return the text of a version (of the newest one by default): as typed for text entries, else as parsed."""
        return self._text(self.document(key), version)

    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every document that is shown, with its text."""
        for document in self.documents():
            if document.published_version is not None:
                yield document, self._text(document, document.published_version)

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

    def original(self, key: str, version: int) -> tuple[Path, str]:
        """Return the file that holds a version's original bytes, and the name to give it."""
        found = self._kept(key, version)
        return self._blobs.path(found.sha256), found.file_name

    def tags(self) -> list[str]:
        return self.catalog.documents.tags()

    # ---- changing

    def set_tags(self, key: str, tags: Sequence[str]) -> Document:
        check_tags(tags)
        self.catalog.documents.set_tags(self.catalog.documents.id_of(key), tags)
        return self.document(key)

    # ---- jobs

    def jobs(self, *, active: bool = False, limit: int = 200, ids: Sequence[str] | None = None) -> list[Job]:
        """Return jobs, newest first; with ``ids`` only those of them that there are."""
        return self.catalog.jobs.recent(active=active, limit=limit, ids=ids)

    def job(self, job_id: str) -> Job:
        return self.catalog.jobs.get(job_id)

    def wait(self, job_ids: Sequence[str], timeout_s: float | None = None) -> list[Job]:
        """Return the jobs once all have ended, or as they are when the time is over."""
        return self._worker.wait(job_ids, timeout_s)

    def finish(self, job_id: str, timeout_s: float | None = None) -> Job:
        """Wait for one job. Raises: the error that it ended with, as an ``EvoRAGError``."""
        job = self.wait([job_id], timeout_s)[0]
        if job.error:
            raise EvoRAGError(str(job.error["message"]), remedy=str(job.error["remedy"]), code=str(job.error["code"]))
        return job

    def work_off(self) -> None:
        """Index what is queued and publish what is due in the calling thread, where no worker does."""
        self._worker.work_off()
        self.publish_due()

    def retry(self, job_id: str) -> Job:
        """Queue a failed or cancelled job again."""
        return self._worker.retry(job_id)

    def cancel(self, job_id: str) -> Job:
        """Stop an active job; its version is never shown."""
        return self._worker.cancel(job_id)

    # ---- state

    def start_with(self, start: Callable[[], None]) -> None:
        """Run ``start`` in the background; until it has ended the stores count as loading."""

        def run() -> None:
            try:
                start()
            except Exception:
                log.exception("starting up failed; what needs the stores or models will say so")

        self._starting = threading.Thread(target=run, name="evorag-start", daemon=True)
        self._starting.start()

    @property
    def is_starting(self) -> bool:
        return self._starting is not None and self._starting.is_alive()

    def health(self) -> Health:
        """Return the state of the stores and models, without waiting for any of them."""
        pending = self.catalog.outbox.pending()
        ready = bool(getattr(self._embedder, "ready", True)) and not self.is_starting
        stores = (
            StoreHealth("catalog", self.catalog.database.engine.dialect.name, "ok", self.catalog.chunk_rows()),
            self._store("vector", self._vectors, pending["vector"]),
            self._store("keyword", self._keywords, pending["keyword"]),
            StoreHealth("embedder", self._embedder.id, "ok" if ready else "loading"),
        )
        return Health(stores, sum(pending.values()), ready)

    def _store(self, name: str, index: VectorIndex | KeywordIndex, pending: int) -> StoreHealth:
        if self.is_starting:
            return StoreHealth(name, index.engine, "loading")
        error = self._projector.errors.get(name)
        if error is not None:
            return StoreHealth(name, index.engine, "down", None, error.message)
        try:
            rows = sum(index.count().values())
        except EvoRAGError as failed:
            return StoreHealth(name, index.engine, "down", None, failed.message)
        return StoreHealth(name, index.engine, "waiting" if pending else "ok", rows)

    def counts(self) -> Counts:
        return self.catalog.counts()

    # ---- questions already asked

    def history(self, limit: int = 100) -> list[TraceSummary]:
        """Return the questions asked, newest first."""
        return self.catalog.questions.recent(limit)

    def trace(self, trace_id: str) -> Trace:
        return self.catalog.questions.get(trace_id)

    def close(self) -> None:
        """Stop the workers and close the stores; running jobs go on at the next start."""
        if not self._closed.acquire(blocking=False):
            return
        if self._starting is not None:
            self._starting.join(timeout=60)
        self._schedule.close()
        self._purge.close()
        self._worker.close()
        self._comparisons.close()
        self._projector.close()
        self._retriever.close()
        self._parser.close()
        self._vectors.close()
        self._keywords.close()
        self.catalog.close()
        self._folder.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
