"""A grid for reading: rows that are sorted and copied, and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag


def reading_grid(
    component_id: str,
    columns: Sequence[dict[str, Any]],
    rows: Sequence[dict[str, Any]],
    *,
    row_height: int,
    is_short: bool,
) -> dag.AgGrid:
    """Draw only the rows in sight; all of them where they are few. Each row has an ``id``."""
    return dag.AgGrid(
        id=component_id,
        rowData=list(rows),
        columnDefs=list(columns),
        defaultColDef={"sortable": True, "resizable": True, "suppressMovable": True, "suppressHeaderMenuButton": True},
        getRowId="params.data.id",
        columnSize=None,
        dashGridOptions={
            "theme": {"function": "evoGridTheme(theme, agGrid)"},
            "rowHeight": row_height,
            "headerHeight": 40,
            "animateRows": False,
            "enableCellTextSelection": True,
            "ensureDomOrder": True,
            "domLayout": "autoHeight" if is_short else "normal",
        },
        style={"height": None if is_short else "440px", "width": "100%"},
    )
