"""Where Compare starts: the documents that have several versions, newest first, to be searched and chosen from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Input, Output, callback, html

from app import links
from app.components.compare.body import start_list
from app.components.shared.paged_list import (
    asked,
    list_place,
    nothing_fits,
    page_asked,
    pager,
    search_field,
    words_asked,
)
from app.components.shared.states import empty, link_button
from app.components.shell.frame import page
from app.context import kb
from app.i18n import t
from core.model import DocumentQuery, DocumentSort

PAGE_DOCUMENTS = 50


def start_page(query: Mapping[str, str]) -> html.Div:
    """Return the page of no document; where none has versions to compare, it is an invitation to upload."""
    listed = _listed(query)
    if not listed and not query.get("q"):
        action = link_button(t("compare.upload"), links.UPLOAD, "upload", primary=True)
        content: Any = empty("file-diff", t("compare.none"), t("compare.none_text"), action)
    else:
        field = html.Div(search_field("compare", query.get("q", ""), t("documents.search")), className="toolbar")
        title = html.H2(t("compare.choose"), className="section-title")
        list_ = html.Section([title, html.Div(listed or nothing_fits(links.COMPARE), id="compare-start")])
        content = list_place("compare", [field, html.Div(list_, className="card-plain"), asked("compare", query)])
    return page(t("compare.title"), t("compare.purpose"), content, wide=True)


def _listed(query: Mapping[str, str]) -> list[Any]:
    """The page of the list that the address asks for; nothing where no document fits."""
    found = kb().document_list(
        DocumentQuery(
            words_asked(query),
            least_versions=2,
            sort=DocumentSort.UPDATED,
            descending=True,
            offset=(page_asked(query) - 1) * PAGE_DOCUMENTS,
            limit=PAGE_DOCUMENTS,
        )
    )
    if not found.total:
        return []
    return [start_list(found.documents), *pager(links.COMPARE, query, found.total, PAGE_DOCUMENTS)]


@callback(Output("compare-start", "children"), Input("compare-asked", "data"), prevent_initial_call=True)
def show_list(query: dict[str, str]) -> list[Any]:
    """Show what the address asks for now."""
    return _listed(query) or nothing_fits(links.COMPARE)
