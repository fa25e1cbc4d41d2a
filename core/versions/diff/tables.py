"""Rows of tables: which columns are the same on both sides, which row became which, and what changed in each cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from core.ingest.parsers.tables import CELL_JOINT
from core.model import CellPair, Change, Segment
from core.versions.diff.pairing import Floats, Pair, best_pairs, line_similarity
from core.versions.diff.words import mirrored

Cells = list[str]
Columns = Mapping[int, int]
"""Old column to new column, counted from 0."""
Words = Callable[[str, str], tuple[Segment, ...]]

_SAMPLE_ROWS = 100
_MANY_COLUMNS = 60
_MOVED_SUPPORT = 3.0
_KEY_WORTH = 0.3


def cells_of(line: str) -> Cells:
    """Return the cells of a row; joined by ``CELL_JOINT`` they are the line."""
    return line.split(CELL_JOINT)


def row_similarity(old: Sequence[str], new: Sequence[str]) -> Floats:
    """Return how alike rows are, from 0 to 1: by cells, by words, and by the first cell, which often names a row."""
    similar = line_similarity([_without_bars(line) for line in old], [_without_bars(line) for line in new])
    old_cells, new_cells = [cells_of(line) for line in old], [cells_of(line) for line in new]
    old_keys = np.array([cells[0] for cells in old_cells], dtype=object)
    new_keys = np.array([cells[0] for cells in new_cells], dtype=object)
    same_key = (old_keys[:, None] == new_keys[None, :]) & (old_keys != "")[:, None]
    new_sets = [frozenset(cells) for cells in new_cells]
    shared = np.array([[_shared(left, right) for right in new_sets] for left in map(frozenset, old_cells)], np.float32)
    worth: Floats = np.minimum(1.0, np.maximum(similar, shared) + np.where(same_key, _KEY_WORTH, 0.0), dtype=np.float32)
    return worth


def _without_bars(line: str) -> str:
    return line.replace(CELL_JOINT, " ")


def _shared(old: frozenset[str], new: frozenset[str]) -> float:
    return len(old & new) / max(len(old), len(new))


def column_map(rows: Sequence[tuple[Cells, Cells]], old_header: str, new_header: str) -> Columns:
    """Return which old column is which new one, from the headers and from the cells of paired rows."""
    rows = rows[:_SAMPLE_ROWS]
    old_count = max(len(old) for old, _new in rows)
    new_count = max(len(new) for _old, new in rows)
    if old_header == new_header and old_count == new_count:
        return {column: column for column in range(old_count)}
    if max(old_count, new_count) > _MANY_COLUMNS:
        return _in_order_of_cells(*rows[0])
    votes: dict[Pair, float] = defaultdict(float)
    _vote(votes, cells_of(old_header), cells_of(new_header), max(_MOVED_SUPPORT, float(len(rows))))
    for old, new in rows:
        _vote(votes, old, new, 1.0)
    chosen = _chosen(votes)
    return _filled(chosen, old_count, new_count, rows)


def _in_order_of_cells(old: Cells, new: Cells) -> Columns:
    """Pair the columns of very wide rows by the cells of one row, and those between one by one."""
    columns: dict[int, int] = {}
    for code in Levenshtein.opcodes(old, new):
        columns.update(zip(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end), strict=False))
    return columns


def _vote(votes: dict[Pair, float], old: Cells, new: Cells, weight: float) -> None:
    places: dict[str, list[int]] = defaultdict(list)
    for column, cell in enumerate(new):
        places[cell].append(column)
    for column, cell in enumerate(old):
        if cell.strip():
            for other in places.get(cell, ()):
                votes[column, other] += weight / len(places[cell])


def _chosen(votes: Mapping[Pair, float]) -> dict[int, int]:
    """Take the pairs with most votes; those that cross the others need more support than one row can give."""
    order = sorted(votes, key=lambda pair: (-votes[pair], abs(pair[0] - pair[1]), pair))
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for old, new in order:
        if old in chosen or new in taken:
            continue
        crosses = any((other_old < old) != (other_new < new) for other_old, other_new in chosen.items())
        if not crosses or votes[old, new] >= _MOVED_SUPPORT:
            chosen[old] = new
            taken.add(new)
    return chosen


def _filled(chosen: dict[int, int], old_count: int, new_count: int, rows: Sequence[tuple[Cells, Cells]]) -> Columns:
    """Pair also the columns between those chosen: one by one where they are as many, else those that are similar."""
    filled = dict(chosen)
    border = (-1, -1)
    for old, new in [*sorted(chosen.items()), (old_count, new_count)]:
        if new < border[1]:
            continue
        left = [column for column in range(border[0] + 1, old) if column not in filled]
        right = [column for column in range(border[1] + 1, new) if column not in filled.values()]
        if len(left) == len(right):
            filled.update(zip(left, right, strict=True))
        elif left and right:
            similar = np.array([[_column_similarity(rows, one, other) for other in right] for one in left], np.float32)
            filled.update((left[first], right[second]) for first, second in best_pairs(similar))
        border = (old, new)
    return filled


def _column_similarity(rows: Sequence[tuple[Cells, Cells]], old: int, new: int) -> float:
    found = [
        float(line_similarity([left[old]], [right[new]])[0, 0])
        for left, right in rows[:10]
        if old < len(left) and new < len(right)
    ]
    return sum(found) / len(found) if found else 0.0


def cell_pairs(old: Cells, new: Cells, columns: Columns, words: Words) -> tuple[CellPair, ...]:
    """Return the cells of a changed row in the order of the new columns, removed ones behind their left neighbour."""
    pairs = [
        _paired(old[left], new[right], left, right, words)
        for left, right in columns.items()
        if left < len(old) and right < len(new)
    ]
    seen_old, seen_new = {pair.old_column for pair in pairs}, {pair.new_column for pair in pairs}
    pairs += [CellPair(Change.REMOVED, cell, None, at, None) for at, cell in enumerate(old, 1) if at not in seen_old]
    pairs += [CellPair(Change.ADDED, None, cell, None, at) for at, cell in enumerate(new, 1) if at not in seen_new]
    return _in_order(pairs)


def _paired(old: str, new: str, old_column: int, new_column: int, words: Words) -> CellPair:
    if old == new:
        return CellPair(Change.EQUAL, old, new, old_column + 1, new_column + 1)
    return CellPair(Change.CHANGED, old, new, old_column + 1, new_column + 1, words(old, new))


def _in_order(pairs: Iterable[CellPair]) -> tuple[CellPair, ...]:
    """Sort cells by their columns alone, so that swapping the sides twice changes nothing."""
    kept = sorted((pair for pair in pairs if pair.new_column is not None), key=lambda pair: pair.new_column or 0)
    for removed in sorted((pair for pair in pairs if pair.new_column is None), key=lambda pair: pair.old_column or 0):
        before = [place for place, pair in enumerate(kept) if (pair.old_column or 0) == (removed.old_column or 0) - 1]
        kept.insert(before[0] + 1 if before else 0, removed)
    return tuple(kept)


_SWAPPED = {Change.ADDED: Change.REMOVED, Change.REMOVED: Change.ADDED}


def mirrored_cells(cells: Iterable[CellPair]) -> tuple[CellPair, ...]:
    """Return the cells as they are when the sides are swapped."""
    return _in_order(
        [
            CellPair(
                _SWAPPED.get(cell.change, cell.change),
                cell.new,
                cell.old,
                cell.new_column,
                cell.old_column,
                mirrored(cell.words),
            )
            for cell in cells
        ]
    )
