"""A conversation around one answer: what was asked, before it and after it."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.citations import CITATION_MARK
from app.components.shared.icon import icon
from app.components.shared.wording import on_one_line
from app.i18n import t
from core.model import AnswerType, Conversation, Turn

ANSWER_CHARS = 110
OPEN_TURNS = 3
"""Questions that stand openly beside the shown answer; where two or more are further from it, these are folded."""


def conversation_head(conversation: Conversation) -> html.Div:
    """Which conversation the page is in, and the way out of it."""
    leave = dcc.Link([icon("x-lg"), t("ask.conversation.leave")], href=links.ASK, className="conversation-leave")
    title = html.Span([t("ask.conversation.in"), " ", html.Strong(title_of(conversation), className="user-text")])
    return html.Div([icon("chat-square-text"), title, leave], className="conversation-head")


def title_of(conversation: Conversation) -> str:
    """What a conversation is called."""
    return conversation.title or t("ask.conversation.untitled")


def earlier_turns(turns: Sequence[Turn], conversation_id: str) -> html.Section | None:
    """What was asked before the shown answer, each a link to its kept answer; the first of many are folded."""
    far = _far(turns)
    lists = [_folded(turns[:far], conversation_id), _list(turns[far:], conversation_id)]
    return _section(lists, t("ask.conversation.earlier")) if turns else None


def later_turns(turns: Sequence[Turn], conversation_id: str) -> html.Section | None:
    """What was asked after the shown answer; the last of many are folded."""
    near = len(turns) - _far(turns)
    lists = [_list(turns[:near], conversation_id), _folded(turns[near:], conversation_id)]
    return _section(lists, t("ask.conversation.later")) if turns else None


def _far(turns: Sequence[Turn]) -> int:
    """How many of these are far from the shown answer."""
    return len(turns) - OPEN_TURNS if len(turns) > OPEN_TURNS + 1 else 0


def _section(lists: Sequence[html.Ol | html.Details | None], title: str) -> html.Section:
    return html.Section(
        [html.H2(title, className="turns-title"), *lists], className="turns-section", **aria(label=title)
    )


def _list(turns: Sequence[Turn], conversation_id: str) -> html.Ol:
    return html.Ol([html.Li(_turn(turn, conversation_id), value=str(turn.number)) for turn in turns], className="turns")


def _folded(turns: Sequence[Turn], conversation_id: str) -> html.Details | None:
    if not turns:
        return None
    summary = html.Summary(t("ask.conversation.more_turns", count=len(turns)))
    return html.Details([summary, _list(turns, conversation_id)], className="turns-more")


def asked_question(question: str) -> html.Div:
    """The question whose answer is shown, and the way to change its words."""
    edit = html.Button(
        [icon("pencil"), html.Span(t("ask.edit"), className="visually-hidden")],
        type="button",
        className="btn btn-quiet btn-sm",
        title=t("ask.edit"),
        **dataset(ask_edit="ask-question"),
    )
    return html.Div([html.H2(question, id="ask-shown", className="user-text"), edit], className="shown-question")


def _turn(turn: Turn, conversation_id: str) -> list[html.Span | dcc.Link]:
    summary = turn.summary
    is_insufficient = summary.answer_type is AnswerType.INSUFFICIENT
    answer = t("answer.insufficient") if is_insufficient else CITATION_MARK.sub("", summary.answer)
    answer = on_one_line(answer, ANSWER_CHARS)
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
