"""Vertical writing in a PDF: letters set upright one below the other, as most programs store it, are columns of text.

A column is text that runs downwards, so that a page of columns is read like any other page of that turn.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.ingest.parsers.pdf_page import PageLine
from core.ingest.parsers.pdf_turn import Box, Size, is_slanted, returned, turned
from core.ingest.parsers.wording import is_wide

NARROW = 1.6
"""Digits and letters set upright within a column are not wider than this, in sizes of the text."""


def with_columns(lines: list[PageLine], page: Size) -> list[PageLine]:
    """Turn the letters that make up columns, and the numbers set upright among them; other lines stay as they are."""
    for run in _stacked(lines):
        for line in run:
            x0, _, x1, bottom = line.box
            line.box = x0, bottom - line.size, x1, bottom
            line.box, line.turn = _seen_from(line, line.turn + 90, page), (line.turn + 90) % 360
    columns: dict[tuple[int, int], list[PageLine]] = {}
    for line in lines:
        if is_wide(line.text):
            columns.setdefault((line.turn, round(_middle(line.box))), []).append(line)
    if len({line.turn for line in lines}) > 1:
        for line in lines:
            _set_in(columns, line, page)
    return lines


def _stacked(lines: list[PageLine]) -> Iterator[list[PageLine]]:
    """Runs of single letters of which each stands right below the one before."""
    run: list[PageLine] = []
    for line in lines:
        if run and not _is_below(run[-1], line):
            if len(run) > 1:
                yield run
            run = []
        if len(line.text.strip()) == 1 and is_wide(line.text):
            run.append(line)
    if len(run) > 1:
        yield run


def _is_below(above: PageLine, line: PageLine) -> bool:
    centred = abs(above.box[0] + above.box[2] - line.box[0] - line.box[2]) < 0.3 * line.size
    return line.turn == above.turn and centred and 0.8 < (line.box[3] - above.box[3]) / line.size < 1.12


def _set_in(columns: dict[tuple[int, int], list[PageLine]], line: PageLine, page: Size) -> None:
    turn = (line.turn + 90) % 360
    if line.width > NARROW * line.size or is_slanted(line.turn):
        return
    box = _seen_from(line, turn, page)
    middle = round(_middle(box))
    for near in range(middle - 2, middle + 3):
        for letter in columns.get((turn, near), ()):
            if max(letter.box[0] - box[2], box[0] - letter.box[2]) < letter.size:
                line.box, line.turn, line.size = box, turn, letter.size
                return


def _seen_from(line: PageLine, turn: int, page: Size) -> Box:
    return turned(returned(line.box, line.turn, page), turn % 360, page)


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2
