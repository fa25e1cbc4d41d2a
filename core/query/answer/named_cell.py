"""Finds the cell of a table row that a question asks for by the name of its column: "the price with silk finish"."""

from __future__ import annotations

import re

from core.query.answer.question_profile import QuestionProfile
from core.query.answer.quotable_units import CELL_JOINT, Unit
from core.query.answer.ranges import column_of_range
from core.text.analysis import analyse

_FIGURE = re.compile(r"\d+")


def named_cell(row: Unit, profile: QuestionProfile) -> tuple[str, str] | None:
    """Return the header and text of the cell whose column alone, or more than others, the question names.

    A column is named, too, by a number in the range that it stands for.
    """
    heads = [head.strip() for head in row.header.split(CELL_JOINT)]
    cells = [cell.strip() for cell in row.text.split(CELL_JOINT)]
    if not row.header or len(heads) != len(cells):
        return None
    column = column_of_range(profile.text, heads)
    if column is not None:
        return (heads[column], cells[column]) if cells[column] else None
    asked = frozenset(profile.weights)
    named = []
    for head, cell in zip(heads, cells, strict=True):
        # What a question says it does not ask for, nor what has more to its name: "Pro (billed yearly)". The unit of a
        # figure is said of what is asked for: "how many days".
        has_figure = bool(set(_FIGURE.findall(cell)) - set(_FIGURE.findall(profile.text)))
        is_said = bool(asked & frozenset(analyse(cell, profile.language))) and not has_figure
        if head and cell and not is_said:
            named.append((profile.coverage(frozenset(analyse(head, profile.language))), head, cell))
    named.sort(key=lambda each: -each[0])
    if not named or named[0][0] <= 0 or (len(named) > 1 and named[1][0] >= named[0][0]):
        return None
    return named[0][1:]
