"""Blobs as files of a folder, each named by its hash and never by what a user called it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from core.adapters.blobs.reading import Pace, ReadWhole, at_once, fault_of
from core.errors import Damaged, InvalidInput, NotFound
from core.model import FileFault

_NAME = re.compile(r"[0-9a-f]{64}")


class FileBlobStore:
    """Files under ``folder``; a blob is complete or absent, also after a power cut."""

    engine = "data folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._whole = ReadWhole()
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, source: Path, sha256: str) -> None:
        target = self._place(sha256)
        if self._whole.fault(target, sha256) is None:
            source.unlink()
            return
        sync(source)
        target.parent.mkdir(exist_ok=True)
        os.replace(source, target)
        sync(target.parent)

    def path(self, sha256: str, *, verified: bool = True) -> Path:
        place = self._place(sha256)
        fault = None if place.is_file() else FileFault.MISSING
        if verified and fault is None:
            fault = self._whole.fault(place, sha256)
        if fault is FileFault.MISSING:
            raise NotFound("The original bytes are not in the data folder.", remedy="Upload the file again.")
        if fault is not None:
            raise Damaged(f"The bytes of this file in the data folder are {fault}.")
        return place

    def fault(self, sha256: str, pace: Pace = at_once) -> FileFault | None:
        return fault_of(self._place(sha256), sha256, pace)

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
