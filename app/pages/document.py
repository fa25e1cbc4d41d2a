"""Document: what a document says and how it is cut, its versions, its tags, and the way to its original bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

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
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.document_facts import document_actions, document_facts, indexing, tags_editor
from app.components.document_grid import STATES, tags_of
from app.components.frame import page, tab_title
from app.components.icon import icon
from app.components.links import Span
from app.components.preview import PAGE_CHUNKS, page_start, preview
from app.components.states import badge, empty, error_line, notify, shows_errors
from app.components.versions_list import versions_list
from app.context import kb
from app.i18n import t
from core.errors import NotFound
from core.model import Document, Job, Version

TICK_MS = 1_000

register_page(__name__, path="/document", title=tab_title("document.title"))


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks to see; ``chunk`` is a position, ``span`` counts characters of the parsed text."""

    key: str
    version: int | None = None
    chunk: int | None = None
    span: Span | None = None


@shows_errors
def layout(key: str = "", version: str = "", chunk: str = "", start: str = "", end: str = "", **_: Any) -> html.Div:
    """The document ``key``, at ``version`` (else the published one), with the passage that the address marks."""
    if not key:
        raise NotFound(t("document.no_key"))
    first, last = _number(start), _number(end)
    span = (first, last) if first is not None and last is not None else None
    view = View(key, _number(version), _number(chunk), span)
    document = kb().document(key)
    above = dcc.Link([icon("arrow-left"), t("document.back")], href=links.DOCUMENTS, className="back-link")
    versions = kb().versions(key)
    shown = _shown(document, versions, view)
    content = [
        html.Div(_body(document, versions, shown, view), id="document-body", className="document-columns"),
        dcc.Store(id="document-view", data=[view.key, view.version, view.chunk, view.span]),
        dcc.Store(id="document-scrolled", data=False),
        dcc.Interval(id="document-tick", interval=TICK_MS, disabled=not _is_indexing(versions)),
    ]
    title = document.title or document.name
    actions = html.Div(_actions(document, shown), id="document-actions")
    return page(title, document.name if title != document.name else "", content, above=above, action=actions)


def _actions(document: Document, shown: Version | None) -> html.Div:
    return document_actions(document, shown.number if shown else document.latest_version)


def _body(document: Document, versions: list[Version], shown: Version | None, view: View) -> list[Any]:
    main: list[Any] = [_state_line(document, shown, versions)]
    jobs = _jobs(document) if _is_indexing(versions) else []
    main += [indexing(job) for job in jobs]
    if shown is not None and shown.error:
        main.append(error_line(shown.error))
    main.append(_preview(document, shown, view))
    number = shown.number if shown else document.latest_version
    aside = [
        html.Section(
            [html.H2(t("document.versions"), className="section-title"), versions_list(versions, number)],
            className="card-plain",
        ),
        html.Section(
            [
                html.H2(t("document.about"), className="section-title"),
                tags_editor(document),
                document_facts(document, shown),
            ],
            className="card-plain",
        ),
    ]
    return [html.Div(main, className="document-main"), html.Aside(aside, className="document-aside")]


def _state_line(document: Document, shown: Version | None, versions: list[Version]) -> html.Div:
    parts: list[Any] = [badge(STATES.get(document.state, "neutral"), t(f"document.state.{document.state}"))]
    if shown is not None:
        parts.append(html.Span(t("document.showing", number=shown.number, name=shown.file_name)))
        if document.published_version is not None and shown.number != document.published_version:
            parts.append(badge("warning", t("document.not_published", number=document.published_version)))
    elif versions:
        parts.append(html.Span(t("document.nothing_shown")))
    return html.Div(parts, className="state-line")


def _preview(document: Document, shown: Version | None, view: View) -> Any:
    if shown is None or shown.state != "ready":
        waits = shown is not None and shown.state == "stored"
        kind = "waiting" if waits else "nothing"
        return empty("hourglass-split" if waits else "slash-circle", t(f"document.{kind}"), t(f"document.{kind}_text"))
    start = page_start(view.chunk or 0)
    stretch = kb().preview(document.doc_key, shown.number, start, PAGE_CHUNKS)
    if not stretch.chunks:
        return empty("slash-circle", t("document.nothing"), t("document.nothing_text"))
    return preview(stretch, start, view.chunk, view.span)


def _shown(document: Document, versions: list[Version], view: View) -> Version | None:
    """The version that the address names, else the published one, else the newest."""
    if view.version is not None:
        return kb().version(document.doc_key, view.version)
    wanted = document.published_version or document.latest_version
    return next((version for version in versions if version.number == wanted), None)


def _is_indexing(versions: list[Version]) -> bool:
    return any(version.state == "stored" for version in versions)


def _jobs(document: Document) -> list[Job]:
    return [job for job in kb().jobs(active=True) if job.doc_key == document.doc_key]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _again(data: list[Any]) -> tuple[list[Any], html.Div]:
    """The body and the actions of the page as the document is now."""
    key, version, chunk, span = data
    view = View(key, version, chunk, tuple(span) if span else None)
    document = kb().document(key)
    versions = kb().versions(key)
    shown = _shown(document, versions, view)
    return _body(document, versions, shown, view), _actions(document, shown)


@shows_errors
def by_path(doc_key: str = "", **parameters: Any) -> html.Div:
    """The same page under the address that every link gives it: ``/documents/<doc_key>``."""
    return layout(**{**parameters, "key": unquote(doc_key)})


register_page(
    "document_by_path",
    path_template=f"{links.DOCUMENTS}/<doc_key>",
    title=tab_title("document.title"),
    layout=by_path,
)


@callback(
    Output("document-body", "children"),
    Output("document-actions", "children"),
    Output("document-tick", "disabled"),
    Input("document-tick", "n_intervals"),
    State("document-view", "data"),
    prevent_initial_call=True,
)
def follow_indexing(_: int, data: list[Any]) -> tuple[Any, ...]:
    """Show how far the indexing of a new version is, until it ends."""
    return *_again(data), not _is_indexing(kb().versions(data[0]))


@callback(
    Output("document-body", "children", allow_duplicate=True),
    Output("document-actions", "children", allow_duplicate=True),
    Input("document-delete", "n_clicks"),
    Input("document-restore", "n_clicks"),
    State("document-view", "data"),
    prevent_initial_call=True,
)
def delete_or_restore(_delete: int | None, _restore: int | None, data: list[Any]) -> tuple[Any, ...]:
    """Take the document out of every answer, or bring it back; neither loses anything."""
    if not ctx.triggered[0]["value"]:
        raise PreventUpdate
    if ctx.triggered_id == "document-delete":
        kb().delete(data[0])
        notify("ok", t("document.deleted"))
    else:
        kb().restore(data[0])
        notify("ok", t("document.restored"))
    return _again(data)


@callback(
    Output("document-body", "children", allow_duplicate=True),
    Output("document-actions", "children", allow_duplicate=True),
    Input({"type": "version-publish", "number": ALL}, "n_clicks"),
    State("document-view", "data"),
    prevent_initial_call=True,
)
def publish(clicks: list[int | None], data: list[Any]) -> tuple[Any, ...]:
    """Show the chosen version to every question from now on."""
    if not any(clicks) or not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    number = int(ctx.triggered_id["number"])
    kb().publish(data[0], number)
    notify("ok", t("document.published", number=number))
    return _again(data)


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
