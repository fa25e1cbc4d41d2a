"""The list of documents as one AG Grid: columns, rows, and the words that its cells need in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag

from app import links
from app.components.shared.icon import FILE_ICONS
from app.components.shared.wording import in_part_words
from app.i18n import has, t
from core.model import Document

STATES = {
    "published": "ok",
    "indexing": "working",
    "draft": "warning",
    "scheduled": "working",
    "failed": "error",
    "unpublished": "neutral",
    "deleted": "neutral",
    "purged": "neutral",
}
HIDDEN_STATES = ("draft", "unpublished")
"""Of documents that no question sees, and that a plan may show."""
MAX_TAG_CHARS = 60
SHORT_ROWS = 12


def document_grid(documents: Sequence[Document], component_id: str, sort: str, descending: bool) -> dag.AgGrid:
    """The grid over a page of documents, which the server has sorted: a click on a head asks it anew."""
    is_short = len(documents) <= SHORT_ROWS
    return dag.AgGrid(
        id=component_id,
        rowData=[row_of(document) for document in documents],
        columnDefs=[
            {**column, "sort": "desc" if descending else "asc"} if column["field"] == sort else column
            for column in columns()
        ],
        defaultColDef={
            "sortable": True,
            "resizable": True,
            "suppressMovable": True,
            "suppressHeaderMenuButton": True,
            "comparator": {"function": "evoAsGiven"},
            "sortingOrder": ["asc", "desc"],
        },
        eventListeners={"sortChanged": ["evoSorted(params)"]},
        getRowId="params.data.key",
        columnSize=None,
        dashGridOptions={
            "theme": {"function": "evoGridTheme(theme, agGrid)"},
            "rowSelection": {"mode": "multiRow", "enableClickSelection": False},
            "suppressMultiSort": True,
            "selectionColumnDef": {"pinned": "left", "width": 40},
            "localeText": _grid_words(),
            "context": {"words": _words(), "icons": FILE_ICONS, "address": f"{links.DOCUMENTS}/"},
            "rowHeight": 44,
            "headerHeight": 40,
            "tooltipShowDelay": 300,
            "stopEditingWhenCellsLoseFocus": True,
            "singleClickEdit": True,
            "animateRows": False,
            "suppressCellFocus": False,
            "enableCellTextSelection": True,
            "ensureDomOrder": True,
            "domLayout": "autoHeight" if is_short else "normal",
        },
        className="document-grid document-grid-short" if is_short else "document-grid",
        style={"height": None, "width": "100%"},
    )


def columns() -> list[dict[str, Any]]:
    number = {"type": "rightAligned", "cellClass": "ag-right-aligned-cell num"}
    return [
        {
            "field": "name",
            "headerName": t("documents.name"),
            "cellRenderer": "DocumentName",
            "flex": 3,
            "minWidth": 190,
        },
        {"field": "type", "headerName": t("documents.type"), "width": 60},
        {
            "field": "tags",
            "headerName": t("documents.tags"),
            "editable": True,
            "cellEditor": "agTextCellEditor",
            "cellRenderer": "DocumentTags",
            "tooltipValueGetter": {"function": "evoWord(params, 'tags_hint')"},
            "flex": 2,
            "minWidth": 84,
        },
        {"field": "state", "headerName": t("documents.state"), "cellRenderer": "DocumentState", "width": 138},
        {
            "field": "versions",
            "headerName": t("documents.versions"),
            "headerTooltip": t("documents.versions_explain"),
            "valueFormatter": _js("evoVersions"),
            "width": 74,
            **number,
        },
        {"field": "size", "headerName": t("documents.size"), "valueFormatter": _js("evoSize"), "width": 88, **number},
        {
            "field": "chunks",
            "headerName": t("documents.chunks"),
            "valueFormatter": _js("evoNumber"),
            "width": 88,
            **number,
        },
        {"field": "language", "headerName": t("documents.language"), "width": 90},
        {
            "field": "updated",
            "headerName": t("documents.updated"),
            "valueFormatter": _js("evoAgo"),
            "tooltipValueGetter": _js("evoMoment"),
            "width": 106,
        },
        {
            "field": "is_text",
            "headerName": t("document.edit"),
            "cellRenderer": "DocumentEdit",
            "sortable": False,
            "resizable": False,
            "width": 48,
        },
    ]


def row_of(document: Document) -> dict[str, Any]:
    """A document as a row of the grid, as small as can be; also what a change of one document sends to the browser."""
    return {
        "key": document.doc_key,
        "name": document.name,
        "type": document.extension,
        "tags": ", ".join(document.tags),
        "state": "scheduled" if document.publish_at and document.state in HIDDEN_STATES else document.state,
        "versions": document.version_count,
        "published": document.published_version,
        **_next(document),
        **({"in_part": in_part_words(document.in_part)} if document.in_part else {}),
        "size": document.size_bytes,
        "chunks": document.chunk_count,
        "language": language_word(document.language),
        "updated": document.updated_at.isoformat(),
        "is_text": document.is_text_entry and document.state not in ("deleted", "purged"),
    }


def _next(document: Document) -> dict[str, Any]:
    """What waits behind a published version: when another is published by itself, or a newer one that is not shown."""
    published = document.published_version
    if document.state != "published" or published is None:
        return {}
    if document.publish_at is not None:
        return {"scheduled": document.publish_at.isoformat()}
    return {"hidden": document.latest_version} if document.latest_version > published else {}


def language_word(code: str) -> str:
    return t(f"language.{code}") if has(f"language.{code}") else code


def tags_of(text: str) -> tuple[str, ...]:
    """The tags that a person wrote with commas (or 、) between them, each once, in order."""
    parts = text.replace("、", ",").replace("，", ",").split(",")
    return tuple(dict.fromkeys(part.strip()[:MAX_TAG_CHARS] for part in parts if part.strip()))


def _js(name: str) -> dict[str, str]:
    return {"function": f"{name}(params)"}


def _grid_words() -> dict[str, str]:
    """What AG Grid itself says, to the eye and to a screen reader."""
    return {
        "noRowsToShow": t("documents.none_match"),
        "noMatchingRows": t("documents.none_match"),
        "ariaRowSelect": t("documents.select_row"),
        "ariaRowDeselect": t("documents.deselect_row"),
        "ariaRowToggleSelection": t("documents.toggle_row"),
        "ariaHeaderSelection": t("documents.select_all"),
        "ariaSortableColumn": t("documents.sort_column"),
        "ariaEditableCell": t("documents.edit_cell"),
        "ariaChecked": t("documents.checked"),
        "ariaUnchecked": t("documents.unchecked"),
        "ariaIndeterminate": t("documents.partly_checked"),
    }


def _words() -> dict[str, str]:
    words = {f"state_{state}": t(f"document.state.{state}") for state in STATES}
    words |= {f"meaning_{state}": meaning for state, meaning in STATES.items()}
    return (
        words
        | {"edit": t("documents.edit"), "tags_hint": t("documents.tags_hint")}
        | {name: t(f"documents.{name}", time="{time}", number="{number}") for name in ("next_scheduled", "next_hidden")}
    )
