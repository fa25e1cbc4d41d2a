"""Builds archives, honest and hostile ones."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

TEXT = b"The pump needs oil every month. Look at the gauge before you start it.\n"


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    return tar_of([(entry(name, len(data)), data) for name, data in files.items()], mode)


def entry(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info


def tar_of(entries: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_with_link() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("guide.txt", TEXT)
        link = zipfile.ZipInfo("passwords.txt")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return buffer.getvalue()


def zip_in(encoding: str, files: Mapping[str, bytes]) -> bytes:
    """A zip whose names are in an old encoding that nothing in it tells, as Windows wrote them."""
    plain = zipped({f"{number:03}" + "_" * (len(name.encode(encoding)) - 3): data
                    for number, (name, data) in enumerate(files.items())})  # fmt: skip
    for number, name in enumerate(files):
        raw = name.encode(encoding)
        plain = plain.replace(f"{number:03}".encode() + b"_" * (len(raw) - 3), raw)
    return plain


def with_size(archive: bytes, size: int) -> bytes:
    """The archive with another unpacked size in its directory."""
    at = archive.rindex(b"PK\x01\x02") + 24
    return archive[:at] + struct.pack("<L", size) + archive[at + 4 :]


def encrypted(archive: bytes) -> bytes:
    at = archive.rindex(b"PK\x01\x02") + 8
    return archive[:at] + b"\x01\x00" + archive[at + 2 :]


def overlapping() -> bytes:
    """Two entries that share their packed bytes, as in a bomb by Fifield."""
    one = zipped({"a.txt": TEXT})
    start = one.index(b"PK\x01\x02")
    directory = one[start : one.index(b"PK\x05\x06")]
    again = directory.replace(b"a.txt", b"b.txt")
    return one[:start] + directory + again + end_record(2, len(directory + again), start)


def end_record(entries: int, directory_bytes: int, start: int) -> bytes:
    shown = min(entries, 0xFFFF)
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, shown, shown, directory_bytes, start, 0)


def many_entries(entries: int, told: int) -> bytes:
    """A directory of many empty entries, whose end record tells another number."""
    names = (f"{number:07}.txt".encode() for number in range(entries))
    head = struct.Struct("<4s4B4HL2L5H2L")
    directory = b"".join(
        head.pack(b"PK\x01\x02", 20, 0, 20, 0, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0) + name
        for name in names
    )
    return b"PK\x03\x04" + directory + end_record(told, len(directory), 4)


def zip64_end(entries: int) -> bytes:
    """An archive whose end record tells of a million entries that are not there."""
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, 46 * entries, 4)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 4, 1)
    return b"PK\x03\x04" + end64 + locator + end_record(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


def zeros(size: int) -> bytes:
    """So many zeros, as deflate packs them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = bytes(1024 * 1024)
    return b"".join(packer.compress(piece) for _ in range(size // len(piece))) + packer.flush()
