"""The files of a tantivy index, held against what they say of themselves: tantivy ends each with a checksum.

A file ends with its footer (JSON with ``crc``, the CRC-32 of what stands before), the footer's length and a mark; what
belongs to an index stands in ``meta.json``.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_KINDS = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_END = struct.Struct("<II")
_MARK = 1337
_LONGEST_FOOTER = 4_096
_PIECE_BYTES = 1024 * 1024


def damage_in(folder: Path, most_bytes: int) -> str:
    """Return the name of a file of an index that is missing or damaged, empty where there is none.

    Checksums are computed of as many files as have ``most_bytes`` together, the ends of all are looked at.
    Raises: ``OSError`` where a file cannot be read for another reason, such as its mode.
    """
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        names = list(_files_of(meta))
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return "meta.json"
    left = most_bytes
    for name in names:
        try:
            size = (folder / name).stat().st_size
            left -= size
            with (folder / name).open("rb") as file:
                is_whole = _is_whole(file, size, sums=left >= 0)
        except FileNotFoundError:
            return name
        if not is_whole:
            return name
    return ""


def _files_of(meta: dict[str, object]) -> Iterator[str]:
    segments = meta["segments"]
    if not isinstance(segments, list):
        raise TypeError
    for segment in segments:
        stem = str(segment["segment_id"]).replace("-", "")
        yield from (f"{stem}.{kind}" for kind in _KINDS)
        if segment["deletes"]:
            yield f"{stem}.{int(segment['deletes']['opstamp'])}.del"


def _is_whole(file: BinaryIO, size: int, *, sums: bool) -> bool:
    if size < _END.size:
        return False
    file.seek(size - _END.size)
    length, mark = _END.unpack(file.read(_END.size))
    before = size - _END.size - length
    if mark != _MARK or length > _LONGEST_FOOTER or before < 0:
        return False
    file.seek(before)
    try:
        told = int(json.loads(file.read(length))["crc"])
    except (ValueError, KeyError, TypeError):
        return False
    return not sums or _crc(file, before) == told


def _crc(file: BinaryIO, size: int) -> int:
    file.seek(0)
    found, left = 0, size
    while left and (piece := file.read(min(left, _PIECE_BYTES))):
        found = zlib.crc32(piece, found)
        left -= len(piece)
    return found
