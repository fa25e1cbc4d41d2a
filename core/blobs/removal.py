"""Removal of blobs that no row of the catalogue names any more."""

from __future__ import annotations

from collections.abc import Callable

from core.blobs.pins import BlobPins
from core.ports import BlobStore


def remove_unless_named(blobs: BlobStore, pins: BlobPins, sha256: str, is_named: Callable[[str], bool]) -> bool:
    """Remove a blob that nothing names, and tell whether nobody holds it; a held one stays."""

    def remove() -> None:
        if not is_named(sha256):
            blobs.delete(sha256)

    return pins.unless_held(sha256, remove)
