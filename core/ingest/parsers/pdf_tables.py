"""Tables of a PDF page that ruled lines mark: their cells from the lines, their text from its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.ingest.parsers.pdf_page import Page, PageLine
from core.ingest.parsers.pdf_turn import Box, prevailing, turned
from core.ingest.parsers.tables import row_text
from core.ingest.parsers.wording import join_typeset, squeeze

NEAR = 3.0
"""Lines closer than this, in points, meet."""
MAX_RULES = 3_000
SHIFT = 6.0
"""Columns of a table that goes on elsewhere are shifted against each other by less, in points."""


@dataclass(frozen=True, slots=True)
class PdfTable:
    """A table with its place on the page and its rows, cell by cell; a merged cell stands in its first row.

    ``columns`` are their left and right edges.
    """

    box: Box
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[float, float], ...]
    has_header: bool = True

    @property
    def lines(self) -> list[str]:
        return [line for line in map(row_text, self.rows) if line]

    def goes_on_in(self, other: PdfTable) -> bool:
        """Whether the columns of a table on the next page, or in the next column of this one, are the same."""
        if len(self.columns) != len(other.columns):
            return False
        here, there = self.columns[0][0], other.columns[0][0]
        return all(
            abs(left - here - other_left + there) < SHIFT or abs(right - here - other_right + there) < SHIFT
            for (left, right), (other_left, other_right) in zip(self.columns, other.columns, strict=True)
        )


def ruled_tables(page: Page) -> tuple[list[PdfTable], list[PageLine]]:
    """Return the tables of a page and the lines that stand in none."""
    found: list[PdfTable] = []
    left = page.lines
    if not page.rules or len(page.rules) > MAX_RULES:
        return found, left
    for rules in _connected(page.rules):
        grid = _grid(rules)
        if grid is None:
            continue
        inside = [line for line in left if _is_inside(page.place(line), *grid)]
        box = grid[0][0], grid[1][0], grid[0][-1], grid[1][-1]
        turn = prevailing(line.length for line in inside)
        if turn:
            rules = [turned(rule, turn, page.size) for rule in rules]
            grid = _grid(rules) or grid
        rows = _cells([(line, page.place(line, turn)) for line in _in_order(inside)], rules, *grid)
        if sum(sum(map(bool, row)) > 1 for row in rows) < 1 or not inside:
            continue
        found.append(PdfTable(box, rows, tuple(pairwise(grid[0]))))
        taken = set(map(id, inside))
        left = [line for line in left if id(line) not in taken]
    return found, left


def _grid(rules: list[Box]) -> tuple[list[float], list[float]] | None:
    """Where the columns and the rows of a table begin and end."""
    uprights = [rule[0] for rule in rules if _is_vertical(rule)]
    levels = [rule for rule in rules if not _is_vertical(rule)]
    if not uprights or not levels:
        return None
    # The outer uprights of a table are often not drawn: its horizontal rules say where it ends.
    xs = _clusters([*uprights, min(rule[0] for rule in levels), max(rule[2] for rule in levels)])
    ys = _clusters([rule[1] for rule in levels])
    return None if len(xs) < 3 or len(ys) < 2 or len(xs) > 200 or len(ys) > 500 else (xs, ys)


def _is_vertical(rule: Box) -> bool:
    return rule[3] - rule[1] > rule[2] - rule[0]


def _clusters(values: Sequence[float]) -> list[float]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > NEAR:
            places.append(value)
    return places


def _connected(rules: list[Box]) -> list[list[Box]]:
    """The rules in groups whose members touch, directly or through others."""
    groups: list[tuple[list[float], list[Box]]] = []
    for rule in sorted(rules, key=lambda rule: (rule[1], rule[0])):
        grown = [rule[0] - NEAR, rule[1] - NEAR, rule[2] + NEAR, rule[3] + NEAR]
        members = [rule]
        apart = []
        for box, others in groups:
            if box[0] <= grown[2] and grown[0] <= box[2] and box[1] <= grown[3] and grown[1] <= box[3]:
                grown = [min(box[0], grown[0]), min(box[1], grown[1]), max(box[2], grown[2]), max(box[3], grown[3])]
                members = others + members
            else:
                apart.append((box, others))
        groups = [*apart, (grown, members)]
    return [members for _, members in groups if len(members) > 4]


def _in_order(lines: list[PageLine]) -> list[PageLine]:
    """The lines of cells from top to bottom, as those of each turn read."""
    return sorted(lines, key=lambda line: (line.turn, round((line.box[1] + line.box[3]) / 2), line.box[0]))


def _is_inside(box: Box, xs: list[float], ys: list[float]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return xs[0] <= x <= xs[-1] and ys[0] <= y <= ys[-1]


def _cells(
    lines: list[tuple[PageLine, Box]], rules: list[Box], xs: list[float], ys: list[float]
) -> tuple[tuple[str, ...], ...]:
    width, height = len(xs) - 1, len(ys) - 1
    cells = [["" for _ in range(width)] for _ in range(height)]
    levels = [rule for rule in rules if not _is_vertical(rule)]
    ruled = [
        [any(abs(rule[1] - ys[row]) <= NEAR and rule[0] - NEAR <= middle <= rule[2] + NEAR for rule in levels)
         for middle in ((xs[column] + xs[column + 1]) / 2 for column in range(width))]
        for row in range(height)
    ]  # fmt: skip
    for line, box in lines:
        column = min(max(bisect_right(xs, box[0] + NEAR) - 1, 0), width - 1)
        row = min(max(bisect_right(ys, (box[1] + box[3]) / 2) - 1, 0), height - 1)
        while row > 0 and not ruled[row][column]:
            row -= 1
        cells[row][column] = join_typeset(cells[row][column], line.text.strip())
    return tuple(tuple(map(squeeze, row)) for row in cells if any(row))
