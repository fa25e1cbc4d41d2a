"""The conversations of somebody: each is opened, renamed, exported or deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.ask.conversation_turns import title_of
from app.components.shared.icon import icon
from app.components.shared.states import empty
from app.components.shared.times import when
from app.i18n import t
from core.model import Conversation

TITLE_CHARS = 200
SHOWN = 50
"""So many at first, and as many more each time."""
EXPORTS = ("md", "json")


def conversations_list(
    conversations: Sequence[Conversation], opened: tuple[str, str] | None = None, more: bool = False
) -> Any:
    """One row a conversation, newest first; ``opened`` is what is being done with which: ``rename`` or ``delete``."""
    if not conversations:
        return empty("chat-square-text", t("ask.conversation.none"), t("ask.conversation.none_text"))
    rows = [_row(each, opened[0] if opened and opened[1] == each.id else "") for each in conversations]
    note = html.P(t("ask.conversation.more", count=len(rows)), className="hint")
    button = act("more", "", "chevron-down", t("ask.conversation.show_more"), in_words=True, look="btn-secondary")
    below = html.Div([note, button], className="conversations-more") if more else None
    return html.Div([html.Ul(rows, className="conversations"), below], className="card-plain")


def _row(conversation: Conversation, doing: str) -> html.Li:
    if doing == "rename":
        return html.Li(_renaming(conversation), className="conversation")
    if doing == "delete":
        return html.Li(_deleting(conversation), className="conversation")
    facts = [html.Span(t("ask.conversation.turns", count=conversation.turns)), when(conversation.changed_at)]
    name = dcc.Link(
        title_of(conversation), href=links.ask(conversation=conversation.id), className="conversation-name user-text"
    )
    exports = [
        html.A(
            [icon("download"), form.upper()],
            href=links.conversation_export(conversation.id, form),
            download="",
            className="btn btn-quiet btn-sm",
            title=t(f"ask.conversation.export_{form}"),
        )
        for form in EXPORTS
    ]
    actions = [
        *exports,
        act("rename", conversation.id, "pencil", t("ask.conversation.rename")),
        act("delete", conversation.id, "trash", t("ask.conversation.delete")),
    ]
    words = html.Div([name, html.Div(facts, className="question-facts")], className="conversation-words")
    return html.Li([words, html.Div(actions, className="conversation-actions")], className="conversation")


def _renaming(conversation: Conversation) -> html.Div:
    field = dbc.Input(
        id={"type": "conversation-title", "id": conversation.id},
        value=conversation.title,
        maxLength=TITLE_CHARS,
        size="sm",
        autocomplete="off",
        autofocus=True,
    )
    label = html.Label([html.Span(t("ask.conversation.title"), className="visually-hidden"), field])
    buttons = [
        act("keep", conversation.id, "check-lg", t("ask.conversation.keep"), in_words=True),
        act("cancel", conversation.id, "x-lg", t("ask.conversation.cancel"), in_words=True),
    ]
    return html.Div([label, html.Div(buttons, className="button-row")], className="conversation-form")


def _deleting(conversation: Conversation) -> html.Div:
    words = t("ask.conversation.ask_delete", title=title_of(conversation), count=conversation.turns)
    buttons = [
        act("remove", conversation.id, "trash", t("ask.conversation.remove"), in_words=True, look="btn-danger"),
        act("cancel", conversation.id, "x-lg", t("ask.conversation.cancel"), in_words=True),
    ]
    return html.Div([html.P(words), html.Div(buttons, className="button-row")], className="conversation-form")


def act(
    name: str, conversation_id: str, symbol: str, words: str, *, in_words: bool = False, look: str = "btn-quiet"
) -> html.Button:
    """A button that does ``name`` with a conversation."""
    return html.Button(
        [icon(symbol), html.Span(words, className="" if in_words else "visually-hidden")],
        id={"type": "conversation-act", "act": name, "id": conversation_id},
        type="button",
        className=f"btn {look} btn-sm",
        title=words,
        n_clicks=0,
    )
