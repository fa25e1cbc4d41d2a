"""The way of a document: parse, chunk, embed, index, publish; each stage can be repeated and is skipped once done.

Several small documents walk together, so that they share embedding batches and commits; a document that fails drops
out alone, with its error on its job.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from core.catalog.jobs import Attempt
from core.catalog.publications import Decision, Finishing
from core.errors import Cancelled, EmptyDocument, EvoRAGError, NotFound, ParserFailed, StoreUnavailable
from core.ingest.chunk import chunk_text_auto
from core.ingest.holds import Holds
from core.ingest.progress import JobProgress
from core.ingest.sandbox import read_blocks
from core.model import Chunk, Job, JobState, Stage
from core.ports import BlobStore, Embedder, Parser
from core.projection import Projector
from core.text.language import detect_language

if TYPE_CHECKING:
    from core.catalog import Catalog, Showing

log = logging.getLogger(__name__)

_CHUNKS_A_TRANSACTION = 500
_EMBEDDED_TOGETHER = 16
_LANGUAGE_SAMPLE_CHARS = 20_000
_STORE_WAIT_S = 2.0


class IngestPipeline:
    """Takes jobs from their last finished stage to publication."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        holds: Holds,
        parser: Parser,
        embedder: Embedder,
        projector: Projector,
        scratch: Path,
        chunk_tokens: int,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._holds = holds
        self._parser = parser
        self._embedder = embedder
        self._projector = projector
        self._scratch = scratch
        self._chunk_tokens = chunk_tokens

    def run(self, jobs: Sequence[Job], stop: threading.Event) -> None:
        """Work on the jobs until each has ended, or until ``stop`` is set: then they stay for the next start."""
        walkers = [JobProgress(self._catalog, job) for job in jobs]
        for stage in (self._parse, self._chunk):
            walkers = [walker for walker in walkers if not stop.is_set() and self._guarded(stage, walker)]
        walkers = self._embed(walkers, stop)
        self._index_and_publish(walkers, stop)

    # ---- one document at a time

    def _guarded(self, stage: Callable[[JobProgress], None], walker: JobProgress) -> bool:
        """Run a stage for one document; tell whether it goes on."""
        try:
            stage(walker)
        except Cancelled:
            self.discard(walker.version_id)
            return False
        except EvoRAGError as error:
            self._fail(walker, error)
            return False
        except Exception as error:
            incident = secrets.token_hex(4)
            log.exception("incident %s in job %s", incident, walker.job.id)
            self._fail(
                walker,
                ParserFailed(
                    f"An unexpected {type(error).__name__} stopped this document (incident {incident}).",
                    remedy="Start the job again; if it fails again, send the log of this incident to the developers.",
                ),
            )
            return False
        return True

    def _fail(self, walker: JobProgress, error: EvoRAGError) -> None:
        self._catalog.jobs.end(
            walker.job.id,
            JobState.FAILED,
            error=error.as_dict(),
            version_state="failed",
            attempt=walker.job.attempts,
        )
        self.discard(walker.version_id)

    def discard(self, version_id: int) -> None:
        """Take a failed or cancelled version out of both indexes, except for what other versions share with it."""
        self._catalog.chunks.forget(version_id)
        self._projector.flush_soon()

    def _parse(self, walker: JobProgress) -> None:
        walker.enter(Stage.PARSING, total=1)
        version = self._catalog.documents.version(walker.version_id)
        if not self._is_parsed(walker.version_id):
            target = self._scratch / secrets.token_hex(16)
            packed = target.with_suffix(".gz")
            try:
                details = dict(self._parser.parse(self._blobs.path(version.sha256), version.extension, target))
                title = str(
                    version.metadata.get("title") or details.pop("title", "") or PurePath(version.file_name).stem
                )
                details["source_path"] = version.file_name
                values = {
                    "title": " ".join(title.split())[:500],
                    "language": detect_language(_sample(target)),
                    "metadata": details,
                }
                self._keep_parsed(walker, _packed(target, packed), packed, values)
            finally:
                target.unlink(missing_ok=True)
                packed.unlink(missing_ok=True)
        walker.advance(1, 1)

    def _is_parsed(self, version_id: int) -> bool:
        parsed = self._catalog.documents.parsed_sha256(version_id)
        if parsed is None:
            return False
        try:
            return self._blobs.path(parsed).is_file()
        except NotFound:
            return False

    def _keep_parsed(self, walker: JobProgress, sha256: str, packed: Path, values: Mapping[str, Any]) -> None:
        """Name the blob before it is there, so that a purge always knows of it."""
        with self._holds.held(sha256):
            if not self._catalog.documents.update_version(walker.version_id, parsed_sha256=sha256, **values):
                raise Cancelled("The document was purged.")
            self._blobs.put(packed, sha256)

    def _chunk(self, walker: JobProgress) -> None:
        walker.enter(Stage.CHUNKING)
        version = self._catalog.documents.version(walker.version_id)
        if version.chunk_count:
            return
        parsed = self._catalog.documents.parsed_sha256(walker.version_id)
        blocks = read_blocks(self._blobs.path(str(parsed)))
        attempt = Attempt(walker.job.id, walker.job.attempts)
        self._catalog.chunks.begin(walker.version_id, attempt)
        title = str(version.metadata["title"])
        done = 0
        for batch in _batches(chunk_text_auto(blocks, target_chunk_tokens=self._chunk_tokens), _CHUNKS_A_TRANSACTION):
            self._catalog.chunks.add(walker.version_id, walker.doc_id, title, batch, attempt)
            done += len(batch)
            walker.advance(done, 0)
        if not self._catalog.chunks.finish(walker.version_id, walker.doc_id, attempt):
            raise EmptyDocument(f"No text was found in “{version.file_name}”.")

    # ---- all documents together

    def _embed(self, walkers: list[JobProgress], stop: threading.Event) -> list[JobProgress]:
        missing = {
            walker.job.id: self._catalog.chunks.without_embedding(walker.version_id, self._embedder.id)
            for walker in walkers
        }
        walkers = [
            walker
            for walker in walkers
            if self._guarded(lambda w: w.enter(Stage.EMBEDDING, len(missing[w.job.id])), walker)
        ]
        lengths = {digest: length for walker in walkers for digest, length in missing[walker.job.id].items()}
        # Texts of like length make batches without padding.
        order = sorted(lengths, key=lengths.__getitem__)
        embedded: set[bytes] = set()
        for at in range(0, len(order), _EMBEDDED_TOGETHER):
            if stop.is_set() or not walkers:
                return []
            few = order[at : at + _EMBEDDED_TOGETHER]
            texts = self._catalog.chunks.texts_of(few)
            few = [digest for digest in few if digest in texts]
            try:
                vectors = self._embedder.embed_passages([texts[digest] for digest in few])
            except EvoRAGError as error:
                for walker in walkers:
                    self._fail(walker, error)
                return []
            self._catalog.chunks.add_embeddings(self._embedder.id, few, vectors)
            embedded.update(few)
            walkers = [w for w in walkers if self._guarded(lambda w: _count(w, missing[w.job.id], embedded), w)]
        return walkers

    def _index_and_publish(self, walkers: list[JobProgress], stop: threading.Event) -> None:
        walkers = [w for w in walkers if self._guarded(lambda w: w.enter(Stage.INDEXING), w)]
        while walkers and not stop.is_set():
            showing = {w.job.id: self._placed(w) for w in walkers}
            if not self._flush(stop):
                return
            again: list[JobProgress] = []
            for walker in walkers:
                self._guarded(partial(self._finish, showing=showing[walker.job.id], again=again), walker)
            walkers = again
        self._projector.flush_soon()

    def _placed(self, walker: JobProgress) -> Showing | None:
        """Ask for the version's chunks where they belong: in head, or for a draft (None) in history."""
        if self._catalog.documents.version(walker.version_id).is_draft:
            self._catalog.publications.shelve(walker.doc_id, walker.version_id)
            return None
        return self._catalog.publications.prepare(walker.doc_id, walker.version_id)

    def _finish(self, walker: JobProgress, showing: Showing | None, again: list[JobProgress]) -> None:
        """Publish one version, or keep it as a draft, and end its job; or note that the world has changed meanwhile."""
        walker.check()
        doc_id, version_id = walker.doc_id, walker.version_id
        finishing = Finishing(walker.job.id, walker.job.attempts, version_id, walker.stage_seconds())
        if showing is None:
            done = self._catalog.publications.finish_draft(finishing)
        elif self._catalog.publications.finish_settled(finishing):
            done = True
        else:
            actor = self._catalog.documents.version(version_id).actor
            decision = Decision(doc_id, version_id, "publish", actor)
            done = self._catalog.publications.commit(decision, expected=showing, finishing=finishing) is not None
        if not done:
            again.append(walker)

    def _flush(self, stop: threading.Event) -> bool:
        """Bring the indexes up to date, waiting for a store that is down; tell whether it was done before ``stop``."""
        while not stop.is_set():
            try:
                self._projector.flush()
            except StoreUnavailable as error:
                log.warning("indexing waits for a store: %s", error.code)
                stop.wait(_STORE_WAIT_S)
            else:
                return True
        return False


def _count(walker: JobProgress, missing: dict[bytes, int], embedded: set[bytes]) -> None:
    walker.advance(len(missing.keys() & embedded), len(missing))


def _packed(plain: Path, packed: Path) -> str:
    """Compress a file and return the SHA-256 of the result."""
    with (
        plain.open("rb") as source,
        packed.open("wb") as raw,
        # No time stamp: the same blocks must give the same blob.
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=3, mtime=0, filename="") as target,
    ):
        shutil.copyfileobj(source, target, 1024 * 1024)
    with packed.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _batches(chunks: Iterator[Chunk], size: int) -> Iterator[list[Chunk]]:
    while batch := list(islice(chunks, size)):
        yield batch


def _sample(parsed: Path) -> str:
    pieces, length = [], 0
    for block in read_blocks(parsed):
        pieces.append(block.text)
        length += len(block.text)
        if length > _LANGUAGE_SAMPLE_CHARS:
            break
    return "\n".join(pieces)[:_LANGUAGE_SAMPLE_CHARS]
