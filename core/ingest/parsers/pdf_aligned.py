"""Tables of a PDF that no uprights mark: their columns are what the blanks between aligned texts part.

What stands at one height is a slot. Slots that follow each other belong to one table as long as some blanks run through
all of them. Rules and shades part its rows, else gaps that are wider than those between the lines of a cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise

from core.ingest.parsers.pdf_page import PageLine
from core.ingest.parsers.pdf_tables import PdfTable
from core.ingest.parsers.pdf_turn import Box
from core.ingest.parsers.wording import first_word_width, is_wide, join_typeset, squeeze

MAX_LINES = 2_000
"""A column of more lines is read as text: what aligns there is not worth the time."""
STRIP = 0.4
"""The narrowest blank between two columns, in sizes of the text."""
APART = 2.2
"""Slots with more space between them, in sizes of the text, are not of one table."""
LETTERS = 0.9
"""The height of a line's letters in sizes of its text, around the middle of its box."""
FEW_ROWS = 3
NEAR_SLOTS = 8
ALIGNED = 1.0
"""Texts whose edges are this close, in points, are aligned."""
ALIGNED_ROWS = 0.75
"""Share of the texts of a column that are aligned with each other where nothing is drawn."""
BESIDE = 12.0
"""How far, in points, the outer rules and shades of a table may stand from its text."""
TEXT_CHARS = 12
"""Lines of running text have more characters, half as many in Japanese."""
_MARK = re.compile(
    r"(?:[•·∙‣▪■□◆◇●○◦➢✓※–\-*・]|[①-⑳]|\(?(?:\w{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?\)?)|\(\w{1,3}\)|\[\d{1,3}\])\Z"
)
_LEADERS = re.compile(r"(?:\.\s?|…\s?|・){5,}")
_FIGURE = re.compile(r"[\d.,:;%+\-–−/()\s¥$€£]*\d[\d.,:;%+\-–−/()\s¥$€£]*\Z")

Span = tuple[float, float]


@dataclass(slots=True)
class _Slot:
    top: float
    bottom: float
    lines: list[PageLine]
    pieces: list[PageLine] = field(default_factory=list)
    """Its texts, those apart that a blank parts which others near it share."""

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def spans(self) -> list[Span]:
        """What it covers from left to right, blanks that are narrower than a strip included."""
        return _merged(((piece.box[0], piece.box[2]) for piece in self.pieces), STRIP * self.size)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn around the text of a page: level rules and shades."""

    levels: Sequence[Box]
    shades: Sequence[Box]

    def borders(self, box: Box) -> list[float]:
        """The heights at which rules, or edges of shades, cross most of a box."""
        left, top, right, bottom = box
        marks = [(rule[1], rule[0], rule[2]) for rule in self.levels]
        marks += [(y, shade[0], shade[2]) for shade in self.shades for y in (shade[1], shade[3])]
        groups: list[list[tuple[float, float, float]]] = []
        for mark in sorted(mark for mark in marks if top - BESIDE <= mark[0] <= bottom + BESIDE):
            if groups and mark[0] - groups[-1][-1][0] <= 1.5:
                groups[-1].append(mark)
            else:
                groups.append([mark])
        found = []
        for group in groups:
            spans = _merged(((start, end) for _, start, end in group), 1.0)
            if sum(max(0.0, min(end, right) - max(start, left)) for start, end in spans) > 0.7 * (right - left):
                found.append(group[0][0])
        return found


def aligned_tables(lines: Sequence[PageLine], drawn: Drawn, leading: float) -> tuple[list[PdfTable], list[PageLine]]:
    """Return the tables among the lines of one column, and the lines that stand in none.

    ``leading`` is the distance of two lines of running text in sizes of it.
    """
    found: list[PdfTable] = []
    if len(lines) > MAX_LINES:
        return found, list(lines)
    slots = _slots(lines)
    _part(slots)
    left: list[PageLine] = []
    at = 0
    while at < len(slots):
        run, columns = _run(slots, at, drawn)
        table = _table(run, columns, drawn, leading) if len(run) > 1 else None
        if table is None:
            left.extend(slots[at].lines)
            at += 1
        else:
            found.append(table)
            at += len(run)
    return found, left


def _slots(lines: Sequence[PageLine]) -> list[_Slot]:
    slots: list[_Slot] = []
    for line in sorted(lines, key=_middle):
        half = LETTERS / 2 * min(line.size, line.box[3] - line.box[1])
        top, bottom = _middle(line) - half, _middle(line) + half
        last = slots[-1] if slots else None
        if last is not None and top < last.bottom - 0.1 * line.size and line.table < 0 and last.lines[0].table < 0:
            last.lines.append(line)
            last.top, last.bottom = min(last.top, top), max(last.bottom, bottom)
        else:
            slots.append(_Slot(top, bottom, [line]))
    return slots


def _part(slots: Sequence[_Slot]) -> None:
    """Part texts at their wide blanks where other texts near them begin below or above: cells that nearly touch."""
    edges = [
        [*(line.box[0] for line in sorted(slot.lines, key=lambda line: line.box[0])[1:]),
         *(right for line in slot.lines for _, _, right in line.gaps)]
        for slot in slots
    ]  # fmt: skip
    for at, slot in enumerate(slots):
        near = edges[max(0, at - NEAR_SLOTS) : at] + edges[at + 1 : at + 1 + NEAR_SLOTS]
        for line in slot.lines:
            gaps = [gap for gap in line.gaps if _shared(gap[2], near) >= FEW_ROWS - 1]
            slot.pieces += line.parted(gaps) if gaps else [line]


def _shared(place: float, near: Sequence[Sequence[float]]) -> int:
    return sum(any(abs(edge - place) <= ALIGNED for edge in edges) for edges in near)


def _middle(line: PageLine) -> float:
    return (line.box[1] + line.box[3]) / 2


def _merged(spans: Iterator[Span] | Sequence[Span], near: float) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] < near:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _is_text(slot: _Slot) -> bool:
    return any(line.table >= 0 or _LEADERS.search(line.text) for line in slot.lines) or all(
        line.mono for line in slot.lines
    )


def _run(slots: Sequence[_Slot], at: int, drawn: Drawn) -> tuple[Sequence[_Slot], list[Span]]:
    """Return the slots from a place on through which the same blanks run, and the columns that these part."""
    first = slots[at]
    columns = first.spans
    if len(columns) < 2 or _is_text(first):
        return (), columns
    widest, several, end = 0.0, 1, at + 1
    for slot in slots[at + 1 :]:
        gap = slot.top - slots[end - 1].bottom
        if _is_text(slot) or gap > APART * first.size or abs(slot.size - first.size) > 0.12 * first.size:
            break
        spans = slot.spans
        joined = _merged([*columns, *spans], STRIP * first.size)
        if len(joined) < 2 or (len(joined) < len(columns) and several > 1):
            break
        box = (columns[0][0], first.top, columns[-1][1], slot.bottom)
        if _is_titled(slots[end - 1], slot) and not _is_between(slot, box, drawn):
            break
        if end - at >= FEW_ROWS and gap > 1.5 * widest + 0.3 * first.size and not _is_between(slot, box, drawn):
            break
        columns = joined
        several += len(spans) > 1
        widest = max(widest, gap)
        end += 1
    run = list(slots[at:end])
    while len(run) > 1 and len(run[-1].spans) == 1 and not _belongs(run[-1], run[-2], columns, drawn):
        run.pop()
    columns = _merged([span for slot in run for span in slot.spans], STRIP * first.size)
    return run, columns


def _is_titled(before: _Slot, slot: _Slot) -> bool:
    """Whether a slot is set like a heading below cells: bold, with nothing but its number beside it."""
    first, *others = slot.pieces
    alone = not others or (len(others) == 1 and _MARK.match(first.text.strip()) is not None)
    return alone and all(line.bold for line in slot.lines) and not all(line.bold for line in before.lines)


def _is_between(slot: _Slot, box: Box, drawn: Drawn) -> bool:
    """Whether borders of a table that a box encloses stand above and below a slot."""
    left, top, right, bottom = box
    borders = drawn.borders((left, top, right, bottom + 3 * BESIDE))
    return any(y < slot.top + 1 for y in borders) and any(y > slot.bottom - 1 for y in borders)


def _belongs(slot: _Slot, before: _Slot, columns: Sequence[Span], drawn: Drawn) -> bool:
    """Whether a slot of one piece at the end of a table is of it: the rest of a cell, or above its last border."""
    box = (columns[0][0], before.top, columns[-1][1], slot.bottom)
    if any(y > slot.bottom - 1 for y in drawn.borders(box)):
        return True
    return slot.top - before.bottom < 0.6 * slot.size and _is_rest(before.pieces, slot.pieces, columns)


def _column(piece: PageLine, columns: Sequence[Span]) -> int:
    middle = (piece.box[0] + piece.box[2]) / 2
    return min(max(bisect_right([left for left, _ in columns], middle) - 1, 0), len(columns) - 1)


def _is_rest(above: Sequence[PageLine], below: Sequence[PageLine], columns: Sequence[Span]) -> bool:
    """Whether each text below goes on with one above that had no room left for its first word."""
    for piece in below:
        column = _column(piece, columns)
        over = [each for each in above if _column(each, columns) == column]
        if not over or all(_FIGURE.match(each.text.strip()) for each in (piece, over[-1])):
            return False
        last = max(over, key=lambda each: (round(_middle(each)), each.box[2]))
        room = columns[column][1] - last.box[2]
        if room > first_word_width(piece.text, piece.width, piece.size) + 0.6 * piece.size:
            return False
    return True


def _table(run: Sequence[_Slot], columns: Sequence[Span], drawn: Drawn, leading: float) -> PdfTable | None:
    box = (columns[0][0], run[0].top, columns[-1][1], run[-1].bottom)
    borders = drawn.borders(box)
    several = sum(len(slot.spans) > 1 for slot in run)
    if len(columns) < 2 or several < (2 if len(borders) > 1 else FEW_ROWS):
        return None
    if not borders and not _stands_undrawn(run, columns):
        return None
    groups = _rows(run, columns, borders, leading)
    rows = tuple(_cells(group, columns) for group in groups)
    if len(rows) < 2:
        return None
    return PdfTable(box, rows, tuple(columns), _has_header(groups, rows, borders))


def _stands_undrawn(run: Sequence[_Slot], columns: Sequence[Span]) -> bool:
    """Whether texts are cells although nothing is drawn around them."""
    if _is_list(run, columns) or _is_running_text(run, columns):
        return False
    alone = sum(all(_column(piece, columns) == 0 for piece in slot.pieces) for slot in run)
    return alone <= sum(len(slot.spans) > 1 for slot in run) and _is_aligned(run, columns)


def _is_list(run: Sequence[_Slot], columns: Sequence[Span]) -> bool:
    """Whether what looks like the first of two columns are the marks of list items."""
    if len(columns) > 2:
        return False
    marks = [piece.text.strip() for slot in run for piece in slot.pieces if _column(piece, columns) == 0]
    return sum(_MARK.match(mark) is not None for mark in marks) > 0.6 * len(marks)


def _is_aligned(run: Sequence[_Slot], columns: Sequence[Span]) -> bool:
    """Whether the texts of each column but the first are aligned at their left, their right or their middle."""
    for number in range(1, len(columns)):
        firsts = [
            min(own, key=lambda piece: piece.box[0])
            for slot in run
            if (own := [piece for piece in slot.pieces if _column(piece, columns) == number])
        ]
        places = (
            [piece.box[0] for piece in firsts],
            [piece.box[2] for piece in firsts],
            [(piece.box[0] + piece.box[2]) / 2 for piece in firsts],
        )
        most = max(sum(abs(place - other) <= ALIGNED for other in edges) for edges in places for place in edges)
        if most < max(min(2, len(firsts)), ALIGNED_ROWS * len(firsts)):
            return False
    return True


def _is_running_text(run: Sequence[_Slot], columns: Sequence[Span]) -> bool:
    """Whether what looks like a table is text in columns, which reads down and not along rows."""
    full = 0
    for number, (left, right) in enumerate(columns):
        lines = [piece for slot in run for piece in slot.pieces if _column(piece, columns) == number]
        long = [each for each in lines if each.width > 0.8 * (right - left) and _is_long(each.text)]
        full += len(long) > 0.6 * len(run)
    return full > 1 and len(run) > 5


def _is_long(text: str) -> bool:
    return len(text) > (TEXT_CHARS / 2 if is_wide(text) else TEXT_CHARS)


def _rows(
    run: Sequence[_Slot], columns: Sequence[Span], borders: Sequence[float], leading: float
) -> list[list[PageLine]]:
    """The pieces of each row: slots that a border parts are of two, those that are close may be of one."""
    gaps = [below.top - above.bottom for above, below in pairwise(run)]
    parted = [
        any((above.top + above.bottom) / 2 < y < (below.top + below.bottom) / 2 for y in borders)
        for above, below in pairwise(run)
    ]
    close, is_certain = _closeness(gaps, (1.1 * leading - LETTERS) * run[0].size, 0.1 * run[0].size)
    is_dense = sum(parted) >= FEW_ROWS and len(run) <= 4 * (sum(parted) + 1)
    found = [list(run[0].pieces)]
    for slot, gap, is_parted in zip(run[1:], gaps, parted, strict=True):
        filled = {_column(piece, columns) for piece in slot.pieces}
        if is_parted or gap > close:
            goes_on = False
        elif len(filled) < len(columns) and (is_certain or is_dense):
            goes_on = True
        else:
            goes_on = (is_certain or is_dense or 0 not in filled) and _is_rest(found[-1], slot.pieces, columns)
        if goes_on:
            found[-1].extend(slot.pieces)
        else:
            found.append(list(slot.pieces))
    return found


def _closeness(gaps: Sequence[float], usual: float, step: float) -> tuple[float, bool]:
    """Return the widest gap between lines of one cell, and whether wider ones show that rows have more.

    ``usual`` is the gap of running text, which is all that tells where the gaps are of one kind.
    """
    ordered = sorted(gaps)
    jumps = [(after - before, before) for before, after in pairwise(ordered)]
    widest, before = max(jumps, default=(0.0, 0.0))
    if widest > step and before <= 1.6 * usual + step:
        return before + widest / 2, True
    return max(usual, ordered[0] if ordered and ordered[-1] - ordered[0] < step else 0.0), False


def _cells(pieces: Sequence[PageLine], columns: Sequence[Span]) -> tuple[str, ...]:
    cells = []
    for number in range(len(columns)):
        own = [piece for piece in pieces if _column(piece, columns) == number]
        own.sort(key=lambda piece: (round(_middle(piece) / (0.5 * piece.size or 1)), piece.box[0]))
        cells.append(squeeze(reduce(join_typeset, (piece.text.strip() for piece in own), "")))
    return tuple(cells)


def _has_header(groups: Sequence[Sequence[PageLine]], rows: Sequence[Sequence[str]], borders: Sequence[float]) -> bool:
    """Whether the first row names the columns: it is set apart, or figures stand below words."""
    first, second = (max(piece.box[3] for piece in groups[0]), min(piece.box[1] for piece in groups[1]))
    if all(piece.bold for piece in groups[0]) and not all(piece.bold for group in groups[1:] for piece in group):
        return True
    inner = [y for y in borders if first - 3 < y < second + 3]
    if inner and len(borders) < 0.7 * len(rows):
        return True
    figures = [
        sum(_FIGURE.match(row[number]) is not None for row in rows[1:] if row[number]) > 0.6 * len(rows[1:])
        for number in range(len(rows[0]))
    ]
    words = [cell != "" and _FIGURE.match(cell) is None for cell in rows[0]]
    if any(figures):
        return all(word for word, figure in zip(words, figures, strict=True) if figure)
    return len(rows[0]) > 2 and sum(words) >= len(rows[0]) - 1
