"""The tables that differ, one at a time as a grid: changed cells are coloured and say what stood there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
import dash_bootstrap_components as dbc
from dash import html

from app.components.compare.diff_grid import chapter_name
from app.components.shared.states import empty
from app.i18n import t
from core.model import CellPair, Change

if TYPE_CHECKING:
    from core.versions.diff.grid import TableGrid, TableRef

SHOWN_ROWS = 2_000
SHORT_ROWS = 16
CODES = {Change.EQUAL: "", Change.CHANGED: "changed", Change.ADDED: "added", Change.REMOVED: "removed"}


def table_view(tables: Sequence[TableRef]) -> html.Div:
    """The choice of a table that differs, and the place where it is shown."""
    differing = [table for table in tables if table.changed or table.columns_changed]
    if not differing:
        return html.Div(empty("table", t("compare.no_tables"), t("compare.no_tables_text")))
    options = [
        {"value": str(table.index), "label": _label(table, number, len(differing))}
        for number, table in enumerate(differing, 1)
    ]
    choice = html.Div(
        [
            html.Label(t("compare.table"), htmlFor="compare-table-choice"),
            dbc.Select(id="compare-table-choice", options=options, value=options[0]["value"], size="sm"),
            dbc.Checkbox(id="compare-table-all", label=t("compare.table_all"), value=True),
        ],
        className="compare-tools",
    )
    return html.Div([choice, html.Div(id="compare-table")])


def table_grid(table: TableGrid, with_equal: bool) -> html.Div:
    """One table: a column for each column of either side, a row for each row of either side."""
    body = table.rows[1:] if table.rows and _texts(table.rows[0].cells) == _texts(table.headers) else table.rows
    rows = [row for row in body if with_equal or row.change != Change.EQUAL]
    shown = rows[:SHOWN_ROWS]
    is_short = len(shown) <= SHORT_ROWS
    first = next((at for at, row in enumerate(shown) if row.change != Change.EQUAL), 0)
    grid = dag.AgGrid(
        id="compare-table-grid",
        rowData=[_row(row) for row in shown],
        columnDefs=_columns(table.headers),
        columnSize="responsiveSizeToFit" if len(table.headers) <= 8 else None,
        defaultColDef={"resizable": True, "suppressMovable": True, "sortable": False, "minWidth": 110}
        | {"cellDataType": False, "wrapText": True, "autoHeight": True}
        | {"wrapHeaderText": True, "autoHeaderHeight": True},
        dashGridOptions={
            "theme": {"function": "evoGridTheme(theme, agGrid)"},
            "context": {"was": t("compare.cell_was"), "signs": _signs()},
            "animateRows": False,
            "enableCellTextSelection": True,
            "ensureDomOrder": True,
            "rowHeight": 36,
            "domLayout": "autoHeight" if is_short else "normal",
        },
        scrollTo={"rowIndex": first, "rowPosition": "top"} if first else None,
        className="compare-table-grid" + (" is-short" if is_short else ""),
        style={"height": None, "width": "100%"},
    )
    left = len(rows) - len(shown)
    more = html.P(t("compare.table_more", count=left), className="hint") if left else None
    said = html.P(id="compare-cell-said", className="hint", role="status")
    return html.Div([grid, said, more])


def _texts(cells: Sequence[CellPair]) -> list[tuple[str | None, str | None]]:
    return [(cell.old, cell.new) for cell in cells]


def _label(table: TableRef, number: int, count: int) -> str:
    place = chapter_name(table.path) if table.path else ""
    name = t("compare.table_name", number=number, total=count)
    changed = t("compare.table_rows_changed", count=table.changed)
    return " · ".join(part for part in (name, place, changed) if part)


def _columns(headers: Sequence[CellPair]) -> list[dict[str, Any]]:
    sign = {
        "field": "sign",
        "headerName": "",
        "width": 56,
        "minWidth": 56,
        "maxWidth": 56,
        "cellRenderer": "CompareSign",
        "pinned": "left",
    }
    columns = [
        {
            "field": f"c{at}",
            "headerName": _header(pair),
            "headerClass": f"compare-head-{CODES[pair.change]}" if CODES[pair.change] else "",
            "cellRenderer": "CompareCell",
            "cellClass": "compare-cell",
        }
        for at, pair in enumerate(headers)
    ]
    return [sign, *columns]


def _signs() -> dict[str, str]:
    return {code: t(f"compare.kind.{code}") for code in (*filter(None, CODES.values()), "moved")}


def _header(pair: CellPair) -> str:
    if pair.change == Change.CHANGED and pair.old is not None and pair.new is not None:
        return f"{pair.old} → {pair.new}"
    sign = {Change.ADDED: "+ ", Change.REMOVED: "− "}.get(pair.change, "")
    return sign + ((pair.new if pair.new is not None else pair.old) or "")


def _row(row: Any) -> dict[str, Any]:
    cells = {f"c{at}": [CODES[pair.change], pair.old, pair.new] for at, pair in enumerate(row.cells)}
    return {"row": row.row, "sign": "moved" if row.move else CODES[row.change], **cells}
