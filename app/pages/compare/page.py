"""Compare: any two versions side by side or inline, what changed first, and what that changes in the answers.

The address is the state. The page is there at once; a comparison that is still being computed is waited for with a bar
that shows how far it is, and can be stopped. Lines of the text come through ``/api/v1/compare/rows``, everything else
from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    ctx,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.compare.address import Given, Pair, Shown, across, chosen, one, pair, shown_by
from app.components.compare.answers import QUESTION_CHARS, answers_view
from app.components.compare.body import LONG_S, compare_body, percent_of, stopped, told, waiting
from app.components.compare.head import export_menu, pickers
from app.components.compare.image_slider import images
from app.components.compare.tables import table_grid, table_view
from app.components.shared.document_options import document_options
from app.components.shared.states import empty, error_state, link_button, shows_errors
from app.components.shell.frame import page, tab_title
from app.context import kb
from app.i18n import t
from app.pages.compare.start import start_page
from core.errors import EvoRAGError, Purged
from core.model import Document, Version

if TYPE_CHECKING:
    from core.versions.result import ComparisonResult

OFFERED_DOCUMENTS = 1_000
TICK_MS = 500
DRAWN_LATE = ("table", "images", "answers")


def _compared(address: Mapping[str, str]) -> str:
    keys = dict.fromkeys(filter(None, (address.get("doc"), address.get("other"))))
    return " ↔ ".join(kb().document(key).name for key in keys)


register_page(__name__, path=links.COMPARE, title=tab_title("compare.title", _compared), script="compare/page.js")


@shows_errors
def layout(
    doc: Given = None,
    old: Given = None,
    new: Given = None,
    other: Given = None,
    mode: Given = None,
    folded: Given = None,
    view: Given = None,
    find: Given = None,
    **listed: Any,
) -> html.Div:
    """The two versions that the address names; without a document, the documents that have several versions."""
    if not one(doc):
        return start_page({name: one(listed[name]) for name in ("q", "page") if one(listed.get(name))})
    document = kb().document(one(doc))
    versions = kb().versions(document.doc_key)
    second = kb().document(one(other)) if one(other) and one(other) != document.doc_key else document
    is_one = second is document
    compared = chosen(document, versions, old, new) if is_one else across(document, second, old, new)
    shown = shown_by(view, mode, folded, find)
    others = versions if is_one else kb().versions(second.doc_key)
    offered = kb().documents(limit=OFFERED_DOCUMENTS)
    action = export_menu(compared) if compared else None
    head = pickers(compared, (document, second), (versions, others), offered, action)
    body, is_waiting = _body(compared, shown) if compared else (_one_version(document, versions), False)
    content = [
        head,
        html.P(id="compare-export-said", className="meaning meaning-error", role="alert"),
        waiting(is_waiting),
        html.Div(body, id="compare-body"),
        dcc.Store(id="compare-pair", data=compared.as_dict() if compared else None),
        dcc.Store(id="compare-go", data={}),
        dcc.Store(id="compare-went", data=False),
        dcc.Interval(id="compare-tick", interval=TICK_MS, disabled=not is_waiting),
    ]
    return page(t("compare.title"), _names(document, second), content, wide=True)


def _names(document: Document, second: Document) -> str:
    first = document.title or document.name
    return first if second is document else f"{first} ↔ {second.title or second.name}"


def _body(compared: Pair, shown: Shown) -> tuple[Any, bool]:
    """What is shown of two versions now, and whether it is being computed, which begins here where it has not."""
    try:
        comparison = kb().compare(compared.doc, compared.old, compared.new, other=compared.other, wait=False)
    except EvoRAGError as error:
        return _failed(error), False
    return (None, True) if comparison is None else (_drawn(comparison, compared, shown), False)


def _failed(error: EvoRAGError) -> html.Div:
    return error_state(error, again="" if isinstance(error, Purged) else None)


def _drawn(comparison: ComparisonResult, compared: Pair, shown: Shown) -> html.Div:
    tables = sum(1 for table in comparison.tables() if table.changed or table.columns_changed)
    same_bytes = _same_bytes(compared)
    return compare_body(comparison.summary, compared, shown, tables=tables, same_bytes=same_bytes)


def _same_bytes(compared: Pair) -> bool:
    old = kb().version(compared.doc, compared.old)
    new = kb().version(compared.new_doc, compared.new)
    return old.sha256 == new.sha256


def _one_version(document: Document, versions: list[Version]) -> html.Div:
    waits = any(version.state == "stored" for version in versions)
    key = "compare.waiting_version" if waits else "compare.one_version"
    action = link_button(t("compare.upload"), links.UPLOAD, "upload", primary=True)
    return empty("file-diff", t(key), t(f"{key}_text", name=document.name), action)


@callback(
    Output("compare-body", "children"),
    Output("compare-waiting", "hidden"),
    Output("compare-tick", "disabled"),
    Output("compare-progress", "value"),
    Output("compare-left", "children"),
    Output("compare-goes-on", "hidden"),
    Input("compare-tick", "n_intervals"),
    Input("compare-cancel", "n_clicks"),
    State("compare-pair", "data"),
    State("_pages_location", "search"),
    prevent_initial_call=True,
)
def look_again(_: int, __: int | None, data: dict[str, Any], search: str) -> tuple[Any, ...]:
    """Show how far the comparison is, itself as soon as it is computed, and that it was stopped."""
    compared = Pair(**data)
    which = (compared.doc, compared.old, compared.new)
    try:
        if ctx.triggered_id == "compare-cancel":
            kb().cancel_comparison(*which, other=compared.other)
        progress = kb().comparison_progress(*which, other=compared.other)
        is_there = progress is not None and progress.share >= 1
        if progress is not None and not is_there and ctx.triggered_id != "compare-cancel":
            goes_on = progress.elapsed_s >= LONG_S
            return no_update, False, False, str(percent_of(progress)), told(progress), not goes_on
        body: Any = stopped(compared)
        if is_there:
            values = parse_qs(search.lstrip("?"))
            shown = shown_by(values.get("view"), values.get("mode"), values.get("folded"), values.get("find"))
            body = _drawn(_comparison(compared), compared, shown)
    except EvoRAGError as error:
        body = _failed(error)
    return body, True, True, "100", "", True


@callback(
    Output("compare-go", "data"),
    Input("compare-old-doc", "value"),
    Input("compare-new-doc", "value"),
    Input("compare-old-version", "value"),
    Input("compare-new-version", "value"),
    Input("compare-swap", "n_clicks"),
    State("compare-pair", "data"),
    prevent_initial_call=True,
)
def choose(old_doc: str, new_doc: str, old: str, new: str, swap: int | None, data: dict[str, Any] | None) -> Any:
    """Go to the address of what was chosen; another document begins with the version that it shows."""
    now = Pair(**data) if data else None
    trigger = ctx.triggered_id
    if trigger == "compare-swap":
        if not swap or now is None:
            raise PreventUpdate
        return {"address": now.swapped().href()}
    if not old_doc or not new_doc:
        raise PreventUpdate
    if trigger in ("compare-old-doc", "compare-new-doc"):
        if now is not None and (old_doc, new_doc) == (now.doc, now.new_doc):
            raise PreventUpdate
        if old_doc == new_doc:
            return {"address": links.compare(old_doc)}
        keeps_old = trigger == "compare-new-doc"
        first = int(old) if keeps_old and old else None
        last = int(new) if not keeps_old and new else None
        return {"address": links.compare(old_doc, first, last, other=new_doc)}
    if not old or not new:
        raise PreventUpdate
    wanted = pair(old_doc, int(old), new_doc, int(new))
    if wanted == now:
        raise PreventUpdate
    return {"address": wanted.href()}


@callback(
    Output("compare-old-doc", "options"),
    Input("compare-old-doc", "search_value"),
    State("compare-old-doc", "value"),
    prevent_initial_call=True,
)
def offer_old(search: str | None, value: str | None) -> list[dict[str, str]]:
    """The documents whose names fit what is written, and the chosen one."""
    return _offered(search, value)


@callback(
    Output("compare-new-doc", "options"),
    Input("compare-new-doc", "search_value"),
    State("compare-new-doc", "value"),
    prevent_initial_call=True,
)
def offer_new(search: str | None, value: str | None) -> list[dict[str, str]]:
    """The same for the other side."""
    return _offered(search, value)


def _offered(search: str | None, value: str | None) -> list[dict[str, str]]:
    if kb().documents_page(limit=1)[1] <= OFFERED_DOCUMENTS:
        raise PreventUpdate  # All of them are there, and the field finds them by itself.
    kept = [kb().document(value)] if value else []
    return document_options([*kept, *kb().documents(search or "", limit=OFFERED_DOCUMENTS)])


@callback(
    Output("compare-panel-table", "children"),
    Output("compare-panel-images", "children"),
    Output("compare-panel-answers", "children"),
    Output("compare-drawn", "data"),
    Input("compare-shown-view", "data"),
    State("compare-drawn", "data"),
    State("compare-pair", "data"),
    State("_pages_location", "search"),
)
def draw_panel(view: str, drawn: list[str], data: dict[str, Any], search: str) -> tuple[Any, ...]:
    """Draw the tables, the images or the answers when they are looked at for the first time."""
    if view not in DRAWN_LATE or view in drawn:
        raise PreventUpdate
    compared = Pair(**data)
    panels = [_panel(name, compared, search) if name == view else no_update for name in DRAWN_LATE]
    return *panels, [*drawn, view]


def _panel(view: str, compared: Pair, search: str) -> Any:
    if view == "table":
        return table_view(_comparison(compared).tables())
    if view == "images":
        return images(_comparison(compared).summary.images, compared)
    asked = parse_qs((search or "").lstrip("?"))
    question, alone = one(asked.get("q"))[:QUESTION_CHARS], one(asked.get("alone")) != "0"
    return answers_view(compared, kb().saved_questions(), _subject(compared), question=question, alone=alone)


@callback(
    Output("compare-table", "children"),
    Input("compare-table-choice", "value"),
    Input("compare-table-all", "value"),
    State("compare-pair", "data"),
)
def draw_table(index: str, with_equal: bool, data: dict[str, Any]) -> html.Div:
    """Show the chosen table, with or without the rows that are the same."""
    return table_grid(_comparison(Pair(**data)).table(int(index)), bool(with_equal))


def _comparison(compared: Pair) -> ComparisonResult:
    return kb().compare(compared.doc, compared.old, compared.new, other=compared.other)


def _subject(compared: Pair) -> Version | None:
    """The version whose publication would change something: the newer one unless it is shown, else the older one."""
    for doc, number in ((compared.new_doc, compared.new), (compared.doc, compared.old)):
        version = kb().version(doc, number)
        if not version.is_published and version.state == "ready":
            return version
    return None


clientside_callback(
    ClientsideFunction("compare", "go"),
    Output("compare-went", "data"),
    Input("compare-go", "data"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("compare", "start"),
    Output("compare-started", "data"),
    Input("compare-ready", "data"),
)
