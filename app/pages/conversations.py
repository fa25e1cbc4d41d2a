"""Conversations: questions that followed each other; each is gone on with, renamed, exported or deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ALL, Input, Output, State, callback, ctx, dcc, html, register_page
from dash.exceptions import PreventUpdate

from app import links
from app.components.ask.conversations_list import SHOWN, conversations_list
from app.components.shared.paged_list import asked, list_place, nothing_fits, search_asked, search_field
from app.components.shared.states import error_line, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb
from app.i18n import t
from core.errors import EvoRAGError

register_page(__name__, path=links.CONVERSATIONS, title=tab_title("conversations.title"), script="history/page.js")


@shows_errors
def layout(q: str = "", **_: Any) -> html.Div:
    """The conversations that hold the words ``q``, those that were gone on with last first."""
    query = {"q": str(q)} if q else {}
    field = html.Div(
        search_field("conversations", query.get("q", ""), t("ask.conversation.search")), className="toolbar"
    )
    listed = html.Div(_listed(SHOWN, query), id="conversations-list")
    return named_page(
        "conversations",
        [
            html.Div(id="conversations-problem", role="alert"),
            list_place("conversations", [field, listed, asked("conversations", query)]),
            dcc.Store(id="conversations-shown", data=SHOWN),
        ],
        action=link_button(t("ask.conversation.new"), links.HOME, "plus-lg", primary=True),
    )


@callback(
    Output("conversations-list", "children"),
    Output("conversations-problem", "children"),
    Output("conversations-shown", "data"),
    Input({"type": "conversation-act", "act": ALL, "id": ALL}, "n_clicks"),
    Input({"type": "conversation-title", "id": ALL}, "n_submit"),
    State({"type": "conversation-title", "id": ALL}, "value"),
    State("conversations-shown", "data"),
    State("conversations-asked", "data"),
    prevent_initial_call=True,
)
def act(
    _clicks: list[int], _submits: list[int], titles: list[str | None], shown: int, query: dict[str, str]
) -> tuple[Any, ...]:
    """Do with one of the conversations what was pressed."""
    if not ctx.triggered or not ctx.triggered[0]["value"] or not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    pressed = ctx.triggered_id
    conversation_id = str(pressed.get("id", ""))
    name = pressed.get("act") or "keep"
    opened = (name, conversation_id) if name in ("rename", "delete") else None
    problem = None
    try:
        if name == "keep":
            kb().conversations.rename(conversation_id, (titles[0] if titles else "") or "")
        elif name == "remove":
            kb().conversations.delete(conversation_id)
    except EvoRAGError as error:
        problem, opened = error_line(error), ("rename", conversation_id) if name == "keep" else None
    if name == "more":
        shown += SHOWN
    return _listed(shown, query, opened), problem, shown


@callback(
    Output("conversations-list", "children", allow_duplicate=True),
    Output("conversations-shown", "data", allow_duplicate=True),
    Input("conversations-asked", "data"),
    prevent_initial_call=True,
)
def show_list(query: dict[str, str]) -> tuple[Any, int]:
    """Show what the address asks for now."""
    return _listed(SHOWN, query), SHOWN


def _listed(shown: int, query: Mapping[str, str], opened: tuple[str, str] | None = None) -> Any:
    search = search_asked(query)
    found = kb().conversations.list(limit=shown + 1, search=search)
    if search and not found:
        return nothing_fits(links.CONVERSATIONS)
    return conversations_list(found[:shown], opened, more=len(found) > shown)
