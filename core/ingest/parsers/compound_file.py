"""Compound files made anew of a part of one, so that what reads whole files reads what was set into them ([MS-CFB])."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR, _LEAST, _ENTRY = 512, 4_096, 128
"""Streams shorter than ``_LEAST`` would need a second table: they are filled up with zeros."""
_END, _FREE, _TABLE, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
_IN_HEADER, _IN_SECTOR = 109, _SECTOR // 4
MOST_BYTES = (_IN_HEADER - 2) * _IN_SECTOR * _SECTOR
"""What the table of sectors in the header reaches."""
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file with these streams at its root; nothing where they are too large."""
    names = sorted(streams, key=lambda name: (len(name), name.upper()))
    bodies = [streams[name].ljust(max(_LEAST, _whole(len(streams[name]))), b"\0") for name in names]
    directory_sectors = _whole((len(names) + 1) * _ENTRY) // _SECTOR
    data_sectors = directory_sectors + sum(map(len, bodies)) // _SECTOR
    tables = 1
    while tables * _IN_SECTOR < tables + data_sectors:
        tables += 1
    if tables > _IN_HEADER:
        return b""
    chain, starts = [_TABLE] * tables, []
    for count in (directory_sectors, *(len(body) // _SECTOR for body in bodies)):
        starts.append(len(chain))
        chain += [*range(len(chain) + 1, len(chain) + count), _END]
    chain += [_FREE] * (tables * _IN_SECTOR - len(chain))
    entries = [_entry("Root Entry", 5, 1 if names else _NONE, _NONE, _END, 0)]
    for at, (name, start) in enumerate(zip(names, starts[1:], strict=True), start=1):
        size = max(len(streams[name]), _LEAST)
        entries.append(_entry(name, 2, _NONE, at + 1 if at < len(names) else _NONE, start, size))
    blank = _entry("", 0, _NONE, _NONE, 0, 0)
    entries += [blank] * (directory_sectors * _SECTOR // _ENTRY - len(entries))
    header = struct.pack(
        "<8s16s5H6sIIIIIIIII",
        _MAGIC,
        b"",
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        b"",
        0,
        tables,
        starts[0],
        0,
        _LEAST,
        _END,
        0,
        _END,
        0,
    )
    places = [*range(tables), *[_FREE] * (_IN_HEADER - tables)]
    return b"".join((header, struct.pack(f"<{_IN_HEADER}I", *places), struct.pack(f"<{len(chain)}I", *chain), *entries,
                     *bodies))  # fmt: skip


def _whole(size: int) -> int:
    """Return the bytes of the sectors that so many take."""
    return -(-size // _SECTOR) * _SECTOR


def _entry(name: str, kind: int, child: int, right: int, start: int, size: int) -> bytes:
    named = f"{name}\0".encode("utf-16-le") if name else b""
    return struct.pack("<64sHBBIII36sIQ", named, len(named), kind, 1, _NONE, right, child, b"", start, size)
