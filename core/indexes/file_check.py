"""Files held against the catalogue: originals that are gone or damaged, and files that nothing names."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.blobs.orphans import UnclaimedBlobs
from core.blobs.scrub import BlobVerifier
from core.blobs.watched import Mender
from core.catalog.documents.leftovers import FileKind
from core.errors import EvoRAGError, StoreUnavailable
from core.model import DamagedFile, FileFault, FilesCheck, MissingFile, UnnamedFile
from core.ports import Progress

if TYPE_CHECKING:
    from core.catalog import Catalog

log = logging.getLogger(__name__)

_SHOWN = 200


class RecordingFiles(Protocol):
    """The files of recordings."""

    def unnamed_files(self) -> Iterable[Path]:
        """Return the files that no recording in the catalogue names."""

    def file_of(self, recording_id: str) -> Path: ...


class FileChecker:
    """Compares originals, uploads and recordings with the catalogue; only ``mend`` changes anything."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: Mender,
        unclaimed: UnclaimedBlobs,
        transfers: Path,
        recordings: RecordingFiles,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._unclaimed = unclaimed
        self._transfers = transfers
        self._recordings = recordings
        self._verifier = BlobVerifier(catalog, blobs)

    def check(self, progress: Progress | None = None) -> FilesCheck:
        """Return how the files stand; a store of the originals that does not answer is told by ``error``.

        With ``progress`` every blob is read to its end.
        """
        started = time.monotonic()
        # What is claimed while the files are listed is not among these.
        originals = self._catalog.consistency.originals()
        try:
            stored = set(self._blobs.names())
            verified = 0 if progress is None else self._verify(stored, progress)
            gone = {each for each in originals.keys() - stored if self._blobs.size(each) is None}
            unnamed = list(self._unnamed())
            shown = [replace(each, size_bytes=self._size(each)) for each in unnamed[:_SHOWN]]
        except StoreUnavailable as error:
            return FilesCheck(len(originals), error=error.message, seconds=round(time.monotonic() - started, 3))
        # A version may have been purged since.
        missing = sorted(gone & self._catalog.consistency.originals().keys()) if gone else []
        damaged = sorted(self._damaged(stored, set(missing)), key=lambda each: each.name)
        found = FilesCheck(
            len(originals),
            len(stored),
            len(missing),
            len(unnamed),
            tuple(MissingFile(originals[each], each) for each in missing[:_SHOWN]),
            tuple(shown),
            round(time.monotonic() - started, 3),
            verified=verified,
            damaged=len(damaged),
            damaged_files=tuple(damaged[:_SHOWN]),
        )
        return self.named(found)

    def mend(self) -> int:
        """Make parsed texts anew that are damaged or gone; return how many."""
        mended = 0
        for name in (each.name for each in self.check().damaged_files if each.kind == "parsed"):
            try:
                mended += self._blobs.mend(name)
            except EvoRAGError as error:
                log.warning("a damaged text could not be made anew: %s", error.message)
        return mended

    def named(self, found: FilesCheck) -> FilesCheck:
        """Name the documents as they are called now; a version that is gone is left out."""
        wrong = [each.version_id for each in found.missing_files] + [each.version_id for each in found.damaged_files]
        names = self._catalog.consistency.names(wrong)
        return replace(
            found,
            missing_files=tuple(
                replace(each, doc_key=names[each.version_id][0], version=names[each.version_id][1])
                for each in found.missing_files
                if each.version_id in names
            ),
            damaged_files=tuple(
                replace(each, doc_key=names[each.version_id][0], version=names[each.version_id][1])
                for each in found.damaged_files
                if each.version_id in names
            ),
        )

    def _verify(self, stored: set[str], progress: Progress) -> int:
        """Read every blob to its end, and note which should be there; return how many were read.

        Raises: what ``progress`` raises.
        """
        names = sorted(stored | self._verifier.needed())
        done = read = 0

        def tell(_seconds: float) -> None:
            progress(done, len(names))

        for name in names:
            # A long file is heard of as it is read, so that the job can be cancelled.
            read += self._verifier.verify(name, tell) is not FileFault.MISSING
            done += 1
        self._verifier.settle()
        return read

    def _damaged(self, stored: set[str], missing: set[str]) -> Iterator[DamagedFile]:
        """Yield the damaged originals and parsed texts that are known of, and parsed texts that are gone."""
        originals, texts = self._catalog.consistency.originals(), self._catalog.consistency.texts()
        faults = dict(self._catalog.damages.noted())
        faults |= dict.fromkeys(texts.keys() - stored, FileFault.MISSING)
        for name, fault in faults.items():
            version_id = originals.get(name, texts.get(name))
            if version_id is None or name in missing:
                continue
            if fault is not FileFault.MISSING or self._blobs.size(name) is None:
                kind = "original" if name in originals else "parsed"
                yield DamagedFile(name, kind, fault, version_id, size_bytes=self._blobs.size(name))

    def unnamed(self) -> list[UnnamedFile]:
        """Return the files that nothing names, with their sizes. Raises: ``StoreUnavailable``."""
        return [replace(each, size_bytes=self._size(each)) for each in self._unnamed()]

    def remove(self, file: UnnamedFile) -> bool:
        """Remove an upload or a recording that nothing names; tell whether it was there."""
        path = self._path(file)
        is_there = path.exists()
        path.unlink(missing_ok=True)
        return is_there

    def _unnamed(self) -> Iterator[UnnamedFile]:
        yield from (UnnamedFile(FileKind.BLOB, name) for name in self._unclaimed.unnamed())
        # The files are listed first: what begins meanwhile is not among them.
        present = sorted(path.name for path in self._transfers.iterdir())
        known = self._catalog.transfers.files() | self._catalog.transfers.left_over()
        yield from (UnnamedFile(FileKind.TRANSFER, name) for name in present if name not in known)
        yield from (UnnamedFile(FileKind.RECORDING, path.stem) for path in self._recordings.unnamed_files())

    def _size(self, file: UnnamedFile) -> int | None:
        if file.kind == FileKind.BLOB:
            return self._blobs.size(file.name)
        path = self._path(file)
        return path.stat().st_size if path.exists() else None

    def _path(self, file: UnnamedFile) -> Path:
        """Return where an upload or a recording lies that was listed."""
        return self._transfers / file.name if file.kind == FileKind.TRANSFER else self._recordings.file_of(file.name)
