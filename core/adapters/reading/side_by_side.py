"""Does the same with several texts on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from operator import itemgetter
from typing import TypeVar

Made = TypeVar("Made")


def longest_first(pool: Executor, texts: Sequence[str], make: Callable[[int], Made]) -> list[Made]:
    """Return what is made of each place, the longest text begun first, or the last one would run alone."""
    places = sorted(range(len(texts)), key=lambda place: -len(texts[place].encode(errors="replace")))
    made = pool.map(make, places)
    return [each for _, each in sorted(zip(places, made, strict=True), key=itemgetter(0))]
