"""Files held against the catalogue: originals that are gone, and files that nothing names."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.blobs.orphans import UnclaimedBlobs
from core.catalog.documents.leftovers import FileKind
from core.errors import StoreUnavailable
from core.model import FilesCheck, MissingFile, UnnamedFile
from core.ports import BlobStore

if TYPE_CHECKING:
    from core.catalog import Catalog

_SHOWN = 200


class RecordingFiles(Protocol):
    """The files of recordings."""

    def unnamed_files(self) -> Iterable[Path]:
        """Return the files that no recording in the catalogue names."""

    def file_of(self, recording_id: str) -> Path: ...


class FileChecker:
    """Compares originals, uploads and recordings with the catalogue; changes nothing."""

    def __init__(
        self, catalog: Catalog, blobs: BlobStore, unclaimed: UnclaimedBlobs, transfers: Path, recordings: RecordingFiles
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._unclaimed = unclaimed
        self._transfers = transfers
        self._recordings = recordings

    def check(self) -> FilesCheck:
        """Return how the files stand; a store of the originals that does not answer is told by ``error``."""
        started = time.monotonic()
        # What is claimed while the files are listed is not among these.
        originals = self._catalog.consistency.originals()
        try:
            stored = set(self._blobs.names())
            gone = {each for each in originals.keys() - stored if self._blobs.size(each) is None}
            unnamed = list(self._unnamed())
            shown = [replace(each, size_bytes=self._size(each)) for each in unnamed[:_SHOWN]]
        except StoreUnavailable as error:
            return FilesCheck(len(originals), error=error.message, seconds=round(time.monotonic() - started, 3))
        # A version may have been purged since.
        missing = sorted(gone & self._catalog.consistency.originals().keys()) if gone else []
        found = FilesCheck(
            len(originals),
            len(stored),
            len(missing),
            len(unnamed),
            tuple(MissingFile(originals[each], each) for each in missing[:_SHOWN]),
            tuple(shown),
            round(time.monotonic() - started, 3),
        )
        return self.named(found)

    def named(self, found: FilesCheck) -> FilesCheck:
        """Name the documents as they are called now; a version that is gone is left out."""
        names = self._catalog.consistency.names([each.version_id for each in found.missing_files])
        return replace(
            found,
            missing_files=tuple(
                replace(each, doc_key=names[each.version_id][0], version=names[each.version_id][1])
                for each in found.missing_files
                if each.version_id in names
            ),
        )

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
        path = self._transfers / file.name if file.kind == FileKind.TRANSFER else self._recordings.file_of(file.name)
        return path.stat().st_size if path.exists() else None
