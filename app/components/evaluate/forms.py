"""How a question set comes in: a file or pasted lines, or questions of the history."""

from __future__ import annotations

from collections.abc import Sequence

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.ask.answer_card import type_badge
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.sharing import sharing_choice
from app.components.shared.states import link_button
from app.components.shared.times import when
from app.i18n import t
from core.model import TraceSummary

NAME_CHARS = 200
EXAMPLE = """id,question,doc,answers,answerable
1,How many days a week may I work from home?,employee-handbook.docx,3 days,yes
2,What does a sky photometer PPR-9087 cost?,price-list.xlsx,"512,000",yes
3,出張の日当はいくらですか。,旅費規程.pdf,,yes
4,Who won the World Cup in 1998?,,,no
"""
"""Lines that the import takes; the documents are those of the sample knowledge base."""


def import_form() -> html.Section:
    """A form for lines of a file or the clipboard; ``assets/modules/evaluate/page.js`` adds the field for files."""
    return html.Section(
        [
            html.P(t("evaluate.import_explain"), className="hint form-words"),
            _name(),
            html.Div(
                [
                    html.Div(
                        [
                            html.Label(t("evaluate.lines"), htmlFor="evaluate-lines", className="form-label"),
                            html.Button(
                                [icon("quote"), t("evaluate.example")],
                                id="evaluate-example",
                                type="button",
                                className="btn btn-quiet btn-sm",
                            ),
                        ],
                        className="label-row",
                    ),
                    dbc.Textarea(
                        id="evaluate-lines",
                        rows=8,
                        className="plain-lines",
                        placeholder=t("evaluate.lines_placeholder"),
                    ),
                    html.Div(
                        id="evaluate-picker", className="file-picker", **dataset(evaluate_picker=t("evaluate.or_file"))
                    ),
                    html.P(id="evaluate-file-name", className="hint", role="status"),
                ]
            ),
            sharing_choice("evaluate-shared"),
            html.Div(id="evaluate-import-error"),
            html.Div(
                html.Button(
                    [icon("upload"), t("evaluate.import")],
                    id="evaluate-import",
                    type="button",
                    className="btn btn-primary",
                )
            ),
            dcc.Store(id="evaluate-file"),
            dcc.Store(id="evaluate-sent"),
        ],
        className="card-plain evaluate-form",
    )


def history_form(questions: Sequence[TraceSummary]) -> html.Section:
    """Questions that were asked, each once, all chosen at first; the newest answer of each is what counts."""
    options = [{"value": question.id, "label": _asked(question)} for question in questions]
    return html.Section(
        [
            html.P(t("evaluate.history_explain"), className="hint form-words"),
            _name(t("evaluate.history_name")),
            html.Div(
                [
                    html.Button(
                        t("filter.select_all"), id="evaluate-all", type="button", className="btn btn-quiet btn-sm"
                    ),
                    html.Button(
                        t("filter.deselect_all"), id="evaluate-none", type="button", className="btn btn-quiet btn-sm"
                    ),
                    html.Span(id="evaluate-chosen", className="muted", role="status"),
                ],
                className="button-row",
            ),
            html.Div(
                dcc.Checklist(
                    id="evaluate-picked",
                    options=options,
                    value=[question.id for question in questions],
                    className="history-choice",
                ),
                role="group",
                **aria(label=t("evaluate.history")),
            ),
            sharing_choice("evaluate-shared"),
            html.Div(id="evaluate-history-error"),
            html.Div(
                html.Button(
                    [icon("plus-lg"), t("evaluate.make")],
                    id="evaluate-make",
                    type="button",
                    className="btn btn-primary",
                )
            ),
        ],
        className="card-plain evaluate-form",
    )


def ways_in() -> list[dcc.Link]:
    """The two ways to a set, as buttons."""
    return [
        link_button(t("evaluate.import_title"), links.evaluate(make="import"), "upload", primary=True),
        link_button(t("evaluate.history"), links.evaluate(make="history"), "clock-history"),
    ]


def _name(value: str = "") -> html.Div:
    return html.Div(
        [
            html.Label(t("evaluate.name"), htmlFor="evaluate-name", className="form-label"),
            dbc.Input(id="evaluate-name", value=value, maxLength=NAME_CHARS, autocomplete="off"),
        ],
        className="evaluate-name",
    )


def _asked(question: TraceSummary) -> html.Span:
    kind = type_badge(question.answer_type, is_certain=not question.is_tentative)
    facts = [kind, when(question.asked_at)]
    return html.Span(
        [html.Span(question.question, className="asked-question"), html.Span(facts, className="question-facts")],
        className="asked",
    )
