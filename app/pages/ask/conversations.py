"""Asking on, and the list of conversations: what is done with them on the Ask page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import ALL, Input, Output, State, callback, ctx, no_update
from dash.exceptions import PreventUpdate

from app import links
from app.components.ask.conversations_list import SHOWN, conversations_list
from app.components.shared.links import ask_search
from app.components.shared.states import error_line
from app.context import kb
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput


@callback(
    Output("ask-go", "data", allow_duplicate=True),
    Output("ask-follow-problem", "children"),
    Input("ask-follow-send", "n_clicks"),
    Input("ask-follow", "n_submit"),
    State("ask-follow", "value"),
    State("ask-trace", "data"),
    State("ask-extra", "data"),
    prevent_initial_call=True,
)
def follow(
    clicks: int | None, submits: int | None, text: str | None, trace_id: str, extra: dict[str, Any] | None
) -> tuple[Any, Any]:
    """Go to the address that asks on; where no conversation has begun, one begins with the shown answer."""
    if not (clicks or submits) or not trace_id:
        raise PreventUpdate
    try:
        question = (text or "").strip()
        if not question:
            raise InvalidInput(t("ask.no_question"), remedy=t("ask.no_question_remedy"))
        shown = kb().trace(trace_id).query
        conversation_id = (extra or {}).get("conversation") or kb().conversations.begin(trace_id).id
    except EvoRAGError as error:
        return no_update, error_line(error)
    query = replace(shown, text=question, conversation_id=conversation_id, dismissed=(), fresh=False)
    return {"search": ask_search(query), "replace": False}, None


@callback(
    Output("conversations-list", "children"),
    Output("conversations-problem", "children"),
    Output("ask-go", "data", allow_duplicate=True),
    Output("conversations-shown", "data"),
    Input("conversations-open", "n_clicks"),
    Input({"type": "conversation-act", "act": ALL, "id": ALL}, "n_clicks"),
    Input({"type": "conversation-title", "id": ALL}, "n_submit"),
    State({"type": "conversation-title", "id": ALL}, "value"),
    State("ask-extra", "data"),
    State("conversations-shown", "data"),
    prevent_initial_call=True,
)
def act(
    _opened: int | None,
    _clicks: list[int],
    _submits: list[int],
    titles: list[str | None],
    extra: dict[str, Any] | None,
    shown: int,
) -> tuple[Any, ...]:
    """Show the conversations, and do with one of them what was pressed; the page leaves one that is deleted."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    pressed = ctx.triggered_id if isinstance(ctx.triggered_id, dict) else {}
    conversation_id = str(pressed.get("id", ""))
    name = pressed.get("act") or ("keep" if pressed else "")
    opened = (name, conversation_id) if name in ("rename", "delete") else None
    went: Any = no_update
    problem = None
    try:
        if name == "keep":
            kb().conversations.rename(conversation_id, (titles[0] if titles else "") or "")
        elif name == "remove":
            kb().conversations.delete(conversation_id)
            if (extra or {}).get("conversation") == conversation_id:
                went = {"search": "", "path": links.ASK, "replace": True}
    except EvoRAGError as error:
        problem, opened = error_line(error), ("rename", conversation_id) if name == "keep" else None
    if not pressed:
        shown = SHOWN
    elif name == "more":
        shown += SHOWN
    found = kb().conversations.list(limit=shown + 1)
    return conversations_list(found[:shown], opened, more=len(found) > shown), problem, went, shown
