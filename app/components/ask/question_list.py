"""Questions that were asked: each opens its kept answer, and can be asked again."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html

from app import links
from app.components.ask.answer_card import type_badge
from app.components.ask.scope import scope_chips
from app.components.shared.icon import icon
from app.components.shared.links import ask_href
from app.components.shared.sharing import sharing_facts
from app.components.shared.times import when
from app.components.shared.wording import on_one_line
from app.i18n import seconds, t
from core.model import AnswerType, Query, SavedQuestion, TraceSummary, parse_as_of

ANSWER_CHARS = 180


def question_list(questions: Sequence[TraceSummary]) -> html.Ul:
    """One item a question, newest first."""
    return html.Ul([_item(question) for question in questions], className="questions")


def saved_links(questions: Sequence[SavedQuestion]) -> html.Ul:
    """One link a saved question, which asks it."""
    items = [
        html.Li(
            [
                dcc.Link([icon("star-fill"), html.Span(question.text)], href=links.ask(question.text)),
                html.Span(sharing_facts(question), className="question-facts"),
            ]
        )
        for question in questions
    ]
    return html.Ul(items, className="saved-links")


def _item(question: TraceSummary) -> html.Li:
    answer = on_one_line(question.answer, ANSWER_CHARS)
    if question.answer_type is AnswerType.INSUFFICIENT:
        answer = t("answer.insufficient")
    as_of = parse_as_of(question.as_of) if question.as_of else None
    plain = as_of is None and question.versions == "shown"
    again = dcc.Link(
        [icon("arrow-repeat"), t("history.again")],
        href=links.ask(question.question)
        if plain
        else ask_href(Query(question.question, as_of=as_of, versions=question.versions)),
        className="btn btn-secondary btn-sm",
        title=t("history.again_explain"),
    )
    words = [
        dcc.Link(question.question, href=links.ask(trace=question.id), className="question"),
        html.P(answer, className="question-answer"),
        html.Div(
            [
                type_badge(question.answer_type, is_certain=not question.is_tentative),
                *scope_chips(as_of, question.versions),
                when(question.asked_at),
                html.Span(seconds(question.total_ms / 1000)),
            ],
            className="question-facts",
        ),
    ]
    return html.Li([html.Div(words), again])
