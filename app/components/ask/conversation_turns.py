"""A conversation around one answer: what was asked before and after it, and the field that goes on asking."""

from __future__ import annotations

from collections.abc import Sequence

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.shared.citations import CITATION_MARK
from app.components.shared.icon import icon
from app.i18n import t
from core.model import AnswerType, Conversation, Turn

ANSWER_CHARS = 110
QUESTION_CHARS = 4_000


def conversation_head(conversation: Conversation) -> html.Div:
    """Which conversation the page is in, and the way out of it."""
    leave = dcc.Link([icon("x-lg"), t("ask.conversation.leave")], href=links.ASK, className="conversation-leave")
    title = html.Span([t("ask.conversation.in"), " ", html.Strong(title_of(conversation), className="user-text")])
    return html.Div([icon("chat-square-text"), title, leave], className="conversation-head")


def title_of(conversation: Conversation) -> str:
    """What a conversation is called."""
    return conversation.title or t("ask.conversation.untitled")


def turns_list(turns: Sequence[Turn], conversation_id: str, title: str) -> html.Section | None:
    """One line a question, each a link to its kept answer."""
    if not turns:
        return None
    items = [html.Li(_turn(turn, conversation_id), value=str(turn.number)) for turn in turns]
    return html.Section(
        [html.H2(title, className="turns-title"), html.Ol(items, className="turns")],
        className="turns-section",
        **aria(label=title),
    )


def follow_up(is_conversation: bool) -> html.Div:
    """The field that asks on, and what that means where no conversation has begun."""
    label = html.Label(t("ask.follow_up"), htmlFor="ask-follow", className="form-label")
    field = dbc.Input(
        id="ask-follow",
        type="text",
        maxLength=QUESTION_CHARS,
        placeholder=t("ask.follow_up_placeholder"),
        autocomplete="off",
    )
    send = html.Button(
        [icon("send"), t("ask.send")], id="ask-follow-send", type="button", className="btn btn-secondary"
    )
    parts = [label, html.Div([field, send], className="follow-box")]
    if not is_conversation:
        parts.append(html.P(t("ask.follow_up_hint"), className="field-hint"))
    return html.Div(
        [*parts, html.Div(id="ask-follow-problem", role="alert")],
        className="follow-up",
        role="group",
        **aria(label=t("ask.follow_up")),
    )


def _turn(turn: Turn, conversation_id: str) -> list[html.Span | dcc.Link]:
    summary = turn.summary
    answer = " ".join(CITATION_MARK.sub("", summary.answer).split())
    if summary.answer_type is AnswerType.INSUFFICIENT:
        answer = t("answer.insufficient")
    if len(answer) > ANSWER_CHARS:
        answer = answer[: ANSWER_CHARS - 1] + "…"
    if turn.is_purged:
        return [
            html.Span(summary.question, className="turn-question user-text"),
            html.Span(t("ask.turn_purged"), className="turn-answer"),
        ]
    address = links.ask(trace=summary.id, conversation=conversation_id)
    return [
        dcc.Link(summary.question, href=address, className="turn-question user-text", title=turn.standalone or None),
        html.Span(answer, className="turn-answer user-text"),
    ]
