"""Cuts very long lines into pieces where the text around suggests it, so that an edit moves few borders."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

LONGEST_LINE = 2_000
"""Characters beyond which a line is cut."""
_SHORTEST_PIECE, _LONGEST_PIECE = 60, 2_000
_SLICE_BYTES = 1 << 22
_SENTENCE_END = re.compile(
    rb"[.!?\xe3\xef](?:(?<=[.!?])[.!?\"')\]]*\s+|(?:(?<=\xe3)\x80\x82|(?<=\xef)\xbc[\x81\x9f])(?:\xe3\x80[\x8d\x8f])?)"
)
_FORBIDDEN = np.uint32(0xFFFFFFFF)
_WORD_INSIDE = np.uint32(0x80000000)


def cut_long_lines(data: bytes, starts: Ints, ends: Ints, is_long: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the borders of all lines when those marked as long are cut; the pieces touch each other."""
    kept = np.flatnonzero(~is_long)
    all_starts, all_ends = [starts[kept]], [ends[kept]]
    for index in np.flatnonzero(is_long).tolist():
        first, last = int(starts[index]), int(ends[index])
        inner = np.array(_borders(data, first, last), np.int64)
        all_starts.append(np.concatenate(([first], inner)))
        all_ends.append(np.concatenate((inner, [last])))
    return np.sort(np.concatenate(all_starts)), np.sort(np.concatenate(all_ends))


def _borders(data: bytes, first: int, last: int) -> list[int]:
    """Return the inner borders: ends of sentences, and further ones where a sentence is too long itself."""
    borders: list[int] = []
    done = first
    for match in _SENTENCE_END.finditer(data, first, last):
        end = match.end()
        if end - done >= _SHORTEST_PIECE and end < last:
            if end - done > _LONGEST_PIECE:
                borders += _borders_within(data, done, end)
            borders.append(end)
            done = end
    if last - done > _LONGEST_PIECE:
        borders += _borders_within(data, done, last)
    return borders


def _borders_within(data: bytes, first: int, last: int) -> list[int]:
    """Cut where the hash of the bytes before is lowest, after white space if there is any, never inside a character."""
    borders = []
    done = first
    while last - done > _LONGEST_PIECE:
        reach = min(done + _SLICE_BYTES, last)
        order = _order(data, done, reach)
        base = done
        while reach - done > _LONGEST_PIECE:
            low, high = done - base + _LONGEST_PIECE // 4, done - base + _LONGEST_PIECE
            done = base + low + int(order[low:high].argmin())
            borders.append(done)
    return borders


def _order(data: bytes, first: int, last: int) -> npt.NDArray[np.uint32]:
    """Return for each place how well it suits a border before it: the lower the better. Shape ``(last - first,)``."""
    codes = np.frombuffer(data, np.uint8, last - first, first)
    hashes = (codes.astype(np.uint32) + np.uint32(1)) * np.uint32(2654435761)
    for distance in (1, 2, 4):
        hashes[distance:] = hashes[distance:] + hashes[:-distance] * np.uint32(40503)
    hashes = (hashes ^ (hashes >> np.uint32(15))) & ~_WORD_INSIDE
    after_space = np.zeros(len(codes), bool)
    after_space[1:] = codes[:-1] == ord(" ")
    hashes[~after_space] |= _WORD_INSIDE
    hashes[(codes & 0xC0) == 0x80] = _FORBIDDEN
    return hashes
