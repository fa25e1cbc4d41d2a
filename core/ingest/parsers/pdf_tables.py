"""Tables of a PDF page that ruled lines mark: their cells from the lines, their text from its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingest.parsers.pdf_page import Box, Line, Page
from core.ingest.parsers.tables import row_text
from core.ingest.parsers.wording import join_lines, squeeze

NEAR = 3.0
"""Lines closer than this, in points, meet."""
MAX_RULES = 3_000


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table with its place on the page and its rows, cell by cell; a merged cell stands in each row that it spans."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    edges: tuple[int, ...]

    @property
    def lines(self) -> list[str]:
        return [line for line in map(row_text, self.rows) if line]


def ruled_tables(page: Page) -> tuple[list[RuledTable], list[Line]]:
    """Return the tables of a page and the lines that stand in none."""
    found: list[RuledTable] = []
    left = page.lines
    if not page.rules or len(page.rules) > MAX_RULES:
        return found, left
    for rules in _connected(page.rules):
        uprights = [rule[0] for rule in rules if _is_vertical(rule)]
        levels = [rule for rule in rules if not _is_vertical(rule)]
        if not uprights or not levels:
            continue
        # The outer uprights of a table are often not drawn: its horizontal rules say where it ends.
        xs = _clusters([*uprights, min(rule[0] for rule in levels), max(rule[2] for rule in levels)])
        ys = _clusters([rule[1] for rule in levels])
        if len(xs) < 3 or len(ys) < 2 or len(xs) > 200 or len(ys) > 500:
            continue
        inside = [line for line in left if _is_inside(line, xs, ys)]
        rows = _cells(inside, rules, xs, ys)
        if sum(sum(map(bool, row)) > 1 for row in rows) < 1 or not inside:
            continue
        found.append(RuledTable((xs[0], ys[0], xs[-1], ys[-1]), rows, tuple(round(x) for x in xs)))
        taken = set(map(id, inside))
        left = [line for line in left if id(line) not in taken]
    return found, left


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


def _is_inside(line: Line, xs: list[float], ys: list[float]) -> bool:
    x, y = (line.box[0] + line.box[2]) / 2, (line.box[1] + line.box[3]) / 2
    return xs[0] <= x <= xs[-1] and ys[0] <= y <= ys[-1]


def _cells(lines: list[Line], rules: list[Box], xs: list[float], ys: list[float]) -> tuple[tuple[str, ...], ...]:
    width, height = len(xs) - 1, len(ys) - 1
    cells = [["" for _ in range(width)] for _ in range(height)]
    levels = [rule for rule in rules if not _is_vertical(rule)]
    ruled = [
        [any(abs(rule[1] - ys[row]) <= NEAR and rule[0] - NEAR <= middle <= rule[2] + NEAR for rule in levels)
         for middle in ((xs[column] + xs[column + 1]) / 2 for column in range(width))]
        for row in range(height)
    ]  # fmt: skip
    for line in sorted(lines, key=lambda line: (round((line.box[1] + line.box[3]) / 2), line.box[0])):
        column = min(max(bisect_right(xs, line.box[0] + NEAR) - 1, 0), width - 1)
        row = min(max(bisect_right(ys, (line.box[1] + line.box[3]) / 2) - 1, 0), height - 1)
        while row > 0 and not ruled[row][column]:
            row -= 1
        cells[row][column] = join_lines(cells[row][column], line.text.strip())
    for row in range(1, height):
        for column in range(width):
            if not ruled[row][column] and not cells[row][column]:
                cells[row][column] = cells[row - 1][column]
    distinct = [row for number, row in enumerate(cells) if number == 0 or row != cells[number - 1]]
    return tuple(tuple(map(squeeze, row)) for row in distinct)
