"""What names the rows of a table: rows that have different names are different rows, however alike they are."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from core.versions.diff.anchors import longest_rise
from core.versions.diff.lines import Lines
from core.versions.diff.pairing import SIMILAR, Floats, Pair
from core.versions.diff.tables import Cells, cells_of, row_similarity

Ints = npt.NDArray[np.int64]

_SAMPLE_ROWS = 1_000
_MOST_NAMES = 50_000
_NAME_COLUMNS = 3
_MOST = 0.8
_UNLIKE = 0.9
_SAME_NAME = 0.6
_LIKE_NAMES = 0.8
_NUMBER = re.compile(r"[-+−¥$€£]?\s?\d[\d.,'/:\s]*\s?%?")
_DIGITS = re.compile(r"\d+")
_LONGEST_COUNT = 9


class Table(NamedTuple):
    """The lines of a table on one side, from ``first`` up to, not including, ``last``, and its header row."""

    side: int
    first: int
    last: int
    header: str


class RowNames:
    """Knows the tables of both sides and which column names their rows; what was found is kept."""

    def __init__(self, lines: tuple[Lines, Lines]) -> None:
        self._lines = lines
        self._columns: dict[tuple[Table, Table], tuple[int, int] | None] = {}
        self._known: dict[tuple[Table, int], Counter[str]] = {}

    def between(self, old: int, new: int) -> NamedRows | None:
        """Return the names of the tables that hold these two lines; none where no column names their rows."""
        tables = self._table(0, old), self._table(1, new)
        if tables not in self._columns:
            self._columns[tables] = self._chosen(*tables)
        columns = self._columns[tables]
        if columns is None:
            return None
        return NamedRows(columns, (self._names(tables[0], columns[0]), self._names(tables[1], columns[1])))

    def tables_of(self, side: int, places: Ints) -> dict[Table, list[int]]:
        """Return the tables that some rows of one side belong to, each with those rows."""
        found: dict[Table, list[int]] = {}
        for place in places.tolist():
            found.setdefault(self._table(side, place), []).append(place)
        return found

    def _table(self, side: int, line: int) -> Table:
        borders = self._borders[side]
        at = int(np.searchsorted(borders, line, "right"))
        last = int(borders[at]) if at < len(borders) else len(self._lines[side])
        return Table(side, int(borders[at - 1]), last, self._lines[side].place(line).header)

    @cached_property
    def _borders(self) -> tuple[Ints, Ints]:
        """For each side, the lines where a table begins or ends."""
        found = []
        for lines in self._lines:
            known: dict[str, int] = {}
            numbers = np.array([known.setdefault(place.header, len(known)) for place in lines.places], np.int64)
            table = np.where(lines.is_table(np.arange(len(lines))), numbers[lines.place_of], -1)
            found.append(np.concatenate(([0], np.flatnonzero(np.diff(table)) + 1)))
        return found[0], found[1]

    def _chosen(self, old: Table, new: Table) -> tuple[int, int] | None:
        """Return the column of names on each side: the one that most rows still have, of texts rather than numbers."""
        rows, others = self._rows(old, _SAMPLE_ROWS), self._rows(new, _SAMPLE_ROWS)
        found: list[tuple[float, bool, int, int]] = []
        for column in range(_NAME_COLUMNS):
            other = _same_title(cells_of(old.header), cells_of(new.header), column)
            names, other_names = _unlike(rows, column), _unlike(others, other)
            if not names or not other_names:
                continue
            is_text = _are_texts(names) and _are_texts(other_names)
            if is_text or (column == 0 and not _only_count(names) and not _only_count(other_names)):
                shared = len({*names} & {*other_names}) / min(len(names), len(other_names))
                found.append((shared, is_text, -column, other))
        if not found:
            return None
        _shared, _is_text, column, other = max(found)
        return -column, other

    def _names(self, table: Table, column: int) -> Counter[str]:
        key = table, column
        if key not in self._known:
            self._known[key] = Counter(_name(row, column) for row in self._rows(table, _MOST_NAMES))
        return self._known[key]

    def _rows(self, table: Table, most: int) -> list[Cells]:
        texts = self._lines[table.side].texts(table.first, min(table.last, table.first + most))
        return [cells_of(text) for text in texts if text != table.header]


class NamedRows:
    """Rows of two tables whose names stand in ``columns``; ``known`` counts all names of either table."""

    def __init__(self, columns: tuple[int, int], known: tuple[Counter[str], Counter[str]]) -> None:
        self._columns = columns
        self._known = known

    def of(self, side: int, lines: Sequence[str]) -> list[str]:
        """Return the names of some rows of one side."""
        return [_name(cells_of(line), self._columns[side]) for line in lines]

    def is_single(self, name: str) -> bool:
        """Tell whether one row alone has this name on either side."""
        return self._known[0][name] == self._known[1][name] == 1

    def pairs(self, old: Sequence[str], new: Sequence[str]) -> list[Pair]:
        """Pair rows in order by their names, where most rows have one that occurs once on both sides."""
        places, others = self._places(0, old), self._places(1, new)
        partner = [(place, others[name]) for name, place in places.items() if name in others]
        if 2 * len(partner) < min(len(old), len(new)):
            return []
        rising = longest_rise(np.array([new_place for _old_place, new_place in partner], np.int64))
        return [partner[place] for place in rising.tolist()]

    def similarity(self, old: Sequence[str], new: Sequence[str]) -> Floats:
        """Return how alike rows are, from 0 to 1; those that are named otherwise are not alike unless renamed."""
        worth = row_similarity(old, new)
        rows, others = [cells_of(line) for line in old], [cells_of(line) for line in new]
        names, other_names = (
            [_name(row, self._columns[0]) for row in rows],
            [_name(row, self._columns[1]) for row in others],
        )
        for at, name in enumerate(names):
            for other_at, other in enumerate(other_names):
                if name == other != "":
                    worth[at, other_at] = max(worth[at, other_at], _SAME_NAME)
                elif (
                    name
                    and other
                    and worth[at, other_at] >= SIMILAR
                    and not self._is_renamed((rows[at], others[other_at]), name, other)
                ):
                    worth[at, other_at] = 0.0
        return worth

    def _is_renamed(self, rows: tuple[Cells, Cells], old: str, new: str) -> bool:
        if old in self._known[1] or new in self._known[0]:
            return False
        left, right = (
            Counter(cell for at, cell in enumerate(row) if at != column and cell.strip())
            for row, column in zip(rows, self._columns, strict=True)
        )
        if left == right and left.total() > 1:
            return True
        is_like = Indel.normalized_similarity(old, new) >= _LIKE_NAMES and _DIGITS.findall(old) == _DIGITS.findall(new)
        return is_like and 2 * (left & right).total() >= max(left.total(), right.total(), 1)

    def _places(self, side: int, lines: Sequence[str]) -> dict[str, int]:
        names = self.of(side, lines)
        counts = Counter(names)
        return {name: place for place, name in enumerate(names) if name and counts[name] == 1}


def _same_title(old: Cells, new: Cells, column: int) -> int:
    """Return which column of the new header has the title of an old one."""
    title = old[column] if column < len(old) else ""
    return new.index(title) if title.strip() and old.count(title) == new.count(title) == 1 else column


def _unlike(rows: Sequence[Cells], column: int) -> list[str]:
    """Return the names in a column if nearly all rows have one there and hardly two the same; else none."""
    names = [name for row in rows if (name := _name(row, column))]
    if len(names) < _MOST * len(rows) or len(set(names)) < _UNLIKE * len(names):
        return []
    return names


def _are_texts(names: Sequence[str]) -> bool:
    return 2 * sum(bool(_NUMBER.fullmatch(name)) for name in names) < len(names)


def _only_count(names: Sequence[str]) -> bool:
    """Tell whether names only number the rows: 1, 2, 3."""
    numbers = [int(name) for name in names if name.isdecimal() and len(name) <= _LONGEST_COUNT]
    steps = sum(after - before == 1 for before, after in pairwise(numbers))
    return bool(numbers) and min(numbers) <= 1 and steps >= _MOST * (len(names) - 1)


def _name(row: Cells, column: int) -> str:
    """Return a row's name without what is only writing: widths of signs, capitals, white space."""
    return " ".join(unicodedata.normalize("NFKC", row[column]).casefold().split()) if column < len(row) else ""
