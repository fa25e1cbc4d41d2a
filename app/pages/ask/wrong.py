"""An answer that is wrong: one click keeps it in a question set, and a panel takes what would have been right."""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, callback, html, no_update
from dash.exceptions import PreventUpdate

from app.components.ask.wrong_answer import NOWHERE, OTHER, kept, wrong_button, wrong_panel
from app.components.shared.document_options import document_options
from app.components.shared.states import error_line
from app.context import kb
from app.i18n import t
from app.offered_documents import offered_documents
from core.errors import EvoRAGError, InvalidInput
from core.model import Right, Trace


@callback(
    Output("ask-wrong-box", "children"),
    Output("ask-wrong-tool", "children"),
    Input("ask-wrong", "n_clicks"),
    State("ask-trace", "data"),
    prevent_initial_call=True,
)
def mark(clicks: int | None, trace_id: str) -> tuple[Any, Any]:
    """Mark the shown answer as wrong and open the panel; a follow-up is kept once its words were read."""
    if not clicks or not trace_id:
        raise PreventUpdate
    trace = kb().trace(trace_id)
    problem = None
    try:
        if kb().evaluations.marked_wrong(trace_id) is None and not trace.analysis.standalone:
            kb().evaluations.mark_wrong(trace_id)
    except EvoRAGError as error:
        problem = error_line(error)
    return _drawn(trace, problem)


@callback(
    output=[
        Output("ask-wrong-box", "children", allow_duplicate=True),
        Output("ask-wrong-tool", "children", allow_duplicate=True),
        Output("ask-wrong-problem", "children"),
    ],
    inputs={"clicks": Input("ask-wrong-keep", "n_clicks"), "submits": Input("ask-wrong-note", "n_submit")},
    state={
        "trace_id": State("ask-trace", "data"),
        "text": State("ask-wrong-text", "value"),
        "note": State("ask-wrong-note", "value"),
        "right": State("ask-wrong-right", "value"),
        "doc_key": State("ask-wrong-doc", "value"),
    },
    prevent_initial_call=True,
)
def keep(
    clicks: int | None,
    submits: int | None,
    trace_id: str,
    text: str | None,
    note: str | None,
    right: str | None,
    doc_key: str | None,
) -> tuple[Any, Any, Any]:
    """Keep what would have been right, with a word, and close the panel; what is refused stays in its fields."""
    if not (clicks or submits) or not trace_id:
        raise PreventUpdate
    try:
        kb().evaluations.mark_wrong(trace_id, _right(right, doc_key), note or "", text or "")
    except EvoRAGError as error:
        return no_update, no_update, error_line(error)
    marked = kb().evaluations.marked_wrong(trace_id)
    return html.P(kept(marked), role="status"), wrong_button(is_marked=marked is not None), no_update


@callback(
    Output("ask-wrong-box", "children", allow_duplicate=True),
    Output("ask-wrong-tool", "children", allow_duplicate=True),
    Input("ask-wrong-back", "n_clicks"),
    State("ask-trace", "data"),
    prevent_initial_call=True,
)
def take_back(clicks: int | None, trace_id: str) -> tuple[Any, Any]:
    """Take the question out of the set again, and close the panel."""
    if not clicks or not trace_id:
        raise PreventUpdate
    try:
        kb().evaluations.unmark_wrong(trace_id)
    except EvoRAGError as error:
        return _drawn(kb().trace(trace_id), error_line(error))
    return html.P(t("wrong.taken_back"), className="hint", role="status"), wrong_button(is_marked=False)


@callback(
    Output("ask-wrong-doc", "options"),
    Input("ask-wrong-doc", "search_value"),
    State("ask-wrong-doc", "value"),
    prevent_initial_call=True,
)
def offer_right(search: str | None, chosen: str | None) -> list[dict[str, str]]:
    """The documents whose names fit what is written, and the chosen one."""
    return document_options(offered_documents(search, [chosen] if chosen else ()))


def _right(chosen: str | None, doc_key: str | None) -> Right:
    if chosen == NOWHERE:
        return Right(is_nowhere=True)
    if chosen == OTHER or (chosen is None and doc_key):
        if not doc_key:
            raise InvalidInput(t("wrong.no_document"), remedy=t("wrong.no_document_remedy"))
        return Right(doc_key=doc_key)
    return Right(int(chosen)) if chosen and chosen.isascii() and chosen.isdigit() else Right()


def _drawn(trace: Trace, problem: Any = None) -> tuple[Any, Any]:
    marked = kb().evaluations.marked_wrong(trace.id)
    named = marked.doc_keys if marked is not None else ()
    return wrong_panel(trace, marked, offered_documents("", named), problem), wrong_button(is_marked=marked is not None)
