"""The text of both versions as one AG Grid of screen lines, with the tools that move in it.

The grid reads its lines from ``/api/v1/compare/rows`` as they come into sight (``assets/modules/compare/``), so that a
difference of any length is on the screen at once. Each row of the grid is one line of the screen; all have the same
height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag
import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria, dataset
from app.components.compare.address import Shown
from app.components.shared.heat_strip import heat_strip
from app.components.shared.icon import icon
from app.i18n import language, messages, t
from core.model import ChangeSummary

GRID = "compare-grid"
BLOCK_LINES = 100
"""As many as ``assets/modules/compare/`` asks for at once."""
ROW_HEIGHT = 24
NUMBER_WIDTH = 56
WORDS = "compare.cell."


def diff_text(summary: ChangeSummary, shown: Shown) -> html.Div:
    """The tools, the grid, and the strip beside it."""
    return html.Div(
        [
            _tools(summary, shown),
            html.Div([diff_grid(), heat_strip(summary.strip)], className="compare-text"),
        ]
    )


def diff_grid() -> dag.AgGrid:
    """The empty grid; a script gives it lines and chooses which columns are seen."""
    return dag.AgGrid(
        id=GRID,
        rowModelType="infinite",
        columnDefs=_columns(),
        defaultColDef=dict.fromkeys(("sortable", "resizable"), False)
        | dict.fromkeys(("suppressMovable", "suppressHeaderMenuButton"), True),
        columnSize=None,
        dashGridOptions={
            "theme": {"function": "evoGridTheme(theme, agGrid)"},
            "context": {"words": _words()},
            "rowHeight": ROW_HEIGHT,
            "headerHeight": 32,
            "cacheBlockSize": BLOCK_LINES,
            "maxBlocksInCache": 30,
            "maxConcurrentDatasourceRequests": 3,
            "blockLoadDebounceMillis": 20,
            "rowBuffer": 10,
            "animateRows": False,
            "suppressCellFocus": False,
            "suppressHeaderFocus": True,
            "enableCellTextSelection": True,
            "ensureDomOrder": True,
            "suppressColumnVirtualisation": True,
            "isFullWidthRow": {"function": "evoCompareIsFold(params)"},
            "fullWidthCellRenderer": "CompareFold",
            "localeText": {"loadingOoo": t("state.loading"), "noRowsToShow": t("compare.no_lines")},
        },
        rowClassRules={"is-current": "evoCompareIsCurrent(params)"},
        className="compare-grid",
        style={"height": None, "width": "100%"},
    )


def _columns() -> list[dict[str, Any]]:
    number = {"width": NUMBER_WIDTH, "cellRenderer": "CompareNumber", "cellClass": "compare-number-cell"}
    text = {"flex": 1, "minWidth": 120, "cellRenderer": "CompareText", "cellClass": "compare-text-cell"}
    return [
        {"colId": "old_no", "headerName": t("compare.old_short"), "headerTooltip": t("compare.old_line"), **number},
        {"colId": "old", "headerName": t("compare.old"), **text},
        {"colId": "new_no", "headerName": t("compare.new_short"), "headerTooltip": t("compare.new_line"), **number},
        {"colId": "new", "headerName": t("compare.new"), **text},
        {"colId": "merged", "headerName": t("compare.both"), "hide": True, **text},
    ]


def _tools(summary: ChangeSummary, shown: Shown) -> html.Div:
    changes = html.Div(
        [
            _button("previous", "chevron-up", "p"),
            html.Span(id="compare-place", className="numbers compare-place"),
            _button("next", "chevron-down", "n"),
            _button("copy", "link-45deg"),
            html.Span(id="compare-round", className="compare-place", **aria(hidden=True)),
        ],
        className="tool-group",
        role="group",
        **aria(label=t("compare.changes")),
    )
    return html.Div(
        [_mode(shown), changes, _folding(shown), _chapters(summary), _find(shown)],
        className="compare-tools",
        role="toolbar",
        **aria(label=t("compare.tools"), controls=GRID),
    )


def _mode(shown: Shown) -> html.Div:
    choices = [
        html.Button(
            [icon(symbol), html.Span(t(f"compare.mode_{mode}"))],
            type="button",
            **aria(pressed=shown.mode == mode),
            **dataset(compare_mode=mode),
        )
        for mode, symbol in (("side", "layout-sidebar"), ("inline", "list"))
    ]
    return html.Div(choices, className="switch compare-modes", role="group", **aria(label=t("compare.mode")))


def _folding(shown: Shown) -> html.Div:
    name = "compare-fold"
    return html.Div(
        [
            html.Label(t("compare.fold"), htmlFor=name, className="visually-hidden"),
            dbc.Select(
                id=name,
                options=[
                    {"value": "1", "label": t("compare.fold_unchanged")},
                    {"value": "0", "label": t("compare.fold_nothing")},
                    {"value": "outline", "label": t("compare.fold_outline")},
                ],
                value="1" if shown.folded else "0",
                size="sm",
            ),
        ],
        className="tool-group",
    )


def _chapters(summary: ChangeSummary) -> html.Div:
    options = [{"value": "all", "label": t("compare.all_chapters")}]
    options += [
        {"value": str(index), "label": chapter_name(chapter.heading_path)}
        for index, chapter in enumerate(summary.chapters)
    ]
    return html.Div(
        [
            html.Label(t("compare.chapter"), htmlFor="compare-chapter", className="visually-hidden"),
            dbc.Select(id="compare-chapter", options=options, value="all", size="sm"),
        ],
        className="tool-group compare-chapter-tool",
        hidden=len(summary.chapters) < 2,
    )


def _find(shown: Shown) -> html.Div:
    return html.Div(
        [
            html.Label(t("compare.find"), htmlFor="compare-find", className="visually-hidden"),
            dbc.Input(
                id="compare-find",
                type="search",
                value=shown.find,
                placeholder=t("compare.find"),
                maxLength=200,
                size="sm",
                autocomplete="off",
            ),
            html.Span(id="compare-found", className="numbers compare-place", role="status"),
            _button("find-previous", "arrow-up"),
            _button("find-next", "arrow-down"),
        ],
        className="tool-group compare-find-tool",
        role="search",
    )


def chapter_name(path: Sequence[str]) -> str:
    """A chapter by its heading; the text before the first heading has none."""
    return path[-1] if path else t("compare.before_headings")


def _button(action: str, symbol: str, key: str = "") -> html.Button:
    words = t(f"compare.do.{action}")
    return html.Button(
        icon(symbol),
        type="button",
        className="tool-button",
        title=f"{words} ({key})" if key else words,
        **aria(label=words),
        **dataset(compare_do=action),
    )


def _words() -> dict[str, Any]:
    """What cells and the script say, without the area before each name."""
    return {key.removeprefix(WORDS): text for key, text in messages(language()).items() if key.startswith(WORDS)}
