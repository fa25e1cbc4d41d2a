"""The whole document as a narrow strip: where it changed, and one click (or arrow key) to go there."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html

from app.components.attributes import aria, dataset
from app.i18n import t
from core.model import StripCell

LEVELS = (0.0, 0.1, 0.4)
"""Shares of changed rows from which a cell is drawn one step stronger."""


def heat_strip(cells: Sequence[StripCell]) -> html.Div:
    """A slider over the changed cells of the strip; a script moves it and shows the place in the grid."""
    drawn = [_cell(cell, number, len(cells)) for number, cell in enumerate(cells, 1)]
    return html.Div(
        drawn,
        id="compare-strip",
        className="heat-strip",
        role="slider",
        tabIndex=0,
        title=t("compare.strip"),
        **aria(
            label=t("compare.strip"),
            orientation="vertical",
            valuemin="1",
            valuemax=str(max(len(cells), 1)),
            valuenow="1",
        ),
    )


def _cell(cell: StripCell, number: int, count: int) -> html.Span:
    differing = cell.changed + cell.added + cell.removed
    if cell.first_change is None or not differing:
        return html.Span(className="heat")
    level = sum(differing / max(cell.rows, 1) > share for share in LEVELS)
    kind = max(("changed", "added", "removed"), key=lambda name: getattr(cell, name))
    words = t("compare.strip_cell", percent=round(100 * (number - 1) / count), count=differing)
    return html.Span(
        className=f"heat heat-{kind} heat-{level}",
        title=words,
        **dataset(compare_row=str(cell.first_change), cell=str(number), words=words),
    )
