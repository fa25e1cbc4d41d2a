"""Archives: a zip or tar of documents becomes documents, each with a job of its own; nothing of it is believed."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass

from core.errors import TypeMismatch
from core.model.file_types import ARCHIVES

_MARKS = {"zip": (b"PK\x03\x04", b"PK\x05\x06"), "gz": (b"\x1f\x8b",), "bz2": (b"BZh",), "xz": (b"\xfd7zXZ\x00",)}
_BLOCK = tarfile.BLOCKSIZE


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What unpacking one archive may cost; a breach refuses it whole."""

    members: int = 20_000
    bytes: int = 32 * 1024**3
    ratio: int = 200
    member_bytes: int = 16 * 1024**3
    memory_bytes: int = 768 * 1024**2


def archive_kind(name: str) -> str:
    """Return how a file of this name is packed: ``zip``, ``tar``, ``gz``, ``bz2``, ``xz``, empty where it is none."""
    lowered = name.lower()
    endings = ((f".{ending}", kind) for ending, kind in ARCHIVES.items())
    return next((kind for ending, kind in endings if lowered.endswith(ending) and lowered != ending), "")


def check_archive(name: str, head: bytes) -> str:
    """Return how an archive is packed once its first bytes have been found to agree. Raises: ``TypeMismatch``."""
    kind = archive_kind(name)
    fits = _is_tar(head) if kind == "tar" else head.startswith(_MARKS[kind])
    if not fits:
        raise TypeMismatch(f"The file is named as an archive ({kind}), but its content is something else.")
    return kind


def _is_tar(head: bytes) -> bool:
    try:
        if head[:_BLOCK].strip(b"\0"):
            tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True
