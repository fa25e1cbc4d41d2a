"""Many pairs of short lines at once: what is the same at both ends, and where one word has taken another's place.

A long text in which nearly every line has changed has millions of such pairs. What is found here is what
``core.versions.diff.words`` finds for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.versions.diff.lines import Lines

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Sides = tuple[Lines, Lines]
Both = tuple[Ints, Ints]

_WIDTHS = (64, 200)
"""Lines of fewer bytes are looked at together; longer ones are left out."""
_SLICE_PAIRS = 16_384
_NONE = -1


class EndsOfWords(NamedTuple):
    """In characters, what is the same before and after the words that differ, and how long those are on each side.

    ``is_known`` where lines are short and ASCII, each sign a cell wide, and at most one word differs on either side.
    """

    before: Ints
    removed: Ints
    added: Ints
    after: Ints
    is_known: Bools


class _Pairs(NamedTuple):
    """Pairs of lines of like length: bytes from the start on and from the end back, shape ``(2, n, width)``."""

    places: Ints
    lengths: Ints
    heads: Bytes
    tails: Bytes


def shares_of_ends(lines: Sides, pairs: Both) -> npt.NDArray[np.float32]:
    """Return which share of each pair of lines is the same at their ends, -1 where they are too long to look at."""
    shares = np.full(len(pairs[0]), _NONE, np.float32)
    for some in _in_slices(lines, pairs):
        shorter = some.lengths.min(axis=0)
        before = _same(some.heads, shorter)
        after = _same(some.tails, shorter - before)
        shares[some.places] = 2 * (before + after) / np.maximum(some.lengths.sum(axis=0), 1)
    return shares


def ends_of_words(lines: Sides, pairs: Both) -> EndsOfWords:
    """Return what differs in each pair of lines, as ``words_between`` finds it."""
    before, removed, added, after = (np.zeros(len(pairs[0]), np.int64) for _ in range(4))
    found = EndsOfWords(before, removed, added, after, np.zeros(len(pairs[0]), bool))
    for some in _in_slices(lines, pairs):
        shorter, longer = some.lengths.min(axis=0), some.lengths.max(axis=0)
        same = _same(some.heads, shorter)
        before = _up_to_border(some.heads[0], same)
        before[_parts_number(some.heads, some.lengths, before)] = 0
        after = _up_to_border(some.tails[0], _same(some.tails, shorter - before))
        after[_parts_number(some.tails, some.lengths, after)] = 0
        removed, added = some.lengths - before - after
        is_inside = np.arange(some.heads.shape[2]) < some.lengths[0][:, None]
        is_plain = (same < longer) & ~(_WIDE[some.heads[0]] & is_inside).any(axis=1)
        for side, length in zip(some.heads, (removed, added), strict=True):
            is_plain &= _is_word(side, before, length)
        for column, values in zip(found, (before, removed, added, after, is_plain), strict=True):
            column[some.places] = values
    return found


def _in_slices(lines: Sides, pairs: Both) -> Iterator[_Pairs]:
    """Yield the short ones among pairs of lines, some at a time."""
    data = [np.frombuffer(side.data, np.uint8) for side in lines]
    for first in range(0, len(pairs[0]), _SLICE_PAIRS):
        part = [places[first : first + _SLICE_PAIRS] for places in pairs]
        starts = np.stack([side.starts[places] for side, places in zip(lines, part, strict=True)])
        ends = np.stack([side.ends[places] for side, places in zip(lines, part, strict=True)])
        longest, shortest = (ends - starts).max(axis=0), 0
        for width in _WIDTHS:
            is_here = (longest >= shortest) & (longest < width)
            for side in (0, 1):
                is_here &= (starts[side] + width <= len(data[side])) & (ends[side] >= width)
            shortest = width
            if is_here.any():
                chosen = np.flatnonzero(is_here)
                windows = [np.lib.stride_tricks.sliding_window_view(each, width) for each in data]
                heads = np.stack([windows[side][starts[side, chosen]] for side in (0, 1)])
                tails = np.stack([windows[side][ends[side, chosen] - width, ::-1] for side in (0, 1)])
                yield _Pairs(first + chosen, (ends - starts)[:, chosen], heads, tails)


def _same(sides: Bytes, most: Ints) -> Ints:
    """Return how many bytes, at most so many, both sides begin with."""
    differs = (sides[0] != sides[1]) | (np.arange(sides.shape[2]) >= most[:, None])
    same: Ints = differs.argmax(axis=1)
    return same


def _up_to_border(side: Bytes, most: Ints) -> Ints:
    """Return the place behind the last sign, among so many, that borders words."""
    places = np.arange(1, side.shape[1] + 1, dtype=np.int16)
    borders: Ints = np.where(_SIGNS[side] & (places <= most[:, None]), places, 0).max(axis=1).astype(np.int64)
    return borders


def _parts_number(sides: Bytes, lengths: Ints, place: Ints) -> Bools:
    """Tell where a border on either side has several digits around it."""
    is_parted = np.zeros(len(place), bool)
    rows = np.arange(len(place))
    for side, length in zip(sides, lengths, strict=True):
        digits = np.zeros(len(place), np.int64)
        for step in (-2, -1, 0, 1):
            at = place + step
            digits += _DIGITS[side[rows, at.clip(0, side.shape[1] - 1)]] & (at >= 0) & (at < length)
        is_parted |= (digits > 1) & (place > 0) & (place < length)
    return is_parted


def _is_word(side: Bytes, start: Ints, length: Ints) -> Bools:
    """Tell where nothing, or a letter followed by letters and digits, stands from ``start`` on."""
    places = np.arange(side.shape[1])
    is_inside = (places >= start[:, None]) & (places < (start + length)[:, None])
    has_sign = (is_inside & ~(_LETTERS | _DIGITS)[side]).any(axis=1)
    first = side[np.arange(len(start)), np.minimum(start, side.shape[1] - 1)]
    is_word: Bools = ~has_sign & ((length == 0) | _LETTERS[first])
    return is_word


def _among(signs: str) -> Bools:
    return np.isin(np.arange(256), np.frombuffer(signs.encode(), np.uint8))


_WIDE = (np.arange(256) >= 128) | (np.arange(256) == ord("\t"))
"""Bytes that take another number of cells than one."""
_DIGITS = _among("0123456789")
_LETTERS = _among("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_SIGNS = _among(" \t\n\r\v\f\x1c\x1d\x1e\x1f,.;:!?()|")
