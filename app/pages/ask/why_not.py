"""Why not: the document that is chosen under the evidence becomes part of the address."""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, callback
from dash.exceptions import PreventUpdate

from app.components.shared.document_options import document_options
from app.components.shared.links import ask_search
from app.context import kb
from app.offered_documents import offered_documents


@callback(
    Output("ask-go", "data", allow_duplicate=True),
    Input("whynot-doc", "value"),
    State("ask-trace", "data"),
    State("whynot-shown", "data"),
    prevent_initial_call=True,
)
def ask_why_not(chosen: str | None, trace_id: str, shown: str | None) -> dict[str, Any]:
    """Go to the address that says why the document's best passage was not found."""
    if not chosen or not trace_id or chosen == shown:
        raise PreventUpdate
    return {"search": ask_search(kb().trace(trace_id).query, trace_id, (chosen, None, None)), "replace": False}


@callback(
    Output("whynot-doc", "options"),
    Input("whynot-doc", "search_value"),
    State("whynot-doc", "value"),
    prevent_initial_call=True,
)
def offer_missing(search: str | None, chosen: str | None) -> list[dict[str, str]]:
    """The documents whose names fit what is written, and the chosen one."""
    return document_options(offered_documents(search, [chosen] if chosen else ()))
