"""Document: what a document says and how it is cut, its versions, its tags, and the way to its original bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)

from app import links
from app.components.document.grid import tags_of
from app.components.document.purge_dialog import purge_dialog
from app.components.shared.icon import icon
from app.components.shared.links import NOW
from app.components.shared.states import shows_errors
from app.components.shell.frame import page, tab_title
from app.context import kb
from app.i18n import t
from app.pages.document.view import View, drawn, read, view_of
from core.errors import NotFound


def _name(address: Mapping[str, str]) -> str:
    key = unquote(address.get("doc_key", "")) or address.get("key", "")
    return kb().document(key).name if key else ""


register_page(__name__, path="/document", title=tab_title("document.title", _name), script="document/page.js")


@shows_errors
def layout(
    key: str = "",
    version: str = "",
    chunk: str = "",
    start: str = "",
    end: str = "",
    view: str = "",
    reading: str = "",
    **_: Any,
) -> html.Div:
    """The document ``key``, at ``version`` (else the published one), with the passage that the address marks.

    ``view`` is how it is shown: ``pages``, ``text`` or ``chunks``. ``reading`` is the one in which both count.
    """
    if not key:
        raise NotFound(t("document.no_key"))
    first, last = _number(start), _number(end)
    span = (first, last) if first is not None and last is not None else None
    # Addresses of passages named no reading when there was only one.
    counted = None if reading == NOW or _number(chunk) is None else _number(reading) or 1
    wanted = View(key, _number(version), _number(chunk), span, view, counted)
    document = read(wanted).past.document
    body, actions, is_still, interval, seen = drawn(wanted)
    above = dcc.Link([icon("arrow-left"), t("document.back")], href=links.DOCUMENTS, className="back-link")
    content = [
        html.Div(body, id="document-body", className="document-columns"),
        purge_dialog(),
        dcc.Store(
            id="document-view",
            data=[wanted.key, wanted.version, wanted.chunk, wanted.span, wanted.mode, wanted.reading],
        ),
        dcc.Store(id="document-open", data={}),
        dcc.Store(id="document-seen", data=seen),
        dcc.Store(id="document-moment"),
        dcc.Store(id="document-refresh"),
        dcc.Store(id="document-scrolled", data=False),
        dcc.Interval(id="document-tick", interval=interval, disabled=is_still),
    ]
    title = document.title or document.name
    action = html.Div(actions, id="document-actions")
    return page(title, document.name if title != document.name else "", content, above=above, action=action)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@shows_errors
def by_path(doc_key: str = "", **parameters: Any) -> html.Div:
    """The same page under the address that every link gives it: ``/documents/<doc_key>``."""
    page: html.Div = layout(**{**parameters, "key": unquote(doc_key)})
    return page


register_page(
    "document_by_path",
    path_template=f"{links.DOCUMENTS}/<doc_key>",
    title=tab_title("document.title", _name),
    layout=by_path,
    script="document/page.js",
)


@callback(
    Output("document-body", "children"),
    Output("document-actions", "children"),
    Output("document-tick", "disabled"),
    Output("document-tick", "interval"),
    Output("document-seen", "data"),
    Input("document-tick", "n_intervals"),
    State("document-view", "data"),
    State("document-open", "data"),
    State("document-seen", "data"),
    prevent_initial_call=True,
)
def follow(_: int, data: list[Any], opened: dict[str, Any] | None, seen: str | None) -> tuple[Any, ...]:
    """Show how far indexing is and what was published meanwhile; a form that someone writes in is left alone."""
    view = view_of(data, opened)
    now = read(view)
    if view.form is not None or now.seen == seen:
        return no_update, no_update, not now.waits, no_update, no_update
    return drawn(view)


@callback(
    Output("document-tags", "value"),
    Output("document-tags-state", "children"),
    Input("document-tags", "value"),
    State("document-view", "data"),
    prevent_initial_call=True,
)
def keep_tags(text: str | None, data: list[Any]) -> tuple[Any, Any]:
    """Keep the tags as soon as the field is left."""
    tags = tags_of(text or "")
    if tags == kb().document(data[0]).tags:
        return no_update, no_update
    kept = kb().set_tags(data[0], tags)
    return ", ".join(kept.tags), t("document.tags_kept")


clientside_callback(
    ClientsideFunction("passage", "reveal"),
    Output("document-scrolled", "data"),
    Input("document-view", "data"),
)
