"""Lines that were moved and edited: clearly the same line at another place, with a number or a few words changed.

A row of a table is known by its name, any other line by its words; where another line is about as like, neither is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Indel

from core.versions.diff.lines import Lines, encode
from core.versions.diff.row_names import NamedRows, RowNames

Ints = npt.NDArray[np.int64]
Both = tuple[Ints, Ints]
Pair = tuple[int, int]

_MOST_TABLES = 200
_MOST_FRAMES = 50_000
_MOST_COMPARED = 1_000
_MOST_LINES = 20_000
_MOST_HELD = 2_000_000
_LONG_FRAME = 16
_LONG_LINE = 40
"""Bytes that a line needs, without its digits and with them, to be known at another place."""
_LIKE, _RIVAL = 0.75, 0.15
"""How like two lines are at least, from 0 to 1, and by how much they are more so than any other line."""
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def edited_moves(lines: tuple[Lines, Lines], left: Both, is_spent: Callable[[], bool]) -> list[Pair]:
    """Return pairs of the lines that are ``left`` on both sides, in the order of the old side."""
    if not len(left[0]) or not len(left[1]):
        return []
    in_table = [side.is_table(places) for side, places in zip(lines, left, strict=True)]
    rows = left[0][in_table[0]], left[1][in_table[1]]
    others = left[0][~in_table[0]], left[1][~in_table[1]]
    pairs = [*_rows_by_name(lines, rows)] if len(rows[0]) and len(rows[1]) else []
    if len(others[0]) and len(others[1]) and not is_spent():
        pairs += _lines_by_words(lines, others)
    return sorted(pairs)


def _rows_by_name(lines: tuple[Lines, Lines], left: Both) -> Iterator[Pair]:
    """Yield rows of tables with the same titles whose name occurs once in either table."""
    names = RowNames(lines)
    tables = [names.tables_of(side, places) for side, places in enumerate(left)]
    if len(tables[0]) * len(tables[1]) > _MOST_TABLES:
        return
    taken: set[int] = set()
    for (old_table, old), (new_table, new) in product(*(each.items() for each in tables)):
        if not old_table.header.strip() or old_table.header != new_table.header:
            continue
        named = names.between(old[0], new[0])
        if named is None:
            continue
        for first, second in _same_names(named, lines, (old, new)):
            if first not in taken and second + len(lines[0]) not in taken:
                taken |= {first, second + len(lines[0])}
                yield first, second


def _same_names(named: NamedRows, lines: tuple[Lines, Lines], left: tuple[list[int], list[int]]) -> Iterator[Pair]:
    sides = [
        {name: place for name, place in zip(named.of(side, lines[side].texts_at(places)), places, strict=True) if name}
        for side, places in enumerate(left)
    ]
    for name, place in sides[0].items():
        if name in sides[1] and named.is_single(name):
            yield place, sides[1][name]


def _lines_by_words(lines: tuple[Lines, Lines], left: Both) -> list[Pair]:
    pairs = _same_frames(lines, left)
    taken = {old for old, _ in pairs}, {new for _, new in pairs}
    free = [[place for place in places.tolist() if place not in done] for places, done in zip(left, taken, strict=True)]
    if max(map(len, free)) <= _MOST_COMPARED and max(map(len, lines)) <= _MOST_LINES:
        pairs += _alike(lines, free)
    return pairs


def _same_frames(lines: tuple[Lines, Lines], left: Both) -> list[Pair]:
    """Pair lines that differ in digits alone and that no other line of either text is like."""
    if max(map(len, lines)) > _MOST_FRAMES:
        return []
    frames = [[_DIGITS.sub("0", text) for text in side.texts(0, len(side))] for side in lines]
    counts = [Counter(side) for side in frames]
    place = {frames[1][new]: new for new in left[1].tolist()}
    return [
        (old, place[frame])
        for old in left[0].tolist()
        if (frame := frames[0][old]) in place
        and counts[0][frame] == counts[1][frame] == 1
        and len(encode(frame.replace("0", "").strip())) >= _LONG_FRAME
    ]


def _alike(lines: tuple[Lines, Lines], left: list[list[int]]) -> list[Pair]:
    """Pair lines that are like each other and like nothing else in either text."""
    texts = [side.texts_at(places) for side, places in zip(lines, left, strict=True)]
    kept = [[at for at, text in enumerate(side) if len(encode(text)) >= _LONG_LINE] for side in texts]
    if not all(kept):
        return []
    words = [[texts[side][at] for at in kept[side]] for side in (0, 1)]
    similar = process.cdist(*words, scorer=Indel.normalized_similarity, score_cutoff=_LIKE, dtype=np.float32)
    best, best_back = similar.argmax(axis=1), similar.argmax(axis=0)
    found = [
        (old, new) for old, new in enumerate(best.tolist()) if similar[old, new] >= _LIKE and best_back[new] == old
    ]
    whole = [side.texts(0, len(side)) for side in lines]
    pairs = []
    for old, new in found[: _MOST_HELD // max(map(len, lines))]:
        places = left[0][kept[0][old]], left[1][kept[1][new]]
        if all(
            not _has_rival(whole[other][places[other]], whole[side], places[side], float(similar[old, new]))
            for side, other in ((1, 0), (0, 1))
        ):
            pairs.append(places)
    return pairs


def _has_rival(text: str, lines: list[str], place: int, similarity: float) -> bool:
    """Tell whether another line than the one at ``place`` is nearly as like ``text``."""
    others = [*lines[:place], *lines[place + 1 :]]
    cutoff = similarity - _RIVAL
    rival = process.extractOne(text, others, scorer=Indel.normalized_similarity, score_cutoff=cutoff)
    return rival is not None
