"""The first stages of a document's way: its bytes are parsed into blocks, and the blocks are cut into chunks."""

from __future__ import annotations

import gzip
import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from core.blobs.pinned import PinnedBlobs
from core.catalog.documents.cutting import CutVersion
from core.catalog.documents.indexing import StoredVersion
from core.catalog.jobs.stage_run import JobEndings, StageResult, StageRun, run_stage, still_running, write_all
from core.errors import Cancelled, EmptyDocument, NotFound, UnreadableDocument
from core.ingest.chunk import chunk_text_auto
from core.ingest.reader import reader_of
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.recognition.queue import Pictures, RecognitionQueue, waits_for_pictures
from core.ingest.sandbox import read_blocks
from core.ingest.slow_lane import Aside, SlowLane, has_stepped_aside
from core.model import Chunk, Stage
from core.platform.failpoints import failpoint
from core.platform.precedence import give_way
from core.platform.retrying import Stopped
from core.ports import Parser
from core.text.languages import language_of

if TYPE_CHECKING:
    from core.catalog import Catalog

_CHUNKS_A_TRANSACTION = 500
_LANGUAGE_SAMPLE_CHARS = 20_000
FEW_PICTURES = 8
"""Pictures within a document that it waits for: some ten seconds."""
_USED = ("cpu_s", "peak_bytes")


@dataclass(frozen=True, slots=True)
class _Parsed(StageResult):
    """The blocks of a version, compressed in the scratch folder, and what its parser said of it."""

    packed: Path = Path()
    sha256: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where documents wait whose parsing takes more than that of others."""

    recognition: Recognition
    slow: SlowLane


class ParseAndChunk:
    """Parses and chunks documents; what is done already is not done again.

    Each is parsed and cut alone, and those of a group are kept in the same transactions.
    """

    def __init__(
        self,
        catalog: Catalog,
        blobs: PinnedBlobs,
        parser: Parser,
        scratch: Path,
        chunk_tokens: int,
        endings: JobEndings,
        queue: RecognitionQueue,
        slow: SlowLane,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs.store
        self._pins = blobs.pins
        self._parser = parser
        self._scratch = scratch
        self._chunk_tokens = chunk_tokens
        self._endings = endings
        self._queue = queue
        self._recognition = queue.recognition
        self._slow = slow

    def parse(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Keep the blocks of versions as blobs, and what their parser said of them; return those that go on.

        Those that take long wait in the slow lane instead. Raises: ``Stopped``.
        """
        versions = self._catalog.indexing.stored([run.version_id for run in runs])
        unparsed: list[StageRun] = []

        def look(run: StageRun) -> StageResult:
            sha256 = versions[run.version_id].parsed_sha256
            if not run.wait_for_store(lambda: self._is_there(sha256)):
                unparsed.append(run)
            return StageResult()

        going = self._each(look, runs)
        for run in unparsed:
            run.begin(Stage.PARSING, 1)
        entered = write_all(self._catalog.jobs, unparsed, self._endings.cancelled) if unparsed else []
        aside: list[StageRun] = []
        try:
            done = self._each(lambda run: self._parsed(run, versions[run.version_id]), entered, aside)
            done = self._keep_parsed(done)
        finally:
            for run in entered:
                if run in aside:
                    # Another thread is at work on it by now.
                    continue
                if (parsed := run.result(_Parsed)) is not None:
                    parsed.packed.unlink(missing_ok=True)
                if not run.is_stopped and not waits_for_pictures(run):
                    # Read, failed or purged: nobody asks for these lines again.
                    self._recognition.forget(versions[run.version_id].sha256)
        return [run for run in going if run in done or run not in unparsed]

    def _each(
        self,
        stage: Callable[[StageRun], StageResult],
        runs: Sequence[StageRun],
        aside: list[StageRun] | None = None,
    ) -> list[StageRun]:
        """Run a part of a stage for each document; return those that go on. Raises: ``Stopped``.

        Those that step aside in this stage are added to ``aside``.
        """
        going = []
        for run in runs:
            give_way()
            was_aside = has_stepped_aside(run)
            if run.is_stopped or not run_stage(stage, run, self._endings):
                continue
            if aside is not None and not was_aside and has_stepped_aside(run):
                aside.append(run)
                self._slow.put(run)
            else:
                going.append(run)
        if any(run.is_stopped for run in runs):
            raise Stopped
        return going

    def _parsed(self, run: StageRun, version: StoredVersion) -> StageResult:
        begun = run.result(Aside)
        if begun is None or begun.parsing is None or not begun.parsing.is_open:
            begun = Aside(target=self._scratch / secrets.token_hex(16))
        target, parsing = begun.target, None
        compressed = target.with_suffix(".gz")
        try:
            failpoint("ingest.parsing.begun")
            details = self._details(version, begun, run)
            if (parsing := details.get("aside")) is not None:
                return Aside(parsing=parsing, target=target)
            failpoint("ingest.parsing.answered")
            if wanted := details.get("pictures"):
                return Pictures(None, {}, tuple(wanted), version.sha256)
            before = run.result(Pictures)
            embedded = details.pop("embedded", ())
            if before is not None and before.embedded:
                # They were asked for: what LibreOffice makes anew each time it converts a file stays unread.
                embedded = ()
            if embedded and self._waits(run, version, len(embedded)):
                return Pictures(None, {}, tuple(embedded), version.sha256, embedded=True)
            if embedded:
                details["pictures_left"] = len(embedded)
            used = {name: details.pop(name) for name in _USED if name in details}
            title = str(version.shown_title or details.pop("title", "") or PurePath(version.file_name).stem)
            details["source_path"] = version.file_name
            values = {
                "title": " ".join(title.split())[:500],
                "language": language_of(_sample(target)),
                "metadata": details,
                "reader": reader_of(self._chunk_tokens, with_pictures=not embedded),
            }
            return _Parsed(version.size_bytes, used, compressed, packed(target, compressed), values)
        except BaseException:
            compressed.unlink(missing_ok=True)
            raise
        finally:
            if parsing is None or not parsing.is_open:
                target.unlink(missing_ok=True)

    def _waits(self, run: StageRun, version: StoredVersion, count: int) -> bool:
        """Tell whether the pictures within a document are recognised before it is read, or come in another reading.

        A few are where no other document comes with it or waits for the recognition, all where this is that reading,
        or the recognition has begun.
        """
        has_begun = self._recognition.lines_file(version.sha256) is not None and run.result(Pictures) is None
        is_alone = run.together == 1 and self._queue.is_idle
        return version.number < 0 or has_begun or (is_alone and count <= FEW_PICTURES)

    def _details(self, version: StoredVersion, begun: Aside, run: StageRun) -> dict[str, Any]:
        look = self._slow.look(run)
        try:
            if begun.parsing is not None:
                return dict(begun.parsing.result(run.advance, look))
            source = run.wait_for_store(lambda: self._blobs.path(version.sha256))
            recognised = (self._recognition.lines_file(version.sha256) or "") if self._recognition.is_on else None
            pictures = self._recognition.folder_of(version.sha256)
            parse = partial(self._parser.parse, source, version.extension, begun.target, run.advance)
            return dict(parse(recognised, pictures, look))
        except UnreadableDocument:
            if run.is_stopped:
                # The parser was ended together with the process; it says nothing of the document.
                raise Stopped from None
            raise

    def close(self) -> None:
        """End the parser, with whatever it is at work on."""
        self._parser.close()

    def _is_there(self, parsed_sha256: str | None) -> bool:
        if parsed_sha256 is None:
            return False
        try:
            return self._blobs.path(parsed_sha256).is_file()
        except NotFound:
            return False

    def _keep_parsed(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Name the blobs before they are there, so that a purge always knows of them."""
        parsed = {run: found for run in runs if (found := run.result(_Parsed)) is not None}
        values = {run.version_id: {"parsed_sha256": found.sha256, **found.values} for run, found in parsed.items()}
        refused: dict[StageRun, Exception] = {}
        with ExitStack() as pins:
            for found in parsed.values():
                pins.enter_context(self._pins.held(found.sha256))
            there = self._catalog.indexing.name_parsed(values) if values else set()
            failpoint("ingest.parsed.named")
            for run, found in parsed.items():
                try:
                    self._put(run, found, is_there=run.version_id in there)
                except Exception as error:
                    refused[run] = error

        def settle(run: StageRun) -> StageResult:
            # What is held cannot be removed: a document that ends here leaves only now.
            if (error := refused.get(run)) is not None:
                raise error
            return StageResult()

        return still_running(self._catalog.jobs, self._each(settle, runs), self._endings.cancelled)

    def _put(self, run: StageRun, found: _Parsed, *, is_there: bool) -> None:
        if not is_there:
            raise Cancelled("The document was purged.")
        run.wait_for_store(lambda: self._blobs.put(found.packed, found.sha256))
        if pages := found.values["metadata"].get("in_part"):
            run.note("in_part", pages=pages)
        failpoint("ingest.parsed.kept")

    def chunk(self, runs: Sequence[StageRun]) -> list[StageRun]:
        """Keep the chunks of versions; return those that go on. Raises: ``Stopped``."""
        versions = self._catalog.indexing.stored([run.version_id for run in runs])
        uncut = [run for run in runs if not versions[run.version_id].chunk_count]
        for run in uncut:
            run.begin(Stage.CHUNKING)
        entered = write_all(self._catalog.jobs, uncut, self._endings.cancelled) if uncut else []
        short: dict[StageRun, CutVersion] = {}

        def cut(run: StageRun) -> StageResult:
            version = versions[run.version_id]
            batches = self._batches(run, version)
            first = next(batches, [])
            if len(entered) > 1 and 0 < len(first) < _CHUNKS_A_TRANSACTION:
                short[run] = CutVersion(run.version_id, run.doc_id, version.shown_title, first, run.attempt)
                return StageResult()
            return self._keep_long(run, version, chain([first] if first else [], batches))

        done = self._each(cut, entered)
        kept = self._catalog.chunks.cut(list(short.values())) if short else set()
        failpoint("ingest.chunking.finished")

        def keep(run: StageRun) -> StageResult:
            if run in short and run.version_id not in kept:
                return self._keep_long(run, versions[run.version_id], iter([list(short[run].chunks)]))
            return _cut(short[run].chunks) if run in short else StageResult()

        done = self._each(keep, done)
        return [run for run in runs if run in done or run not in uncut]

    def _batches(self, run: StageRun, version: StoredVersion) -> Iterator[list[Chunk]]:
        blocks = read_blocks(run.wait_for_store(lambda: self._blobs.path(str(version.parsed_sha256))))
        return _batches(chunk_text_auto(blocks, target_chunk_tokens=self._chunk_tokens), _CHUNKS_A_TRANSACTION)

    def _keep_long(self, run: StageRun, version: StoredVersion, batches: Iterator[list[Chunk]]) -> StageResult:
        """Keep the chunks of one version, some in each transaction."""
        self._catalog.chunks.begin(run.version_id, run.attempt)
        failpoint("ingest.chunking.begun")
        done = tokens = 0
        for batch in batches:
            if run.is_stopped:
                raise Stopped
            self._catalog.chunks.add(run.version_id, run.doc_id, version.shown_title, batch, run.attempt)
            failpoint("ingest.chunks.added")
            done += len(batch)
            tokens += sum(chunk.token_count for chunk in batch)
            run.advance(done, 0)
        if not self._catalog.chunks.finish(run.version_id, run.doc_id, run.attempt):
            raise EmptyDocument(f"No text was found in “{version.file_name}”.")
        return StageResult(done, {"tokens": tokens})


def _cut(chunks: Sequence[Chunk]) -> StageResult:
    return StageResult(len(chunks), {"tokens": sum(chunk.token_count for chunk in chunks)})


def packed(plain: Path, target: Path) -> str:
    """Compress a file and return the SHA-256 of the result."""
    with (
        plain.open("rb") as source,
        target.open("wb") as raw,
        # No time stamp: the same blocks must give the same blob.
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=3, mtime=0, filename="") as zipped,
    ):
        shutil.copyfileobj(source, zipped, 1024 * 1024)
    with target.open("rb") as source:
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
