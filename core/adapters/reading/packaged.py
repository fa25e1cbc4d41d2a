"""What the packaged models that read have in common: loaded once when first needed, run on several texts at once."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from operator import itemgetter
from typing import Generic, TypeVar

from core.errors import ModelUnavailable

Loaded = TypeVar("Loaded")
Made = TypeVar("Made")


class LoadedOnce(Generic[Loaded]):
    """Gives what a packaged model is loaded as, for all threads the same; one that failed is tried again."""

    def __init__(self, name: str, load: Callable[[], Loaded]) -> None:
        self._name, self._load = name, load
        self._loading = threading.Lock()
        self._loaded: Loaded | None = None

    def __call__(self) -> Loaded:
        """Return it. Raises: ``ModelUnavailable``."""
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = self._load()
                except (
                    ImportError,
                    OSError,
                    RuntimeError,
                    ValueError,
                    KeyError,
                    EOFError,
                    zipfile.BadZipFile,
                ) as error:
                    raise ModelUnavailable(
                        f"The packaged {self._name} could not be loaded ({type(error).__name__}).",
                        remedy="Install EvoRAG again, or switch the reader off with EVORAG_READER=off.",
                    ) from error
            return self._loaded


def longest_first(pool: Executor, texts: Sequence[str], make: Callable[[int], Made]) -> list[Made]:
    """Return what is made of each place, the longest text begun first, or the last one would run alone."""
    places = sorted(range(len(texts)), key=lambda place: -len(texts[place].encode(errors="replace")))
    made = pool.map(make, places)
    return [each for _, each in sorted(zip(places, made, strict=True), key=itemgetter(0))]
