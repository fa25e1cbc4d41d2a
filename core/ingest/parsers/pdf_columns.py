"""The columns of a PDF page: which lines are read one after the other, and where a page parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from core.ingest.parsers.pdf_page import Page, PageLine, PageRow, rows_of_column
from core.ingest.parsers.pdf_turn import Box
from core.ingest.parsers.wording import is_wide

MAX_DEPTH = 3
MAX_LINES = 5_000
"""Pages of more lines say nothing about where the document's pages part."""
CROSSED = 0.2
"""The largest share of a page's lines that may cross a gutter: titles, and tables over both columns."""
FULL = 0.75
"""A line is full when it is at least this part as wide as its column."""
FULL_LINES = 3
FULL_CHARS = 20
"""Full lines of running text have as many characters, half as many in Japanese; cells of one width may not."""
FEW_STARTS = 4
NEAR = 6.0
"""Gutters of several pages are one where they are closer than this, in points."""


def rows(lines: Sequence[PageLine]) -> list[PageRow]:
    """The lines of a page as rows in reading order: column by column where the page has columns."""
    return [row for column in columns(list(lines)) for row in rows_of_column(column)]


def gutters(pages: Sequence[Page]) -> list[float]:
    """Where the pages of a document part into two columns of running text, the most frequent place first."""
    places: list[list[float]] = []
    for page in pages:
        lines = page.upright
        place = _gutter(lines, _levels(page.rules)) if len(lines) <= MAX_LINES else None
        if place is None:
            continue
        for known in places:
            if abs(known[0] - place) < NEAR:
                known.append(place)
                break
        else:
            places.append([place])
    texts = sum(len(page.lines) > 15 for page in pages)
    return [median(known) for known in sorted(places, key=len, reverse=True) if len(known) > 0.2 * texts][:MAX_DEPTH]


def columns(
    lines: list[PageLine], hints: Sequence[float] = (), rules: Sequence[Box] = (), depth: int = 0
) -> list[list[PageLine]]:
    """Split the lines of a page into stretches to be read one after the other, each from top to bottom.

    Lines that cross the gutter, such as a title over two columns, part the page into bands. ``hints`` are the gutters
    of the document, where a page may part although its columns hold little running text.
    """
    levels = _levels(rules)
    gutter = _gutter(lines, levels) if depth < MAX_DEPTH else None
    if gutter is None and depth == 0:
        gutter = next((hint for hint in hints if _parts(lines, hint)), None)
    if gutter is None:
        return [lines]
    found: list[list[PageLine]] = []
    left: list[PageLine] = []
    right: list[PageLine] = []

    def flush() -> None:
        for side in (left, right):
            if side:
                found.extend(columns(list(side), (), (), depth + 1))
                side.clear()

    spans = _ruled_over(levels, gutter)
    crossing: list[PageLine] | None = None
    for line in sorted(lines, key=lambda line: line.box[1]):
        over = _is_over(line, spans)
        if line.box[2] <= gutter + 1 and not over:
            left.append(line)
        elif line.box[0] >= gutter - 1 and not over:
            right.append(line)
        else:
            if left or right or crossing is None:
                flush()
                crossing = []
                found.append(crossing)
            crossing.append(line)
    flush()
    return found


def _levels(rules: Sequence[Box]) -> list[Box]:
    """The level rules of a page from top to bottom; what is drawn cell by cell is one rule."""
    joined: list[Box] = []
    for left, top, right, bottom in sorted(rules, key=lambda rule: (round(rule[1]), rule[0])):
        if bottom - top >= 3:
            continue
        last = joined[-1] if joined else None
        if last is not None and abs(last[1] - top) < 1 and left - last[2] < 3:
            joined[-1] = last[0], last[1], max(last[2], right), last[3]
        else:
            joined.append((left, top, right, bottom))
    return joined


def _ruled_over(levels: Sequence[Box], gutter: float) -> list[tuple[float, float]]:
    """From where to where rules of one length that cross the gutter follow each other: a table over both columns."""
    by_length: dict[tuple[int, int], list[float]] = {}
    for left, top, right, _ in levels:
        if left < gutter - 20 and right > gutter + 20:
            by_length.setdefault((round(left / 4), round(right / 4)), []).append(top)
    return [(min(tops), max(tops)) for tops in by_length.values() if len(tops) > 2]


def _is_over(line: PageLine, spans: Sequence[tuple[float, float]]) -> bool:
    middle = (line.box[1] + line.box[3]) / 2
    return any(top < middle < bottom for top, bottom in spans)


def _gutter(lines: Sequence[PageLine], levels: Sequence[Box]) -> float | None:
    """Where a page of two columns parts, or ``None``: few lines cross it, and both sides are set as running text."""
    if len(lines) < 16:
        return None
    low = min(line.box[0] for line in lines)
    high = max(line.box[2] for line in lines)
    step = (high - low) / 100
    if step <= 0.5:
        return None
    crossing = [0] * 101
    for line in lines:
        first, last = int((line.box[0] - low) / step) + 1, int((line.box[2] - low) / step)
        for at in range(max(first, 0), min(last, 100) + 1):
            crossing[at] += 1
    fewest = min(crossing[20:81])
    if fewest > CROSSED * len(lines):
        return None
    places = [at for at in range(20, 81) if crossing[at] == fewest]
    for run in _runs(places):
        gutter = low + median(run) * step
        spans = _ruled_over(levels, gutter)
        sides = _sides([line for line in lines if not _is_over(line, spans)], gutter)
        if min(map(len, sides)) < max(5, 0.15 * len(lines)) or not all(map(_is_running, sides)):
            continue
        if _are_rows(*sides):
            continue
        top = max(min(line.box[1] for line in side) for side in sides)
        bottom = min(max(line.box[3] for line in side) for side in sides)
        if bottom - top > 4 * median(line.size for line in lines):
            return gutter
    return None


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Places next to each other, the longest run first."""
    found: list[list[int]] = []
    for place in places:
        if found and place == found[-1][-1] + 1:
            found[-1].append(place)
        else:
            found.append([place])
    return sorted(found, key=len, reverse=True)


def _sides(lines: Sequence[PageLine], gutter: float) -> tuple[list[PageLine], list[PageLine]]:
    left = [line for line in lines if line.box[2] <= gutter + 1]
    return left, [line for line in lines if line.box[0] >= gutter - 1]


def _is_running(side: Sequence[PageLine]) -> bool:
    """Whether one side of a gutter is set as running text, be it beside a table: it has some full lines."""
    width = max(line.box[2] for line in side) - min(line.box[0] for line in side)
    full = [line.text for line in side if not line.mono and line.width >= FULL * width]
    return sum(len(text) >= (FULL_CHARS / 2 if is_wide(text) else FULL_CHARS) for text in full) >= FULL_LINES


def _are_rows(left: Sequence[PageLine], right: Sequence[PageLine]) -> bool:
    """Whether what stands on the two sides of a gutter begins at the same heights again and again: cells of rows."""
    starts, others = _block_starts(left), _block_starts(right)
    if min(len(starts), len(others)) < FEW_STARTS:
        return False
    shared = sum(any(abs(start - other) < 2 for other in others) for start in starts)
    return shared > 0.7 * min(len(starts), len(others))


def _block_starts(side: Sequence[PageLine]) -> list[float]:
    """The heights of lines with more space above them than most have."""
    middles = sorted((line.box[1] + line.box[3]) / 2 for line in side)
    gaps = [below - above for above, below in pairwise(middles) if below - above > 2]
    if not gaps:
        return []
    usual = min(median(gaps), 1.6 * median(line.size for line in side))
    return [middles[0], *(below for above, below in pairwise(middles) if below - above > 1.2 * usual)]


def _parts(lines: Sequence[PageLine], hint: float) -> bool:
    """Whether a page parts where other pages of its document do."""
    left, right = _sides(lines, hint)
    crossing = len(lines) - len(left) - len(right)
    return bool(left) and bool(right) and crossing <= CROSSED * len(lines)
