"""Ask: a question, the cited answer, the evidence beside it, and the account of how it was found.

The address is the state. Asking ends in an address that names the kept trace, so that a reload, the back button and a
copied link all show the same answer; an address with a question and no trace asks it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

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
from app.components.ask.conversation_turns import conversation_head
from app.components.ask.form import ask_form, waiting
from app.components.ask.save_question import save_button
from app.components.ask.scope import version_options
from app.components.ask.tour import tour
from app.components.ask.trace_cards import trace_cards
from app.components.ask.trace_tables import fusion_table, keyword_table, vector_table
from app.components.shared.document_options import document_options
from app.components.shared.generator_choice import NONE, chosen_by, generator_line, generator_loads, writer
from app.components.shared.links import ask_search, place_of
from app.components.shared.query_options import Values, one
from app.components.shared.sharing import is_own
from app.components.shared.states import error_line, notify, shows_errors
from app.components.shell.frame import named_page, page, tab_title
from app.context import kb, rag
from app.i18n import t
from app.offered_documents import chosen_documents, offered_documents
from app.pages.ask import start
from app.pages.ask.form import addressed, asked, body_of, goes_on_from, kept_with
from app.pages.ask.view import (
    Talk,
    account,
    answered,
    before,
    evidence_of,
    offer,
    offered_versions,
    talk_of,
    usual_generator,
)
from core.errors import EvoRAGError, InvalidInput, NotFound
from core.model import Task, Trace, format_as_of

WAIT_MS = 1_000
GENERATOR_WAIT_MS = 3_000

_TITLE = tab_title("ask.title", lambda address: address.get("q", ""))
register_page(__name__, path=links.ASK, title=_TITLE, script="ask/page.js")


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
    why: Values = None,
    position: Values = None,
    version: Values = None,
    **options: Any,
) -> html.Div:
    """The question of the address with its kept answer, or asked at once where the address names none."""
    talk, lost = _talk(one(options.get("conversation")), trace)
    if talk is not None and not trace and not q and talk.turns:
        trace = talk.turns[-1].summary.id
        talk = replace(talk, trace_id=trace)
    kept, problem = _kept(trace)
    try:
        query = kept.query if kept is not None else addressed(q, k, doc, tag, type, asof, versions, **options)
    except InvalidInput as error:
        query, problem = addressed(q, k, doc, tag, type), error_line(error)
    if talk is None and query.conversation_id and lost is None:
        talk, _ = _talk(query.conversation_id, trace)
    query = replace(query, conversation_id=talk.conversation.id if talk is not None else "")
    problem = problem or lost
    is_asking = bool(query.text) and kept is None and problem is None
    ready = kb().health().models_ready
    choices = offer()
    documents = chosen_documents(query.filters.doc_keys)
    writing = writer(query.generator or choices.generator, record=query.record)
    is_loading = generator_loads(choices.generators, writing)
    is_start = kept is None and talk is None and not is_asking
    goes_on = kept is not None or (talk is not None and not is_asking)
    form = ask_form(
        query, documents, kb().tags(), offered_versions("", format_as_of(query.as_of)), choices, goes_on=goes_on
    )
    box = html.Div(
        [
            html.Div(form, id="ask-asking", hidden=is_start and not query.text and start.is_empty()),
            *([html.Div(start.indexing(), id="start-indexing")] if is_start else []),
        ],
        className="ask-top",
    )
    said = [
        html.Div(problem, id="ask-problem", role="alert"),
        html.Div(None if ready else waiting(False), id="ask-waiting", role="status"),
        html.P(t("ask.changed"), id="ask-changed", className="ask-changed", role="status", hidden=True),
        *([tour()] if is_start else []),
    ]
    shown = [
        *([conversation_head(talk.conversation), talk.earlier()] if talk is not None else []),
        html.Div(id="ask-live", className="ask-live"),
        html.Div(
            [] if is_asking else answered(kept, talk) if kept is not None else before(talk, query.filters.doc_keys),
            id="ask-result",
            className="is-asking" if is_asking else "",
        ),
    ]
    panes = [
        html.Div([*shown, *said, box] if goes_on else [box, *said, *shown], className="ask-talk"),
        html.Div(id="ask-live-evidence", className="ask-live-evidence"),
        *([evidence_of(kept)] if kept is not None and kept.hits else []),
    ]
    content = [
        html.Div(panes, className="ask-panes"),
        *(account(kept, place_of(why, position, version)) if kept is not None else []),
        *(start.ticking() if is_start else []),
        dcc.Store(id="ask-trace", data=kept.id if kept else ""),
        dcc.Store(
            id="ask-asked", data=[format_as_of(kept.query.as_of), kept.query.versions == "all"] if kept else None
        ),
        dcc.Store(id="ask-extra", data=kept_with(query, is_asking=is_asking)),
        dcc.Store(id="ask-now", data=time.time() if is_asking else 0.0),
        dcc.Store(id="ask-anew", data=False),
        dcc.Store(id="ask-pending", data=False),
        dcc.Store(id="ask-go", data={}),
        dcc.Store(id="ask-went", data=False),
        dcc.Store(id="ask-stream", data={}),
        dcc.Store(id="ask-streamed", data=False),
        dcc.Interval(id="ask-wait", interval=WAIT_MS, disabled=ready),
        dcc.Interval(id="ask-generator-wait", interval=GENERATOR_WAIT_MS, disabled=not is_loading),
    ]
    if kept is None:
        return named_page("ask", content)
    # Under an answer, what the page is for goes without saying.
    return page(t("ask.title"), "", content, wide=True)


register_page("start_page", path=links.HOME, title=tab_title("ask.title"), layout=layout, script="ask/page.js")


def _kept(trace_id: str) -> tuple[Trace | None, Any]:
    if not trace_id:
        return None, None
    try:
        return kb().trace(trace_id), None
    except NotFound as error:
        return None, error_line(error)


def _talk(conversation_id: str, trace_id: str) -> tuple[Talk | None, Any]:
    try:
        return talk_of(conversation_id, trace_id), None
    except NotFound as error:
        return None, error_line(error)


@callback(
    output=[
        Output("ask-go", "data"),
        Output("ask-problem", "children"),
        Output("ask-waiting", "children"),
        Output("ask-pending", "data"),
        Output("ask-wait", "disabled"),
        Output("ask-stream", "data"),
    ],
    inputs={"_clicks": Input("ask-send", "n_clicks"), "now": Input("ask-now", "data")},
    state={
        "form": {
            "question": State("ask-question", "value"),
            "k": State("ask-k", "value"),
            "doc": State("ask-doc", "value"),
            "tag": State("ask-tag", "value"),
            "type": State("ask-type", "value"),
            "kind": State("ask-kind", "value"),
            "asof": State("ask-asof", "data"),
            "of_all": State("ask-all", "value"),
            "generator": State("ask-generator", "value"),
            "rerank": State("ask-rerank", "value"),
            "recency": State("ask-recency", "value"),
            "read": State("ask-read", "value"),
            "syntax": State("ask-syntax", "value"),
            "record": State("ask-record", "value"),
            "extra": State("ask-extra", "data"),
            "trace": State("ask-trace", "data"),
            "anew": State("ask-anew", "data"),
        }
    },
    running=[
        (Output("ask-send", "className"), "btn btn-primary is-working", "btn btn-primary"),
        (Output("ask-result", "className"), "is-asking", ""),
    ],
)
def ask(_clicks: int | None, now: float, form: dict[str, Any]) -> tuple[Any, ...]:
    """Ask the question and go to the address of its trace; wait with it while the models are loading.

    Where a generator writes the answer, the browser asks by itself and shows it on its way.
    """
    by_address = ctx.triggered_id != "ask-send"
    if by_address and not now:
        raise PreventUpdate
    try:
        query = asked(form, by_address=by_address)
        if not by_address and goes_on_from(form, query):
            query = replace(query, conversation_id=_begun(str(form["trace"])))
        if not kb().health().models_ready:
            return no_update, None, waiting(True), True, False, no_update
        after = replace(query, fresh=False)
        if query.record or kb().generators.chosen(Task.ANSWER, query.generator or rag().llm_type) != NONE:
            stream = {"body": body_of(query), "search": ask_search(after), "replace": by_address, "at": time.time()}
            return no_update, None, None, False, True, stream
        found = rag().ask(query)
    except EvoRAGError as error:
        return no_update, error_line(error), None, False, no_update, no_update
    return {"search": ask_search(after, found.id), "replace": by_address}, None, None, False, True, no_update


def _begun(trace_id: str) -> str:
    """The conversation that begins with an answer; none with one that an evaluation has asked for."""
    try:
        return kb().conversations.begin(trace_id).id
    except NotFound:
        return ""


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


@callback(
    Output("ask-generator-line", "children"),
    Output("ask-generator-wait", "disabled"),
    Input("ask-generator", "value"),
    Input("ask-record", "value"),
    Input("ask-generator-wait", "n_intervals"),
    prevent_initial_call=True,
)
def show_generator(chosen: str | None, record: bool, _: int | None) -> tuple[Any, bool]:
    """How the chosen generator is, again and again while it loads."""
    healths = kb().generators.health()
    named = chosen_by(chosen)
    name = writer(named or usual_generator(), record=record)
    line = generator_line(healths, name, is_usual=not named and not record)
    return line, not generator_loads(healths, name)


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
    return document_options(offered_documents(search, chosen or ()))


@callback(
    Output("ask-version", "options"),
    Input("ask-version", "search_value"),
    State("ask-version", "value"),
    prevent_initial_call=True,
)
def offer_versions(search: str | None, chosen: str | None) -> list[dict[str, str]]:
    """The versions of the documents whose names fit what is written, and the chosen one."""
    return version_options(offered_versions(search or "", chosen), chosen)


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
    known = next((saved for saved in kb().saved_questions() if is_own(saved) and saved.text == text.strip()), None)
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

clientside_callback(
    ClientsideFunction("ask", "stream"),
    Output("ask-streamed", "data"),
    Input("ask-stream", "data"),
    prevent_initial_call=True,
)

clientside_callback(
    ClientsideFunction("ask", "arrived"),
    Output("ask-went", "data", allow_duplicate=True),
    Input("ask-trace", "data"),
    prevent_initial_call="initial_duplicate",
)
