"""Tar files of plain files only: headers that are written, and a reader that takes nothing else.

The reader of the standard library takes links, devices, sparse files and headers of any size, none of which an
archive of ours holds.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from core.backup import PIECE_BYTES
from core.errors import BadBundle

_BLOCK = 512
_REGULAR = (b"0", b"\0")
_SUM_AT, _SUM_END = 148, 156
_NAME_BYTES = 100
END = b"\0" * 2 * _BLOCK


def header(name: str, size: int) -> bytes:
    """Return what stands before the ``size`` bytes of a file; its name has at most 100 bytes."""
    made = tarfile.TarInfo(name)
    made.size, made.mode = size, 0o600
    return made.tobuf(tarfile.GNU_FORMAT)


def padding(size: int) -> bytes:
    """Return what fills the last block of ``size`` bytes."""
    return b"\0" * (-size % _BLOCK)


class TarStream:
    """The files of a tar archive, from front to end. Raises: ``BadBundle`` for whatever is none."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = 0
        self._fill = 0
        self.read_bytes = 0

    def members(self) -> Iterator[tuple[str, int]]:
        """Yield name and size of each file; what its ``pieces`` left unread is passed over."""
        while True:
            for _ in self.pieces():
                pass
            self._exactly(self._fill)
            block = self._exactly(_BLOCK)
            if block == b"\0" * _BLOCK:
                return self._end()
            name, self._left = _understood(block)
            self._fill = -self._left % _BLOCK
            yield name, self._left

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the present file."""
        while self._left:
            piece = self._read(min(self._left, PIECE_BYTES))
            self._left -= len(piece)
            yield piece

    def _end(self) -> None:
        while piece := self._source.read(PIECE_BYTES):
            if piece.strip(b"\0"):
                raise BadBundle("Something stands behind the end of the archive.")

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self._read(size - len(found))
        return found

    def _read(self, size: int) -> bytes:
        piece = self._source.read(size)
        if not piece:
            raise BadBundle("The archive is cut off.", remedy="Make it anew; the disk or the network ended too early.")
        self.read_bytes += len(piece)
        return piece


def _understood(block: bytes) -> tuple[str, int]:
    told = sum(block) - sum(block[_SUM_AT:_SUM_END]) + 8 * ord(" ")
    try:
        if tarfile.nti(block[_SUM_AT:_SUM_END]) != told:  # type: ignore[attr-defined]
            raise BadBundle("This is no archive of EvoRAG.")
        size = tarfile.nti(block[124:136])  # type: ignore[attr-defined]
        name = block[:_NAME_BYTES].rstrip(b"\0").decode("ascii")
    except (tarfile.HeaderError, UnicodeDecodeError) as error:
        raise BadBundle("This is no archive of EvoRAG.") from error
    # A prefix of the name is of another dialect of tar than ours.
    if block[156:157] not in _REGULAR or size < 0 or block[345:500].strip(b"\0"):
        raise BadBundle("The archive holds something else than plain files.")
    return name, size
