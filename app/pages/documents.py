"""Documents: every document in one list that can be searched, sorted, tagged, deleted, and added to as text.

The server searches, sorts and pages; the address holds what is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dash import (
    ALL,
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
    set_props,
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.document.grid import document_grid, row_of, tags_of
from app.components.document.list_head import list_head
from app.components.shared.icon import icon
from app.components.shared.paged_list import asked, list_place, nothing_fits, page_asked, pager, words_asked
from app.components.shared.states import empty, error_line, link_button, notify, report_callback_error, shows_errors
from app.components.shared.text_entry import text_entry
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput
from core.model import DocumentPage, DocumentQuery, DocumentSort

GRID = "documents-grid"
TICK_MS = 3_000
RECENT_JOBS = 100
PAGE_DOCUMENTS = 100
ASKED = ("q", "page", "sort", "order", "state", "language", "tag", "deleted")
"""What the address says of the list."""

register_page(__name__, path=links.DOCUMENTS, title=tab_title("documents.title"), script="documents/page.js")


@shows_errors
def layout(edit: str = "", new: str = "", **query: Any) -> html.Div:
    """The list that the address asks for; ``edit`` opens a text entry, ``new`` a form."""
    query = {name: str(value) for name, value in query.items() if name in ASKED}
    wanted = _wanted(query)
    page = kb().document_list(wanted)
    has_any = bool(page.total or kb().document_list(DocumentQuery(include_deleted=True, limit=0)).total)
    name, text = _entry(edit) if edit else ("", "")
    actions = html.Div(
        [
            html.Button(
                [icon("plus-lg"), t("documents.add_text")],
                id="documents-add",
                type="button",
                className="btn btn-secondary for-editors",
            ),
            link_button(t("documents.upload"), links.UPLOAD, "upload", primary=True),
        ],
        className="button-row",
    )
    first = empty("files", t("documents.empty_title"), t("documents.empty_text"))
    content = [
        text_entry(name, text, kb().settings.limits.max_text_chars, is_open=bool(edit or new), is_new=not edit),
        list_place(
            "documents",
            [
                html.Div(
                    [
                        list_head(query, kb().document_languages(), kb().tags()),
                        document_grid(page.documents, GRID, wanted.sort, wanted.descending),
                        html.Div(_pager(query, page), id="documents-pager"),
                    ],
                    className="documents-some",
                ),
                html.Div(first, className="documents-none"),
            ],
            id="documents-list",
            className=_class(page, has_any),
        ),
        asked("documents", query),
        *_stores(_words(page, wanted)),
    ]
    return named_page("documents", content, action=actions)


def _wanted(query: Mapping[str, str]) -> DocumentQuery:
    """What an address asks for; what it has of no sense asks for nothing."""
    sort, is_down = query.get("sort", ""), query.get("order") == "desc"
    if sort not in list(DocumentSort):
        sort, is_down = DocumentSort.UPDATED, True
    return DocumentQuery(
        words_asked(query),
        bool(query.get("deleted")),
        (query["tag"],) if query.get("tag") else (),
        language=query.get("language", ""),
        state=query.get("state", ""),
        sort=DocumentSort(sort),
        descending=is_down,
        offset=(page_asked(query) - 1) * PAGE_DOCUMENTS,
        limit=PAGE_DOCUMENTS,
    )


def _class(page: DocumentPage, has_any: bool) -> str:
    return "" if page.total else "finds-nothing" if has_any else "is-empty"


def _pager(query: Mapping[str, str], page: DocumentPage) -> list[Any]:
    if not page.total and (query.get("q") or query.get("state") or query.get("language") or query.get("tag")):
        return nothing_fits(links.DOCUMENTS)
    return pager(links.DOCUMENTS, query, page.total, PAGE_DOCUMENTS)


def _words(page: DocumentPage, wanted: DocumentQuery) -> dict[str, Any]:
    """What the browser says beside the list, and how it is sorted."""
    return {
        "selected": t("documents.selected"),
        "shown": t("documents.shown", count=page.total),
        "sort": wanted.sort,
        "order": "desc" if wanted.descending else "asc",
    }


@callback(
    Output(GRID, "rowData"),
    Output("documents-pager", "children"),
    Output("documents-words", "data"),
    Output("documents-list", "className"),
    Input("documents-asked", "data"),
    prevent_initial_call=True,
)
def show_list(query: dict[str, str]) -> tuple[Any, ...]:
    """Show what the address asks for now."""
    wanted = _wanted(query)
    page = kb().document_list(wanted)
    has_any = bool(page.total or kb().document_list(DocumentQuery(include_deleted=True, limit=0)).total)
    rows = [row_of(document) for document in page.documents]
    return rows, _pager(query, page), _words(page, wanted), _class(page, has_any)


def _entry(doc_key: str) -> tuple[str, str]:
    document = kb().document(doc_key)
    if not document.is_text_entry:
        raise InvalidInput(t("documents.no_text_entry", name=document.name), remedy=t("documents.no_text_entry_remedy"))
    newest = next((version for version in kb().versions(doc_key) if version.state == "ready"), None)
    goes_on = newest is not None and newest.is_draft
    return document.name, kb().text_of(doc_key, newest.number if newest is not None and goes_on else None)


def _stores(words: dict[str, Any]) -> list[Any]:
    return [
        dcc.Store(id="documents-words", data=words),
        dcc.Store(id="documents-chosen", data={}),
        dcc.Store(id="documents-changes", data={}),
        dcc.Store(id="documents-seen", data=datetime.now(UTC).isoformat()),
        dcc.Store(id="documents-edited", data={}),
        dcc.Store(id="documents-applied", data=0),
        dcc.Interval(id="documents-tick", interval=TICK_MS),
    ]


def _changes(doc_keys: Sequence[str]) -> dict[str, Any]:
    return {"keys": list(dict.fromkeys(doc_keys))}


clientside_callback(
    ClientsideFunction("documents", "told"),
    Output("documents-count", "children"),
    Input("documents-words", "data"),
)
clientside_callback(
    ClientsideFunction("documents", "selected"),
    Output("documents-delete", "disabled"),
    Output("documents-restore", "disabled"),
    Input(GRID, "selectedRows"),
)
clientside_callback(
    ClientsideFunction("documents", "choose"),
    Output("documents-chosen", "data"),
    Input("documents-delete", "n_clicks"),
    Input("documents-restore", "n_clicks"),
    prevent_initial_call=True,
)
clientside_callback(
    ClientsideFunction("documents", "apply"),
    Output("documents-applied", "data"),
    Input("documents-changes", "data"),
)


@callback(
    Output("documents-changes", "data", allow_duplicate=True),
    Input("documents-chosen", "data"),
    prevent_initial_call=True,
    running=[(Output("documents-delete", "className"), "btn btn-secondary is-working", "btn btn-secondary")],
)
def change_chosen(chosen: dict[str, Any]) -> dict[str, Any]:
    """Delete or restore the chosen documents; a delete can be undone from the notice."""
    doc_keys: list[str] = chosen.get("keys", [])
    if not doc_keys:
        raise PreventUpdate
    if chosen["action"] == "restore":
        for doc_key in doc_keys:
            kb().restore(doc_key)
        notify("ok", t("documents.restored", count=len(doc_keys)))
        return _changes(doc_keys)
    for doc_key in doc_keys:
        kb().delete(doc_key)
    undo = html.Button(
        t("documents.undo"),
        id={"type": "documents-undo", "keys": json.dumps(doc_keys, ensure_ascii=False)},
        type="button",
        className="btn btn-link btn-sm",
    )
    notify("ok", t("documents.deleted", count=len(doc_keys)), undo)
    return _changes(doc_keys)


@callback(Input({"type": "documents-undo", "keys": ALL}, "n_clicks"), prevent_initial_call=True)
def undo_delete(clicks: list[int | None]) -> None:
    """Show again what a delete took away, on whichever page the notice is read."""
    if not any(clicks) or not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    doc_keys = json.loads(ctx.triggered_id["keys"])
    for doc_key in doc_keys:
        kb().restore(doc_key)
    set_props("documents-changes", {"data": _changes(doc_keys)})
    notify("ok", t("documents.restored", count=len(doc_keys)))


@callback(
    Output("documents-changes", "data", allow_duplicate=True),
    Input(GRID, "cellValueChanged"),
    prevent_initial_call=True,
)
def edit_tags(changes: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Keep the tags that were written into the list; a refused change shows the kept ones again."""
    touched = []
    for change in changes or []:
        doc_key = str(change["data"]["key"])
        touched.append(doc_key)
        try:
            kb().set_tags(doc_key, tags_of(str(change["value"] or "")))
        except EvoRAGError as error:
            report_callback_error(error)
    return _changes(touched)


@callback(
    Output("documents-changes", "data", allow_duplicate=True),
    Output("documents-seen", "data"),
    Input("documents-tick", "n_intervals"),
    State("documents-seen", "data"),
    prevent_initial_call=True,
)
def follow_jobs(_: int, seen: str) -> tuple[Any, str]:
    """Bring the rows up to date whose documents were worked on since the last look."""
    since = datetime.fromisoformat(seen)
    jobs = kb().jobs(limit=RECENT_JOBS)
    touched = [job.doc_key for job in jobs if job.updated_at >= since]
    latest = max((job.updated_at for job in jobs), default=since)
    if not touched:
        return no_update, max(latest, since).isoformat()
    return _changes(touched), max(latest, since).isoformat()


@callback(
    Output("documents-entry", "hidden"),
    Output("documents-entry-title", "children"),
    Output("documents-entry-name", "value"),
    Output("documents-entry-name", "disabled"),
    Output("documents-entry-text", "value"),
    Output("documents-entry-note", "value"),
    Output("documents-entry-error", "children", allow_duplicate=True),
    Input("documents-add", "n_clicks"),
    Input("documents-entry-cancel", "n_clicks"),
    Input("documents-edited", "data"),
    State("documents-entry-name", "disabled"),
    prevent_initial_call=True,
)
def open_entry(
    _add: int | None, _cancel: int | None, chosen: dict[str, Any] | None, is_of_existing: bool | None
) -> tuple[Any, ...]:
    """Open the form for a new text entry or for the chosen one, or close it; what was begun of a new one stays."""
    if ctx.triggered_id == "documents-entry-cancel":
        return True, no_update, "", False, "", "", None
    if ctx.triggered_id == "documents-add":
        words = ("", False, "", "") if is_of_existing else (no_update,) * 4
        return False, t("documents.new_entry"), *words, None
    if not chosen:
        raise PreventUpdate
    name, text = _entry(str(chosen["key"]))
    return False, t("documents.edit_entry"), name, True, text, "", None


@callback(
    Output("documents-entry", "hidden", allow_duplicate=True),
    Output("documents-entry-error", "children"),
    Output("documents-changes", "data", allow_duplicate=True),
    Output("documents-entry-name", "value", allow_duplicate=True),
    Output("documents-entry-text", "value", allow_duplicate=True),
    Output("documents-entry-note", "value", allow_duplicate=True),
    Input("documents-entry-save", "n_clicks"),
    Input("documents-entry-draft", "n_clicks"),
    State("documents-entry-name", "value"),
    State("documents-entry-text", "value"),
    State("documents-entry-note", "value"),
    prevent_initial_call=True,
    running=[(Output("documents-entry-save", "className"), "btn btn-primary is-working", "btn btn-primary")],
)
def save_entry(
    _save: int | None, _draft: int | None, name: str | None, text: str | None, note: str | None
) -> tuple[Any, ...]:
    """Keep a text entry, published or as a draft; the same name again makes its next version."""
    is_draft = ctx.triggered_id == "documents-entry-draft"
    try:
        if not (name or "").strip() or not (text or "").strip():
            raise InvalidInput(t("documents.entry_incomplete"), remedy=t("documents.entry_incomplete_remedy"))
        upload = kb().add_text((name or "").strip(), text or "", note=(note or "").strip(), draft=is_draft)
    except EvoRAGError as error:
        return False, error_line(error), *(no_update,) * 4
    outcome = "draft" if is_draft and upload.outcome == "new" else upload.outcome
    notify("ok", t(f"documents.entry_{outcome}", name=name, version=upload.version))
    return True, None, _changes([upload.doc_key]), "", "", ""


clientside_callback(
    ClientsideFunction("documents", "count"),
    Output("documents-entry-counter", "children"),
    Output("documents-entry-counter", "className"),
    Output("documents-entry-save", "disabled"),
    Output("documents-entry-draft", "disabled"),
    Input("documents-entry-text", "value"),
    Input("documents-entry-name", "value"),
    State("documents-entry-counter", "data-limit"),
)
