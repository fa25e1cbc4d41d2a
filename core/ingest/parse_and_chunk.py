"""The first stages of a document's way: its bytes are parsed into blocks, and the blocks are cut into chunks."""

from __future__ import annotations

import gzip
import hashlib
import secrets
import shutil
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from core.blobs.pins import BlobPins
from core.catalog.jobs.stage_run import StageResult, StageRun
from core.errors import Cancelled, EmptyDocument, NotFound, UnreadableDocument
from core.ingest.chunk import chunk_text_auto
from core.ingest.sandbox import read_blocks
from core.model import Chunk, Stage, Version
from core.platform.failpoints import failpoint
from core.platform.retrying import Stopped
from core.ports import BlobStore, Parser
from core.text.language import detect_language

if TYPE_CHECKING:
    from core.catalog import Catalog

_CHUNKS_A_TRANSACTION = 500
_LANGUAGE_SAMPLE_CHARS = 20_000
_USED = ("cpu_s", "peak_bytes")


class ParseAndChunk:
    """Parses and chunks one document after the other; what is done already is not done again."""

    def __init__(
        self, catalog: Catalog, blobs: BlobStore, pins: BlobPins, parser: Parser, scratch: Path, chunk_tokens: int
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._pins = pins
        self._parser = parser
        self._scratch = scratch
        self._chunk_tokens = chunk_tokens

    def parse(self, run: StageRun) -> StageResult:
        """Keep the version's blocks as a blob, and what its parser said of it."""
        if run.wait_for_store(lambda: self._is_parsed(run.version_id)):
            return StageResult()
        run.enter(Stage.PARSING, total=1)
        version = self._catalog.documents.version(run.version_id)
        target = self._scratch / secrets.token_hex(16)
        packed = target.with_suffix(".gz")
        try:
            failpoint("ingest.parsing.begun")
            source = run.wait_for_store(lambda: self._blobs.path(version.sha256))
            details = self._details(version, source, target, run)
            failpoint("ingest.parsing.answered")
            used = {name: details.pop(name) for name in _USED if name in details}
            title = str(version.metadata.get("title") or details.pop("title", "") or PurePath(version.file_name).stem)
            details["source_path"] = version.file_name
            values = {
                "title": " ".join(title.split())[:500],
                "language": detect_language(_sample(target)),
                "metadata": details,
            }
            self._keep_parsed(run, _packed(target, packed), packed, values)
        finally:
            target.unlink(missing_ok=True)
            packed.unlink(missing_ok=True)
        return StageResult(version.size_bytes, used)

    def _details(self, version: Version, source: Path, target: Path, run: StageRun) -> dict[str, Any]:
        try:
            return dict(self._parser.parse(source, version.extension, target))
        except UnreadableDocument:
            if run.is_stopped:
                # The parser was ended together with the process; it says nothing of the document.
                raise Stopped from None
            raise

    def close(self) -> None:
        """End the parser, with whatever it is at work on."""
        self._parser.close()

    def _is_parsed(self, version_id: int) -> bool:
        parsed = self._catalog.documents.parsed_sha256(version_id)
        if parsed is None:
            return False
        try:
            return self._blobs.path(parsed).is_file()
        except NotFound:
            return False

    def _keep_parsed(self, run: StageRun, sha256: str, packed: Path, values: Mapping[str, Any]) -> None:
        """Name the blob before it is there, so that a purge always knows of it."""
        with self._pins.held(sha256):
            if not self._catalog.documents.update_version(run.version_id, parsed_sha256=sha256, **values):
                raise Cancelled("The document was purged.")
            failpoint("ingest.parsed.named")
            run.wait_for_store(lambda: self._blobs.put(packed, sha256))
            failpoint("ingest.parsed.kept")
            run.check()

    def chunk(self, run: StageRun) -> StageResult:
        """Keep the version's chunks."""
        version = self._catalog.documents.version(run.version_id)
        if version.chunk_count:
            return StageResult()
        run.enter(Stage.CHUNKING)
        parsed = self._catalog.documents.parsed_sha256(run.version_id)
        blocks = read_blocks(run.wait_for_store(lambda: self._blobs.path(str(parsed))))
        self._catalog.chunks.begin(run.version_id, run.attempt)
        failpoint("ingest.chunking.begun")
        title = str(version.metadata["title"])
        done = 0
        for batch in _batches(chunk_text_auto(blocks, target_chunk_tokens=self._chunk_tokens), _CHUNKS_A_TRANSACTION):
            if run.is_stopped:
                raise Stopped
            self._catalog.chunks.add(run.version_id, run.doc_id, title, batch, run.attempt)
            failpoint("ingest.chunks.added")
            done += len(batch)
            run.advance(done, 0)
        if not self._catalog.chunks.finish(run.version_id, run.doc_id, run.attempt):
            raise EmptyDocument(f"No text was found in “{version.file_name}”.")
        failpoint("ingest.chunking.finished")
        return StageResult(done)


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
