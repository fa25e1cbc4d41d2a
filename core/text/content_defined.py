"""Where a long run of pieces is parted so that an edit moves only the borders beside it.

A border is a *landmark* where the text beside it has the lowest checksum within a certain reach on both sides; whether
it is one depends on nothing further away. What lies between two landmarks is parted on its own, so that after an edit
the borders are the old ones again from the next landmark on.

Source: Bjørner, Blass and Gurevich, "Content-dependent chunking for differential compression, the local maximum
approach", JCSS 2010.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import ceil
from typing import Generic, NamedTuple, TypeVar
from zlib import crc32

Piece = TypeVar("Piece")

_AIM = 0.9
_LEAST_SHARE = 0.75
_LONGEST_SEARCH = 8


def checksum(before: str, after: str) -> int:
    """Return what the text on both sides of a border says about it; the same on every machine."""
    return crc32(after.encode("utf-8", "surrogatepass"), crc32(before.encode("utf-8", "surrogatepass")))


class _Low(NamedTuple):
    """A border that none after it undercuts so far; ``is_lowest``: nor is one within reach before it as low."""

    rank: int
    place: float
    number: int
    is_lowest: bool


class ContentRun(Generic[Piece]):
    """Takes pieces in order and gives them back in groups of ``smallest`` to ``largest`` weight.

    A run that weighs no more than ``largest`` stays one group. Groups are smaller where the pieces are large, and only
    a single piece makes one that is larger.
    """

    def __init__(self, smallest: float, largest: float) -> None:
        self._smallest, self._largest = smallest, largest
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[Piece] = []
        self._weights: list[float] = []
        self._ranks: list[int] = []
        self._weight = 0.0
        self._low: deque[_Low] = deque()
        self._landmarks: deque[int] = deque()
        self._place = 0.0
        self._given = 0
        self._is_whole = True

    def add(self, piece: Piece, weight: float, rank: int) -> Iterator[list[Piece]]:
        """Take a piece; the lower the rank, the better the border before it."""
        if self._pieces:
            self._weigh_border(rank)
        self._pieces.append(piece)
        self._weights.append(weight)
        self._ranks.append(rank)
        self._weight += weight
        self._place += weight
        if self._is_whole and self._weight <= self._largest:
            return
        self._is_whole = False
        while self._landmarks:
            yield from self._part(self._landmarks.popleft() - self._given)
        if self._weight > _LONGEST_SEARCH * self._largest:
            yield self._give(self._border(len(self._pieces), self._weight))

    def finish(self) -> Iterator[list[Piece]]:
        """Give back what is left; the next piece begins a new run."""
        yield from self._part(len(self._pieces))
        self._begin()

    def _weigh_border(self, rank: int) -> None:
        """Note the border before the next piece, and those that it shows to be landmarks."""
        while self._low and self._place - self._low[0].place > self._smallest:
            low = self._low.popleft()
            if low.is_lowest and low.place >= self._smallest and low.number > self._given:
                self._landmarks.append(low.number)
        while self._low and self._low[-1].rank > rank:
            self._low.pop()
        self._low.append(_Low(rank, self._place, self._given + len(self._pieces), not self._low))

    def _part(self, count: int) -> Iterator[list[Piece]]:
        """Give back the first ``count`` pieces in groups that are not too large."""
        left = sum(self._weights[:count])
        while count:
            border = count if left <= self._largest else self._border(count, left)
            left -= sum(self._weights[:border])
            count -= border
            yield self._give(border)

    def _border(self, count: int, weight: float) -> int:
        """Return how many of the first ``count`` pieces make a group, so that those after it make even ones too."""
        groups = ceil(weight / (_AIM * self._largest))
        least = min(self._smallest, _LEAST_SHARE * weight / groups)
        low = max(weight - (groups - 1) * self._largest, least)
        high = min(weight - (groups - 1) * least, self._largest)
        best: tuple[int, float] | None = None
        chosen = last = 0
        reached = 0.0
        for number in range(1, count):
            reached += self._weights[number - 1]
            if last and reached > high:
                break
            last = number
            if low <= reached <= high and (best is None or (self._ranks[number], -reached) < best):
                best, chosen = (self._ranks[number], -reached), number
        return chosen or last or count

    def _give(self, count: int) -> list[Piece]:
        given = self._pieces[:count]
        self._weight -= sum(self._weights[:count])
        self._given += count
        del self._pieces[:count], self._weights[:count], self._ranks[:count]
        return given
