"""Zip archives: the directory is checked before it is believed, and every byte that comes out is counted."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from core.errors import ArchiveLimit, Encrypted, ParserFailed
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.names import zip_names
from core.ingest.parsers.archive import TOTAL_FREE_BYTES, SafeArchive, check_place


class ZipReader:
    """Reads the files of a zip archive in any order; opening it refuses what its directory shows to be hostile.

    Raises: ``ArchiveLimit``, ``Encrypted``, ``ParserFailed``, as do its methods.
    """

    def __init__(self, path: Path, limits: ArchiveLimits) -> None:
        self._path, self._limits = path, limits
        self._archive = self._open()
        names = zip_names(self._archive.entries())
        self._files: list[ZipInfo] = []
        self.found: list[tuple[str, int]] = []
        for entry, name in zip(self._archive.entries(), names, strict=True):
            check_place(name)
            if not name.endswith(("/", "\\")):
                self._files.append(entry)
                self.found.append((name, entry.file_size))
        self._check_promises()

    def _open(self) -> SafeArchive:
        return SafeArchive(
            self._path, self._limits.bytes, max_entries=self._limits.members, max_ratio=self._limits.ratio
        )

    def _check_promises(self) -> None:
        """Refuse what the directory itself says to be too much, or unreadable."""
        most = min(self._limits.bytes, max(TOTAL_FREE_BYTES, self._limits.ratio * self._path.stat().st_size))
        if sum(size for _, size in self.found) > most:
            raise ArchiveLimit("The archive unpacks to far more than one of its size should.")
        if any(entry.flag_bits & 1 for entry in self._files):
            raise Encrypted("The archive is protected by a password.")
        if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in self._files):
            raise ParserFailed(
                "The archive is packed by a method that is not read.",
                remedy="Pack it again by the ordinary method (Deflate), or as .tar.gz.",
            )

    def survey(self) -> Iterator[int]:
        """Unpack everything to nowhere, yielding how many bytes have come out; then what was promised is true."""
        read = 0
        for number in range(len(self._files)):
            for data in self.contents(number):
                read += len(data)
                yield read
        self._archive.close()
        self._archive = self._open()

    def contents(self, number: int) -> Iterator[bytes]:
        """Yield the bytes of a file, which are as many as the directory says, with its checksum."""
        entry = self._files[number]
        read = checksum = 0
        for data in self._archive.bytes_of(entry):
            read += len(data)
            if read > entry.file_size:
                raise ArchiveLimit("A file of the archive unpacks to more than its directory says.")
            checksum = zlib.crc32(data, checksum)
            yield data
        if read != entry.file_size or checksum != entry.CRC:
            raise ParserFailed("The archive is damaged.", remedy="Make the archive anew and upload it again.")

    def close(self) -> None:
        self._archive.close()
