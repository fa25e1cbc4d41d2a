"""Reading zip archives that strangers made.

The directory is checked before it is believed, bytes are counted as they come out, and nothing is unpacked to disk.
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import ArchiveLimit, Encrypted, ParserFailed

MAX_ENTRIES = 50_000
MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
FREE_BYTES = 2 * 1024 * 1024
"""What an entry may yield whatever its ratio."""
TOTAL_FREE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 200
READ_BYTES = 256 * 1024

_TOO_MUCH = "The file unpacks to far more than a document of its size should."
_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCAL = struct.Struct("<4s5H3L2H")
_UNIX = 3
_DRIVE = re.compile(r"[A-Za-z]:")


def check_place(name: str) -> None:
    """Refuse the name of an entry that is no place below the archive's own folder. Raises: ``ArchiveLimit``."""
    name = name.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or _DRIVE.match(name):
        raise ArchiveLimit("An entry of the archive points outside of it.")


def check_directory(path: Path, most: int = MAX_ENTRIES) -> None:
    """Refuse an archive whose directory is too large to be read at all. Raises: ``ArchiveLimit``, ``ParserFailed``."""
    size = path.stat().st_size
    with path.open("rb") as file:
        tail_start = max(0, size - 65_557 - _END64_LOCATOR.size)
        file.seek(tail_start)
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < _END.size:
            raise ParserFailed("The file ends before its archive directory.")
        _, _, _, _, entries, directory_bytes, _, _ = _END.unpack_from(tail, at)
        if at >= _END64_LOCATOR.size and tail[at - 20 : at - 16] == b"PK\x06\x07":
            _, _, offset, _ = _END64_LOCATOR.unpack_from(tail, at - _END64_LOCATOR.size)
            file.seek(min(offset, size))
            record = file.read(_END64.size)
            if len(record) < _END64.size or record[:4] != b"PK\x06\x06":
                raise ParserFailed("The archive directory is damaged.")
            entries, directory_bytes = _END64.unpack(record)[7:9]
            at -= _END64_LOCATOR.size + _END64.size
        if entries <= most and directory_bytes <= MAX_DIRECTORY_BYTES:
            # The end record may lie: what is read is the directory itself.
            file.seek(max(tail_start + at - directory_bytes, 0))
            entries = max(entries, file.read(directory_bytes).count(b"PK\x01\x02"))
    if entries > most or directory_bytes > MAX_DIRECTORY_BYTES:
        raise ArchiveLimit(f"The archive holds {entries:,} entries; at most {most:,} are read.")


class SafeArchive:
    """A zip archive that can be read entry by entry, within limits on what comes out of it.

    An entry may yield ``FREE_BYTES`` or ``MAX_RATIO`` times the bytes read of it so far, whichever is more; all
    together may yield ``TOTAL_FREE_BYTES`` or as many times the whole file, and never more than ``max_bytes``.
    Raises: ``ArchiveLimit``, ``Encrypted``, ``ParserFailed``.
    """

    def __init__(
        self, path: Path, max_bytes: int, *, max_entries: int = MAX_ENTRIES, max_ratio: int = MAX_RATIO
    ) -> None:
        check_directory(path, max_entries)
        self._ratio = max_ratio
        self._left = min(max_bytes, max(TOTAL_FREE_BYTES, max_ratio * path.stat().st_size))
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise ParserFailed("The archive inside the file is damaged.") from error
        self._file = path.open("rb")
        try:
            self._entries = {entry.filename: entry for entry in self._checked(self._zip.infolist())}
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._zip.close()
        self._file.close()

    def _checked(self, entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
        end = 0
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            check_place(entry.filename)
            kind = stat.S_IFMT(entry.external_attr >> 16) if entry.create_system == _UNIX else 0
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or stat.S_ISLNK(entry.external_attr >> 16):
                raise ArchiveLimit("An entry of the archive is a link or a device.")
            if entry.header_offset < end:
                raise ArchiveLimit("Entries of the archive overlap.")
            end = entry.header_offset + _LOCAL.size + entry.compress_size
        return entries

    def names(self) -> list[str]:
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def entries(self) -> list[zipfile.ZipInfo]:
        """Return all entries in the order of the directory, also those that share a name."""
        return self._zip.infolist()

    def stated_bytes(self, name: str) -> int:
        """Return how large an entry says to be; 0 where there is none."""
        entry = self._entries.get(name)
        return entry.file_size if entry is not None else 0

    def stream(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry as they are inflated."""
        entry = self._entries.get(name)
        if entry is None:
            raise ParserFailed("A part that the document needs is missing.")
        return self.bytes_of(entry)

    def bytes_of(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the bytes of one of ``entries`` as they are inflated."""
        if entry.flag_bits & 1:
            raise Encrypted("The document is protected by a password.")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ParserFailed("The archive is packed in a way that documents never are.")
        self._file.seek(entry.header_offset)
        local = self._file.read(_LOCAL.size)
        if len(local) < _LOCAL.size or local[:4] != b"PK\x03\x04":
            raise ParserFailed("The archive inside the file is damaged.")
        name_bytes, extra_bytes = _LOCAL.unpack(local)[9:11]
        position = entry.header_offset + _LOCAL.size + name_bytes + extra_bytes
        packed = self._packed(position, entry.compress_size)
        for data in packed if entry.compress_type == zipfile.ZIP_STORED else _inflated(packed, self._ratio):
            self._left -= len(data)
            if self._left < 0:
                raise ArchiveLimit(_TOO_MUCH)
            yield data

    def read(self, name: str) -> bytes:
        """Return the whole of a small entry."""
        return b"".join(self.stream(name))

    def _packed(self, position: int, left: int) -> Iterator[bytes]:
        while left > 0:
            self._file.seek(position)
            data = self._file.read(min(READ_BYTES, left))
            if not data:
                raise ParserFailed("The archive inside the file is cut off.")
            position += len(data)
            left -= len(data)
            yield data


def _inflated(packed: Iterator[bytes], ratio: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    taken = given = 0
    try:
        for data in packed:
            taken += len(data)
            while data:
                out = inflater.decompress(data, READ_BYTES)
                given += len(out)
                data = inflater.unconsumed_tail
                if given > max(FREE_BYTES, ratio * (taken - len(data))):
                    raise ArchiveLimit(_TOO_MUCH)
                if out:
                    yield out
                if inflater.eof:
                    return
        rest = inflater.flush()
    except zlib.error as error:
        raise ParserFailed("The archive inside the file is damaged.") from error
    if rest:
        yield rest
