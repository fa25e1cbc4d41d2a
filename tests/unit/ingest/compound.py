"""Compound files, the containers of Office before 2007 and of Outlook, made for tests ([MS-CFB])."""

from __future__ import annotations

import struct
from pathlib import Path

_SECTOR, _MINI = 512, 64
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
Folder = dict[str, "bytes | Folder"]


def compound(path: Path, root: Folder) -> Path:
    """Write a compound file with streams and folders of streams, none of which is larger than 4095 bytes."""
    entries: list[tuple[str, int, int, int, int, int]] = []
    mini, chains = bytearray(), []

    def add(name: str, content: bytes | Folder, kind: int) -> int:
        at = len(entries)
        entries.append((name, kind, _NONE, _NONE, 0, 0))
        if isinstance(content, bytes):
            start = len(mini) // _MINI
            sectors = -(-len(content) // _MINI)
            mini.extend(content.ljust(sectors * _MINI, b"\0"))
            chains.extend([*range(start + 1, start + sectors), _END] if sectors else [])
            entries[at] = (name, kind, _NONE, _NONE, start if sectors else _END, len(content))
            return at
        children = [add(child, inner, 2 if isinstance(inner, bytes) else 1) for child, inner in content.items()]
        # A chain of right siblings in the order that readers search by: length first, then letters.
        children.sort(key=lambda child: (len(entries[child][0]), entries[child][0].upper()))
        for child, right in zip(children, [*children[1:], _NONE][: len(children)], strict=True):
            name_, kind_, _, below, start, size = entries[child]
            entries[child] = (name_, kind_, right, below, start, size)
        entries[at] = (name, kind, _NONE, children[0] if children else _NONE, 0, 0)
        return at

    add("Root Entry", root, 5)

    def sectors_of(size: int) -> int:
        return -(-size // _SECTOR)

    directory, mini_fat, stream = sectors_of(128 * len(entries)), sectors_of(4 * len(chains)), sectors_of(len(mini))
    fat = [_FAT]
    for count in (directory, mini_fat, stream):
        fat.extend([*range(len(fat) + 1, len(fat) + count), _END] if count else [])
    fat.extend([_FREE] * (_SECTOR // 4 - len(fat)))
    name, kind, right, below, _, _ = entries[0]
    entries[0] = (name, kind, right, below, 1 + directory + mini_fat, len(mini))
    header = struct.pack(
        "<8s16s5H6sIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, 1, 1, 0, 4096,
        1 + directory if mini_fat else _END, mini_fat, _END, 0,
    )  # fmt: skip
    body = struct.pack(f"<{len(fat)}I", *fat)
    records = b"".join(
        struct.pack("<64sHBBIII36sIQ", f"{name}\0".encode("utf-16-le"), 2 * len(name) + 2, kind, 1, _NONE, right, below,
                    b"", start, size)
        for name, kind, right, below, start, size in entries
    )  # fmt: skip
    empty = struct.pack("<64sHBBIII36sIQ", b"", 0, 0, 0, _NONE, _NONE, _NONE, b"", 0, 0)
    records += empty * (directory * 4 - len(entries))
    chain = struct.pack(f"<{len(chains)}I", *chains).ljust(mini_fat * _SECTOR, b"\xff")
    first = struct.pack("<I", 0) + b"\xff" * 432
    path.write_bytes(header + first + body + records + chain + bytes(mini).ljust(stream * _SECTOR, b"\0"))
    return path


def outlook(path: Path, texts: dict[str, str], attachments: dict[str, bytes]) -> Path:
    """Write a mail of Outlook: texts by the numbers of their properties, files by their names ([MS-OXMSG])."""
    folder: Folder = {f"__substg1.0_{number}001F": text.encode("utf-16-le") for number, text in texts.items()}
    folder["__properties_version1.0"] = bytes(32) + b"".join(_entry(int(number, 16), 0x1F) for number in texts)
    folder["__nameid_version1.0"] = {}
    for number, (name, data) in enumerate(attachments.items()):
        folder[f"__attach_version1.0_#{number:08X}"] = {
            "__properties_version1.0": bytes(8) + _entry(0x3705, 3, 1) + _entry(0x3707, 0x1F) + _entry(0x3701, 0x102),
            "__substg1.0_3707001F": name.encode("utf-16-le"),
            "__substg1.0_37010102": data,
        }
    return compound(path, folder)


def _entry(number: int, kind: int, value: int = 0) -> bytes:
    return struct.pack("<HHIQ", kind, number, 6, value)
