"""Ask: a question, the cited answer, the evidence under it, and the account of how it was found.

The address is the state. Asking ends in an address that names the kept trace, so that a reload, the back button and a
copied link all show the same answer; an address with a question and no trace asks it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
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
from app.components.frame import named_page, tab_title
from app.components.links import Values, ask_search, query_of
from app.components.question_list import question_list
from app.components.states import empty, error_line, link_button, shows_errors
from app.components.trace_cards import trace_cards
from app.components.trace_tables import fusion_table, keyword_table, vector_table
from app.context import kb, rag
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput, NotFound
from core.model import Document, Trace

RECENT_QUESTIONS = 6
OFFERED_DOCUMENTS = 50
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
    trace: str = "",
    **_: Any,
) -> html.Div:
    """The question of the address with its kept answer, or asked now where the address names none."""
    query = query_of(q, k, doc, tag, type, asof)
    kept, problem = _kept(trace)
    if kept is not None:
        query = kept.query
    is_asking = bool(query.text) and kept is None and problem is None
    ready = kb().health().models_ready
    content = [
        ask_form(query, _chosen(query.filters.doc_keys), kb().tags()),
        html.Div(problem, id="ask-problem", role="alert"),
        html.Div(None if ready else waiting(False), id="ask-waiting", role="status"),
        html.Div(_result(kept, is_asking), id="ask-result", className="is-asking" if is_asking else ""),
        dcc.Store(id="ask-trace", data=kept.id if kept else ""),
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
    parts: list[Any] = [answer_card(kept)]
    if kept.hits:
        parts.append(evidence_list(kept))
    return [*parts, html.Div(switch, className="details-switch"), html.Div(id="ask-cards", className="trace-cards")]


def _start() -> html.Div:
    if kb().counts().documents == 0:
        action = link_button(t("ask.upload"), links.UPLOAD, "upload", primary=True)
        return empty("chat-square-text", t("ask.no_documents_title"), t("ask.no_documents_text"), action)
    recent = kb().history(RECENT_QUESTIONS)
    if not recent:
        return empty("chat-square-text", t("ask.first_title"), t("ask.first_text"))
    return html.Section(
        [html.H2(t("ask.recent"), className="section-title"), question_list(recent)], className="card-plain"
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
    State("ask-asof", "data"),
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
    asof: str | None,
) -> tuple[Any, ...]:
    """Ask the question and go to the address of its trace; wait with it while the models are loading."""
    by_address = ctx.triggered_id != "ask-send"
    if by_address and not now:
        raise PreventUpdate
    query = query_of((question or "").strip(), str(k or ""), doc, tag, file_type, asof)
    try:
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


clientside_callback(
    ClientsideFunction("ask", "go"),
    Output("ask-went", "data"),
    Input("ask-go", "data"),
    prevent_initial_call=True,
)
