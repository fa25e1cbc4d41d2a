"""Tables that plain text draws with bars and rules: boxes of manual pages and SQL shells, grids, ruled columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.ingest.parsers.tables import row_text, table_blocks
from core.ingest.parsers.wording import pieces
from core.model import Block, Locator

_BARS = "|│┃║"
_RULE = re.compile(r"\s*[|│┃║+┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝┏┳┓┣╋┫┗┻┛╒╤╕╞╪╡╘╧╛][-=─━═:|│┃║+┬┼┴╦╬╩┳╋┻╤╪╧ ]*[-=─━═][^\w]*")
_CELLS = re.compile(rf"[{_BARS}]")
_LEAST_ROWS = 2
_UNDERLINES = re.compile(r"\s*[-=─━═]{2,}(?:\s+[-=─━═]{2,})+\s*")
_UNDERLINE = re.compile(r"[-=─━═]+")


def text_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a paragraph: its drawn tables as such, and what is around them."""
    if not any(bar in text for bar in _BARS):
        yield from _ruled_blocks(text)
        return
    lines = text.splitlines(keepends=True)
    at = said = 0
    while at < len(lines):
        end = at
        while end < len(lines) and _is_drawn(lines[end]):
            end += 1
        rows = _rows(lines[at:end])
        if rows is None:
            at = max(end, at + 1)
            continue
        yield from map(Block, pieces("".join(lines[said:at])))
        yield from table_blocks(map(row_text, rows), Locator())
        at = said = end
    yield from map(Block, pieces("".join(lines[said:])))


def _ruled_blocks(text: str) -> Iterator[Block]:
    """Yield a paragraph whose columns are ruled under their heads as a table, with what stands before and behind."""
    lines = [line.expandtabs() for line in text.splitlines()]
    at = next((number for number, line in enumerate(lines) if number and _UNDERLINES.fullmatch(line)), 0)
    starts = [match.start() for match in _UNDERLINE.finditer(lines[at])] if at else []
    head = _columns(lines[at - 1], starts) if starts else None
    rows = []
    for line in lines[at + 1 :] if head and all(head) else ():
        cells = _columns(line, starts)
        if cells is None or _UNDERLINES.fullmatch(line):
            break
        rows.append(cells)
    if head is None or len(rows) < _LEAST_ROWS or not all(row[0] for row in rows):
        yield from map(Block, pieces(text))
        return
    kept = text.splitlines(keepends=True)
    before = "".join(line for line in kept[: at - 1] if not _UNDERLINES.fullmatch(line.rstrip()))
    behind = "".join(line for line in kept[at + 1 + len(rows) :] if not _UNDERLINES.fullmatch(line.rstrip()))
    yield from map(Block, pieces(before) if before.strip() else ())
    yield from table_blocks(map(row_text, [head, *rows]), Locator())
    yield from map(Block, pieces(behind) if behind.strip() else ())


def _columns(line: str, starts: Sequence[int]) -> list[str] | None:
    """Return the cells of a line that leaves a blank before each column, None of another one."""
    if line[: starts[0]].strip() or any(line[start - 1 : start].strip() for start in starts[1:]):
        return None
    ends = [*starts[1:], len(line)]
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _is_drawn(line: str) -> bool:
    bare = line.strip()
    return bool(_RULE.fullmatch(line.rstrip())) or (len(bare) > 2 and bare[0] in _BARS and bare[-1] in _BARS)


def _rows(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of a drawn table, None where the lines are none: a rule is needed, and rows of one width.

    Rules between all rows let a row have several lines; else what follows the first rule has a row a line.
    """
    parts: list[list[list[str]]] = [[]]
    for line in lines:
        if _RULE.fullmatch(line.rstrip()):
            parts.append([])
        else:
            parts[-1].append([cell.strip() for cell in _CELLS.split(line.strip()[1:-1])])
    groups = [part for part in parts if part]
    widths = {len(row) for part in groups for row in part}
    if len(parts) < 2 or len(widths) != 1 or max(widths) < 2:
        return None
    is_grid = len(groups) > 2
    # Where no row leaves a cell empty on a further line, a part has a row a line: those above a total.
    goes_on = is_grid and any(map(_goes_on, groups))
    rows = [row for part in groups for row in ([_joined(part)] if goes_on else part)]
    return rows if len(rows) >= _LEAST_ROWS else None


def _goes_on(part: Sequence[Sequence[str]]) -> bool:
    """Tell whether the lines between two rules are one row: a later one leaves a cell empty, as no other row does."""
    return any(not all(row) for row in part[1:])


def _joined(part: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(cell for cell in column if cell) for column in zip(*part, strict=True)]
