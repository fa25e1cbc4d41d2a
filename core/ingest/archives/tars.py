"""Tar archives, plain or compressed: read from front to end, every byte that comes out counted."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from core.errors import ArchiveLimit, ParserFailed
from core.ingest.archives import ArchiveLimits
from core.ingest.archives.names import decoded
from core.ingest.parsers.archive import TOTAL_FREE_BYTES, check_place

_READ_BYTES = 256 * 1024
_DAMAGED = ("InvalidHeaderError", "TruncatedHeaderError")
_BROKEN = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)


class _Info(tarfile.TarInfo):
    """A header that is damaged is an error, and not the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if type(error).__name__ in _DAMAGED:
                raise tarfile.ReadError("a header is damaged") from error
            raise


class _Counted(io.RawIOBase):
    """What a decompressor gives, counted. Raises: ``ArchiveLimit``."""

    def __init__(self, source: BinaryIO, packed: BinaryIO, limits: ArchiveLimits) -> None:
        self._source, self._packed, self._limits = source, packed, limits
        self.given = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(size, _READ_BYTES) if size >= 0 else _READ_BYTES)
        self.given += len(data)
        fair = max(TOTAL_FREE_BYTES, self._limits.ratio * self._packed.tell())
        # Headers and padding are no file's bytes, but come out as well.
        if self.given > min(fair, self._limits.bytes + 2 * tarfile.RECORDSIZE * (self._limits.members + 1)):
            raise ArchiveLimit("The archive unpacks to far more than one of its size should.")
        return data


class TarReader:
    """Reads the files of a tar archive; a compressed one from front to end. Raises: ``ArchiveLimit``, ``ParserFailed``.

    ``found`` is complete once ``survey`` has ended.
    """

    def __init__(self, path: Path, kind: str, limits: ArchiveLimits) -> None:
        self._path, self._kind, self._limits = path, kind, limits
        self.found: list[tuple[str, int]] = []
        self._walk: Iterator[tuple[int, Iterator[bytes]]] = iter(())
        self._at = -1

    def survey(self) -> Iterator[int]:
        """Read everything, yielding how many bytes have come out."""
        names: list[bytes] = []
        sizes: list[int] = []
        read = 0
        with _translated(), self._opened() as tar:
            for info in self._files(tar):
                names.append(info.name.encode("utf-8", "surrogateescape"))
                sizes.append(info.size)
                if read + info.size > self._limits.bytes:
                    raise ArchiveLimit("The archive unpacks to more than one archive may.")
                if self._kind == "tar":
                    self._check_end(info)
                    read += info.size
                    yield read
                    continue
                for data in self._data(tar, info):
                    read += len(data)
                    yield read
        shown = decoded(names, "latin-1")
        for name in shown:
            check_place(name)
        self.found = list(zip(shown, sizes, strict=True))

    def contents(self, number: int) -> Iterator[bytes]:
        """Yield the bytes of a file; those before it are read over again where it lies behind."""
        if number <= self._at:
            self.close()
        if self._at < 0:
            self._walk = self._walked()
        with _translated():
            for at, data in self._walk:
                self._at = at
                if at == number:
                    yield from data
                    return
        raise ParserFailed("The archive ends before the file.")

    def _walked(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        with self._opened() as tar:
            for number, info in enumerate(self._files(tar)):
                yield number, self._data(tar, info)

    def _files(self, tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        entries = 0
        while (info := tar.next()) is not None:
            # The archive would remember all that was read of it.
            tar.members = []  # type: ignore[attr-defined]
            entries += 1
            if entries > self._limits.members:
                raise ArchiveLimit(f"The archive holds more than {self._limits.members:,} entries.")
            check_place(info.name)
            if info.isdir():
                continue
            if not info.isreg() or info.issparse():
                raise ArchiveLimit("An entry of the archive is a link, a device or a sparse file.")
            yield info

    def _check_end(self, info: tarfile.TarInfo) -> None:
        if info.offset_data + info.size > self._path.stat().st_size:
            raise tarfile.ReadError("a file is cut off")

    @staticmethod
    def _data(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
        file = tar.extractfile(info)
        left = info.size
        while file is not None and left:
            data = file.read(min(left, _READ_BYTES))
            if not data:
                raise tarfile.ReadError("a file is cut off")
            left -= len(data)
            yield data

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        with self._path.open("rb") as packed:
            if self._kind == "tar":
                with tarfile.open(fileobj=packed, mode="r:", tarinfo=_Info) as tar:
                    yield tar
                return
            openers: dict[str, Any] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
            source: BinaryIO = openers[self._kind](packed, "rb")
            counted = cast(BinaryIO, _Counted(source, packed, self._limits))
            with source, tarfile.open(fileobj=counted, mode="r|", bufsize=_READ_BYTES, tarinfo=_Info) as tar:
                yield tar

    def close(self) -> None:
        self._walk, self._at = iter(()), -1


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise ParserFailed("The archive is damaged.", remedy="Make the archive anew and upload it again.") from error
