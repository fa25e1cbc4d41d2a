"""Parsed text as lines: arrays of places in its UTF-8 bytes, so that a hundred megabytes of text fit in memory.

Lines follow from the text alone: two versions with the same text have the same lines, however a parser cut its blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.model import BLOCK_JOINT, Block, BlockKind, Line, Locator
from core.versions.diff.long_lines import LONGEST_LINE, cut_long_lines

Ints = npt.NDArray[np.int64]
Part = tuple[str, BlockKind, int, Locator, str]
"""A block's text, kind, level, locator and header."""

_JOINT = BLOCK_JOINT.encode()
_LONGEST_TITLE = 200
_SLICE_BYTES = 1 << 20
_LINE_BREAK = 10


class LinePlace(NamedTuple):
    """What the lines of a block have in common; ``header`` is the header row of the table they belong to."""

    kind: BlockKind
    level: int
    locator: Locator
    header: str


class Lines:
    """The lines of one text, numbered from 0.

    Line ``i`` is ``data[starts[i]:ends[i]]``; what lies between two lines is the joint: one or two line breaks, or
    nothing where a long line was cut. ``characters[i]`` is where it begins in the parsed text.
    """

    def __init__(self, data: bytes, place_starts: list[int], places: list[LinePlace]) -> None:
        self.data = data
        self.places = places
        self._in_tables = np.array([place.kind is BlockKind.TABLE for place in places], bool)
        starts, ends = _line_borders(data)
        characters = _characters(data, starts, ends)
        self.was_cut = bool(len(starts) and int((characters[1] - characters[0]).max()) > LONGEST_LINE)
        if self.was_cut:
            is_long = characters[1] - characters[0] > LONGEST_LINE
            starts, ends = cut_long_lines(data, starts, ends, is_long)
            characters = _characters(data, starts, ends)
        self.starts: Ints = starts
        self.ends: Ints = ends
        self.characters: Ints = characters[0]
        self.place_of: Ints = np.searchsorted(np.array(place_starts, np.int64), starts, "right") - 1

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Lines:
        """Return the lines of blocks, joined as ``BLOCK_JOINT`` joins them."""
        return cls.of_parts((block.text, block.kind, block.level, block.locator, block.header) for block in blocks)

    @classmethod
    def of_parts(cls, parts: Iterable[Part]) -> Lines:
        """Return the lines of blocks that are given by their fields; equal locators are best the same object."""
        texts: list[bytes] = []
        places = _Places()
        offset = 0
        for text, kind, level, locator, header in parts:
            places.see(offset, text, kind, level, locator, header)
            encoded = encode(text)
            texts.append(encoded)
            offset += len(encoded) + len(_JOINT)
        return cls(_JOINT.join(texts), places.starts, places.found)

    def __len__(self) -> int:
        return len(self.starts)

    def bytes(self, index: int) -> bytes:
        return self.data[self.starts[index] : self.ends[index]]

    def text(self, index: int) -> str:
        return decode(self.bytes(index))

    def texts(self, first: int, last: int) -> list[str]:
        """Return the texts of the lines from ``first`` up to, not including, ``last``."""
        data = self.data
        spans = zip(self.starts[first:last].tolist(), self.ends[first:last].tolist(), strict=True)
        return [decode(data[start:end]) for start, end in spans]

    def texts_at(self, places: Sequence[int]) -> list[str]:
        data = self.data
        spans = zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True)
        return [decode(data[start:end]) for start, end in spans]

    def joint(self, index: int) -> str:
        return decode(self.data[self.ends[index - 1] if index else 0 : self.starts[index]])

    def joint_lengths(self) -> Ints:
        return self.starts - np.concatenate(([0], self.ends[:-1]))

    def line(self, index: int) -> Line:
        return next(self.lines(index, index + 1))

    def lines(self, first: int, last: int) -> Iterator[Line]:
        """Yield the lines from ``first`` up to, not including, ``last``."""
        data, places = self.data, self.places
        done = int(self.ends[first - 1]) if first else 0
        columns = (self.starts, self.ends, self.characters, self.place_of)
        rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
        for number, (start, end, character, place) in enumerate(rows, first + 1):
            kind, level, locator, _header = places[place]
            yield Line(number, decode(data[start:end]), _JOINTS[start - done], character, kind, level, locator)
            done = end

    @property
    def has_tables(self) -> bool:
        return bool(self._in_tables.any())

    def is_table(self, places: Ints) -> npt.NDArray[np.bool_]:
        """Tell which of some lines are rows of tables."""
        return self._in_tables[self.place_of[places]]

    def place(self, index: int) -> LinePlace:
        return self.places[int(self.place_of[index])]


_JOINTS = ("", "\n", "\n\n")


class _Places:
    """Collects places as blocks come; a run of blocks with the same place has one entry."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.found: list[LinePlace] = []
        self._section: tuple[tuple[int, str], ...] = ()
        self._path: tuple[str, ...] = ()
        self._last: tuple[BlockKind, int, Locator, str] | None = None
        self._table: str | None = None

    def see(self, offset: int, text: str, kind: BlockKind, level: int, locator: Locator, header: str) -> None:
        if kind is BlockKind.HEADING:
            depth = level or 1
            title = text[:_LONGEST_TITLE].split("\n", 1)[0]
            self._section = (*(each for each in self._section if each[0] < depth), (depth, title))
            self._path = tuple(each[1] for each in self._section)
            self._last = None
        elif kind is BlockKind.TABLE and not header:
            header = text.split("\n", 1)[0]
        if self._last is not None:
            last_kind, last_level, last_locator, last_header = self._last
            is_same = locator is last_locator or locator == last_locator
            if is_same and kind is last_kind and level == last_level and header == last_header:
                return
        self._last = (kind, level, locator, header)
        filled = locator if locator.heading_path or not self._path else replace(locator, heading_path=self._path)
        self.starts.append(offset)
        self.found.append(LinePlace(kind, level, filled, header))


def encode(text: str) -> bytes:
    """Return a text as UTF-8; half a surrogate pair passes."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _line_borders(data: bytes) -> tuple[Ints, Ints]:
    """Return where lines start and end. Two line breaks are one joint, so that empty lines remain."""
    if not data:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    codes = np.frombuffer(data, np.uint8)
    found = [
        np.flatnonzero(codes[first : first + _SLICE_BYTES] == _LINE_BREAK) + first
        for first in range(0, len(codes), _SLICE_BYTES)
    ]
    breaks = np.concatenate(found)
    if not len(breaks):
        return np.zeros(1, np.int64), np.array([len(data)], np.int64)
    follows = np.concatenate(([False], np.diff(breaks) == 1))
    positions = np.arange(len(breaks))
    within_run = positions - np.maximum.accumulate(np.where(follows, 0, positions))
    opens = within_run % 2 == 0
    is_double = np.concatenate((~opens[1:], [False]))[opens]
    joints = breaks[opens]
    starts = np.concatenate(([0], joints + 1 + is_double))
    ends = np.concatenate((joints, [len(data)]))
    return starts, ends


def _characters(data: bytes, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return where lines start and end in characters."""
    if data.isascii():
        return starts, ends
    codes = np.frombuffer(data, np.uint8)
    borders = np.stack((starts, ends), axis=1).ravel()
    counts = np.zeros(len(borders) + 1, np.int64)
    for first in range(0, len(codes), _SLICE_BYTES):
        last = min(first + _SLICE_BYTES, len(codes))
        low, high = np.searchsorted(borders, (first, last), "left")
        inside = borders[low:high] - first
        before = np.cumsum((codes[first:last] & 0xC0) != 0x80, dtype=np.int64)
        counts[low:high] = counts[-1] + np.where(inside > 0, before[inside - 1], 0)
        counts[-1] += before[-1]
    counts[:-1][borders >= len(codes)] = counts[-1]
    placed = counts[:-1].reshape(-1, 2)
    return placed[:, 0].copy(), placed[:, 1].copy()
