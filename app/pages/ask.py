"""Ask: a question, the cited answer, the evidence under it, and the account of how it was found.

The address is the state. Asking ends in an address that names the kept trace, so that a reload, the back button and a
copied link all show the same answer; an address with a question and no trace asks it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import dash_bootstrap_components as dbc
from dash import (
    MATCH,
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
from app.components.answer_card import answer_card, evidence_list
from app.components.ask_form import ask_form, document_options, waiting
from app.components.ask_scope import Offered, version_options
from app.components.frame import named_page, tab_title
from app.components.links import Values, ask_search, query_of
from app.components.question_list import question_list, saved_links
from app.components.save_question import save_button
from app.components.standing import Shown, is_of_now, scope_notice
from app.components.states import empty, error_line, link_button, notify, shows_errors
from app.components.trace_cards import trace_cards
from app.components.trace_tables import fusion_table, keyword_table, vector_table
from app.context import kb, rag
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput, NotFound
from core.model import Document, Query, Trace, VersionRef, format_as_of

RECENT_QUESTIONS = 6
OFFERED_DOCUMENTS = 50
OFFERED_HISTORIES = 20
WAIT_MS = 1_000

register_page(__name__, path=links.ASK, title=tab_title("ask.title"))


@shows_errors
def layout(
    q: Values = None,
    k: Values = None,
    doc: Values = None,
    tag: Values = None,
    type: Values = None,
    asof: Values = None,
    versions: Values = None,
    trace: str = "",
    **_: Any,
) -> html.Div:
    """The question of the address with its kept answer, or asked at once where the address names none."""
    kept, problem = _kept(trace)
    try:
        query = kept.query if kept is not None else query_of(q, k, doc, tag, type, asof, versions)
    except InvalidInput as error:
        query, problem = query_of(q, k, doc, tag, type), error_line(error)
    is_asking = bool(query.text) and kept is None and problem is None
    ready = kb().health().models_ready
    content = [
        ask_form(query, _chosen(query.filters.doc_keys), kb().tags(), _offered("", format_as_of(query.as_of))),
        html.Div(problem, id="ask-problem", role="alert"),
        html.Div(None if ready else waiting(False), id="ask-waiting", role="status"),
        html.P(t("ask.changed"), id="ask-changed", className="ask-changed", role="status", hidden=True),
        html.Div(_result(kept, is_asking), id="ask-result", className="is-asking" if is_asking else ""),
        dcc.Store(id="ask-trace", data=kept.id if kept else ""),
        dcc.Store(
            id="ask-asked", data=[format_as_of(kept.query.as_of), kept.query.versions == "all"] if kept else None
        ),
        dcc.Store(id="ask-now", data=time.time() if is_asking else 0.0),
        dcc.Store(id="ask-pending", data=False),
        dcc.Store(id="ask-go", data={}),
        dcc.Store(id="ask-went", data=False),
        dcc.Interval(id="ask-wait", interval=WAIT_MS, disabled=ready),
    ]
    return named_page("ask", content)


def _kept(trace_id: str) -> tuple[Trace | None, Any]:
    if not trace_id:
        return None, None
    try:
        return kb().trace(trace_id), None
    except NotFound as error:
        return None, error_line(error)


def _chosen(doc_keys: Sequence[str]) -> list[Document]:
    chosen = []
    for doc_key in doc_keys:
        try:
            chosen.append(kb().document(doc_key))
        except NotFound:
            continue
    return chosen


def _result(kept: Trace | None, is_asking: bool) -> list[Any]:
    if is_asking:
        return []
    if kept is None:
        return [_start()]
    switch = dbc.Switch(
        id="ask-details", label=t("ask.details"), value=False, persistence="ask-details", persistence_type="local"
    )
    shown = _shown(kept)
    marked = None if is_of_now(kept, shown) else shown
    save = html.Div(_save(kept.query.text), id="ask-save-box")
    card = answer_card(kept, marked, save, _first_publication() if kept.sequence == 0 else None)
    parts: list[Any] = [scope_notice(kept, shown, _moment_of(kept.query)), card]
    if kept.hits:
        parts.append(evidence_list(kept, marked))
    return [*parts, html.Div(switch, className="details-switch"), html.Div(id="ask-cards", className="trace-cards")]


def _shown(trace: Trace) -> Shown:
    """What each document that the trace names shows now."""
    keys = {hit.placed.doc_key for hit in trace.hits}
    if isinstance(trace.query.as_of, VersionRef):
        keys.add(trace.query.as_of.doc_key)
    shown: dict[str, int | None] = {}
    for key in keys:
        try:
            shown[key] = kb().document(key).published_version
        except NotFound:
            shown[key] = None
    return shown


def _moment_of(query: Query) -> datetime | None:
    """When the publication was made that the question is asked of."""
    if not isinstance(query.as_of, int):
        return None
    newest = kb().audit(limit=1, before=query.as_of + 1)
    return newest[0].at if newest else None


def _first_publication() -> datetime | None:
    """When anything was published first."""
    first = kb().audit(limit=1, before=2)
    return first[0].at if first else None


def _save(question: str) -> html.Button:
    return save_button(any(saved.text == question.strip() for saved in kb().saved_questions()))


def _offered(search: str, chosen: str | None = None) -> Offered:
    """The documents whose names fit, and the one chosen, with their versions."""
    found = {document.doc_key: document for document in kb().documents(search)[:OFFERED_HISTORIES]}
    if chosen is not None and "#v" in chosen:
        key = chosen.rpartition("#v")[0]
        found = {**{document.doc_key: document for document in _chosen([key])}, **found}
    return [(document, kb().versions(key)) for key, document in found.items()]


def _start() -> html.Div:
    if kb().counts().documents == 0:
        action = link_button(t("ask.upload"), links.UPLOAD, "upload", primary=True)
        return empty("chat-square-text", t("ask.no_documents_title"), t("ask.no_documents_text"), action)
    recent, saved = kb().history(RECENT_QUESTIONS), kb().saved_questions()
    if not recent and not saved:
        return empty("chat-square-text", t("ask.first_title"), t("ask.first_text"))
    lists = [("ask.saved", saved_links(saved))] if saved else []
    lists += [("ask.recent", question_list(recent))] if recent else []
    return html.Div(
        [
            html.Section([html.H2(t(key), className="section-title"), below], className="card-plain")
            for key, below in lists
        ],
        className="ask-start",
    )


@callback(
    Output("ask-go", "data"),
    Output("ask-problem", "children"),
    Output("ask-waiting", "children"),
    Output("ask-pending", "data"),
    Output("ask-wait", "disabled"),
    Input("ask-send", "n_clicks"),
    Input("ask-now", "data"),
    State("ask-question", "value"),
    State("ask-k", "value"),
    State("ask-doc", "value"),
    State("ask-tag", "value"),
    State("ask-type", "value"),
    State("ask-kind", "value"),
    State("ask-asof", "data"),
    State("ask-all", "value"),
    running=[
        (Output("ask-send", "className"), "btn btn-primary is-working", "btn btn-primary"),
        (Output("ask-result", "className"), "is-asking", ""),
    ],
)
def ask(
    _clicks: int | None,
    now: float,
    question: str | None,
    k: int | None,
    doc: list[str] | None,
    tag: list[str] | None,
    file_type: list[str] | None,
    kind: str | None,
    asof: str | None,
    of_all: bool | None,
) -> tuple[Any, ...]:
    """Ask the question and go to the address of its trace; wait with it while the models are loading."""
    by_address = ctx.triggered_id != "ask-send"
    if by_address and not now:
        raise PreventUpdate
    versions = "all" if of_all and kind != "version" else ""
    try:
        if (kind or "now") != "now" and not asof:
            raise InvalidInput(t("ask.no_as_of"), remedy=t(f"ask.no_as_of_remedy.{kind}"))
        query = query_of((question or "").strip(), str(k or ""), doc, tag, file_type, asof, versions)
        if not query.text:
            raise InvalidInput(t("ask.no_question"), remedy=t("ask.no_question_remedy"))
        if not kb().health().models_ready:
            return no_update, None, waiting(True), True, False
        answered = rag().ask(query)
    except EvoRAGError as error:
        return no_update, error_line(error), None, False, no_update
    return {"search": ask_search(query, answered.id), "replace": by_address}, None, None, False, True


@callback(
    Output("ask-now", "data"),
    Output("ask-waiting", "children", allow_duplicate=True),
    Output("ask-wait", "disabled", allow_duplicate=True),
    Input("ask-wait", "n_intervals"),
    State("ask-pending", "data"),
    prevent_initial_call=True,
)
def look_for_models(_: int, pending: bool) -> tuple[Any, ...]:
    """Ask the waiting question as soon as the models are ready."""
    if not kb().health().models_ready:
        raise PreventUpdate
    return (time.time() if pending else no_update), None, True


@callback(Output("ask-cards", "children"), Input("ask-details", "value"), State("ask-trace", "data"))
def show_details(is_on: bool, trace_id: str) -> Any:
    """The five cards of the shown trace, while the switch is on."""
    if not is_on or not trace_id:
        return None
    return trace_cards(kb().trace(trace_id))


@callback(
    Output({"type": "trace-rows", "card": MATCH}, "children"),
    Output({"type": "trace-more", "card": MATCH}, "hidden"),
    Input({"type": "trace-more", "card": MATCH}, "n_clicks"),
    State("ask-trace", "data"),
    prevent_initial_call=True,
)
def show_all_rows(clicks: int | None, trace_id: str) -> tuple[Any, bool]:
    """Every row of one card's table in place of the first ten."""
    if not clicks or not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    trace = kb().trace(trace_id)
    rows = trace.query.depth * 2
    card = ctx.triggered_id["card"]
    if card == "fusion":
        return fusion_table(trace, rows), True
    return (vector_table if card == "vector" else keyword_table)(trace, rows), True


@callback(
    Output("ask-doc", "options"),
    Input("ask-doc", "search_value"),
    State("ask-doc", "value"),
    prevent_initial_call=True,
)
def offer_documents(search: str | None, chosen: list[str] | None) -> list[dict[str, str]]:
    """The documents whose names fit what is written, and the chosen ones."""
    found = kb().documents(search or "")[:OFFERED_DOCUMENTS]
    return document_options([*_chosen(chosen or []), *found])


@callback(
    Output("ask-version", "options"),
    Input("ask-version", "search_value"),
    State("ask-version", "value"),
    prevent_initial_call=True,
)
def offer_versions(search: str | None, chosen: str | None) -> list[dict[str, str]]:
    """The versions of the documents whose names fit what is written, and the chosen one."""
    return version_options(_offered(search or "", chosen), chosen)


@callback(
    Output("ask-save-box", "children"),
    Input("ask-save", "n_clicks"),
    State("ask-trace", "data"),
    prevent_initial_call=True,
)
def save_question(clicks: int | None, trace_id: str) -> html.Button:
    """Save the question that is shown, or forget it where it is saved."""
    if not clicks:
        raise PreventUpdate
    text = kb().trace(trace_id).query.text
    known = next((saved for saved in kb().saved_questions() if saved.text == text.strip()), None)
    if known is None:
        kb().save_question(text)
    else:
        kb().forget_question(known.id)
    notify("ok", t("ask.saved_now" if known is None else "ask.forgotten"))
    return save_button(known is None)


clientside_callback(
    ClientsideFunction("scope", "choose"),
    Output("ask-asof", "data"),
    Output("ask-moment-box", "hidden"),
    Output("ask-sequence-box", "hidden"),
    Output("ask-version-box", "hidden"),
    Output("ask-all-box", "hidden"),
    Input("ask-kind", "value"),
    Input("ask-moment", "value"),
    Input("ask-sequence", "value"),
    Input("ask-version", "value"),
    State("ask-asof-start", "data"),
    prevent_initial_call=True,
)

clientside_callback(
    ClientsideFunction("scope", "differs"),
    Output("ask-changed", "hidden"),
    Input("ask-kind", "value"),
    Input("ask-asof", "data"),
    Input("ask-all", "value"),
    State("ask-asked", "data"),
    prevent_initial_call=True,
)

clientside_callback(
    ClientsideFunction("scope", "open"),
    Output("ask-moment", "value"),
    Input("ask-asof-start", "data"),
)

clientside_callback(
    ClientsideFunction("ask", "go"),
    Output("ask-went", "data"),
    Input("ask-go", "data"),
    prevent_initial_call=True,
)
