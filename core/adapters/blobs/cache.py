"""Copies of blobs that live elsewhere, in a folder that all processes of a knowledge base share.

It is the one cache: what is removed here is in no other. Files are whole or absent, and those not used for longest go
first once there is too much.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.adapters.blobs.files import sync

_KEPT_S = 600.0
"""Time for which a file is kept after its use, whatever the limit, since somebody may be about to read it."""
_LOOKED_SHARE = 16
"""The folder is looked through whenever this part of the limit was added, and may be larger by it meanwhile."""


class BlobCache:
    """Files under ``folder`` that take about ``limit_bytes``, besides those used within ten minutes."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._added_bytes = limit_bytes

    def find(self, sha256: str) -> Path | None:
        """Return the file of a blob, if it is here; it counts as used now."""
        place = self._place(sha256)
        try:
            os.utime(place)
        except FileNotFoundError:
            return None
        return place

    @contextmanager
    def arriving(self, sha256: str) -> Iterator[Path]:
        """Give the name of a file to be written, which is removed at the end unless it was kept."""
        place = self._place(sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f"{sha256}.{secrets.token_hex(8)}")
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)

    def keep(self, source: Path, sha256: str) -> Path:
        """Take a file away from its place and return where it is now. Raises: ``OSError``."""
        place = self._place(sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        sync(source)
        size = source.stat().st_size
        os.utime(source)
        os.replace(source, place)
        self._added_bytes += size
        if self._added_bytes * _LOOKED_SHARE >= self._limit_bytes:
            self._added_bytes = 0
            self._trim()
        return place

    def forget(self, sha256: str) -> None:
        """Remove the file of a blob, and what of it is just arriving."""
        for path in self._place(sha256).parent.glob(f"{sha256}*"):
            path.unlink(missing_ok=True)

    def _place(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    def _trim(self) -> None:
        found = []
        for path in self._folder.glob("??/*"):
            with suppress(FileNotFoundError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        left = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if left <= self._limit_bytes:
                break
            with suppress(FileNotFoundError):
                # It may have been used since the folder was looked through.
                if time.time() - path.stat().st_mtime < _KEPT_S:
                    continue
                path.unlink()
            left -= size
