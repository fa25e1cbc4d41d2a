"""The names that an archive gives its members, as people wrote them: old archives do not say in which encoding."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence

from core.errors import Undecodable
from core.ingest.parsers.encoding import detect

_UTF8_FLAG = 0x800
_UNICODE_PATH = 0x7075


def zip_names(entries: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Return the names of entries: by flag or extra field where these say what they are, else by likeness."""
    raw = [_raw_name(entry) for entry in entries]
    told = [entry.orig_filename if entry.flag_bits & _UTF8_FLAG else _unicode_path(entry) for entry in entries]
    guessed = iter(decoded([name for name, sure in zip(raw, told, strict=True) if not sure], "cp437"))
    return [sure or next(guessed) for sure in told]


def decoded(names: Sequence[bytes], otherwise: str) -> list[str]:
    """Return names in the one encoding that fits them all: UTF-8, one of the Japanese ones, or ``otherwise``."""
    joined = b"\n".join(name for name in names if not name.isascii())
    encoding = "utf-8"
    try:
        joined.decode("utf-8")
    except UnicodeDecodeError:
        try:
            encoding = detect(joined)
        except Undecodable:
            encoding = otherwise
    if encoding not in ("utf-8", "cp932", "euc_jp"):
        encoding = otherwise
    return [name.decode(encoding, "replace") for name in names]


def _raw_name(entry: zipfile.ZipInfo) -> bytes:
    return entry.orig_filename.encode("utf-8" if entry.flag_bits & _UTF8_FLAG else "cp437", "replace")


def _unicode_path(entry: zipfile.ZipInfo) -> str:
    """Return the name in the extra field that Info-ZIP writes, where it belongs to the entry's own name."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and field[:1] == b"\x01":
            fits = int.from_bytes(field[1:5], "little") == zlib.crc32(_raw_name(entry))
            return field[5:].decode("utf-8", "replace") if fits else ""
    return ""
