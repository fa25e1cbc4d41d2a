"""The blob store with what keeps its blobs: the pins of those in use, and the notes of those that nothing names yet."""

from __future__ import annotations

from dataclasses import dataclass

from core.blobs.orphans import UnclaimedBlobs
from core.blobs.pins import BlobPins
from core.ports import BlobStore


@dataclass(frozen=True, slots=True)
class PinnedBlobs:
    """What a writer of blobs needs: it pins a blob, announces it, and puts it into the store."""

    store: BlobStore
    pins: BlobPins
    unclaimed: UnclaimedBlobs
