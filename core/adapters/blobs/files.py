"""Blobs as files of a folder, each named by its hash and never by what a user called it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import InvalidInput, NotFound

_NAME = re.compile(r"[0-9a-f]{64}")


class FileBlobStore:
    """Files under ``folder``; a blob is complete or absent, also after a power cut."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, source: Path, sha256: str) -> None:
        target = self._place(sha256)
        if target.exists():
            source.unlink()
            return
        sync(source)
        target.parent.mkdir(exist_ok=True)
        os.replace(source, target)
        sync(target.parent)

    def path(self, sha256: str) -> Path:
        place = self._place(sha256)
        if not place.is_file():
            raise NotFound("The original bytes are not in the data folder.", remedy="Upload the file again.")
        return place

    def size(self, sha256: str) -> int | None:
        try:
            return self._place(sha256).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, sha256: str) -> None:
        self._place(sha256).unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        return (each.name for each in self._folder.glob("??/*") if _NAME.fullmatch(each.name))

    def _place(self, sha256: str) -> Path:
        return self._folder / checked_name(sha256)[:2] / sha256


def checked_name(sha256: str) -> str:
    """Return the name of a blob. Raises: ``InvalidInput`` for what is none."""
    if not _NAME.fullmatch(sha256):
        raise InvalidInput("A blob is named by 64 hexadecimal digits.")
    return sha256


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
