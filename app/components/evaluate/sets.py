"""Question sets: the list, the switch that makes one a gate, and the questions of one as a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dash_ag_grid as dag
import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.evaluate.words import last_leg, measured, set_name, written
from app.components.shared.icon import icon
from app.components.shared.reading_grid import reading_grid
from app.components.shared.sharing import sharing_facts
from app.components.shared.states import badge, link_button
from app.components.shared.times import when
from app.i18n import t
from core.model import EvaluationRun, JudgedQuestion, QuestionSet

SHORT_ROWS = 10


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A set with what is known of it: whether it gates drafts, and its newest finished run."""

    set: QuestionSet
    gates: bool
    newest: EvaluationRun | None


def sets_list(standings: Sequence[SetStatus]) -> html.Ul:
    """One item a set, with its last results."""
    return html.Ul([_item(status) for status in standings], className="question-sets card-plain")


def gate_switch(gates: bool) -> html.Div:
    """The switch that lets a set warn before a draft is published."""
    switch = dbc.Switch(id="evaluate-gate", value=gates, label=t("evaluate.gate_switch"))
    return html.Div([switch, html.P(t("evaluate.gate_explain"), className="hint")], className="gate-switch")


def set_actions(question_set: QuestionSet) -> list[Any]:
    """Downloads of a set, and the button that asks before it goes."""
    downloads = [
        html.A(
            [icon("download"), form.upper()],
            href=links.question_set(question_set.id, form),
            className="btn btn-secondary",
            download="",
            **aria(label=t("evaluate.export", form=form.upper())),
        )
        for form in ("csv", "jsonl")
    ]
    delete = html.Button(
        [icon("trash"), t("evaluate.delete")], id="evaluate-delete", type="button", className="btn btn-secondary"
    )
    return [*downloads, delete]


def delete_dialog(question_set: QuestionSet, runs: int) -> dbc.Modal:
    """The closed dialog that names what is lost with a set."""
    title = t("evaluate.delete_title", name=set_name(question_set))
    lost = f"{t('evaluate.questions', count=question_set.size)} · {t('evaluate.runs_count', count=runs)}"
    return loss_dialog("evaluate-delete", title, lost, t("evaluate.delete_text"), t("evaluate.delete_confirm"))


def loss_dialog(name: str, title: str, lost: str, explained: str, confirm: str) -> dbc.Modal:
    """The closed dialog that names what is lost; the ids of its parts begin with ``name``."""
    body = [
        html.H2(title, id=f"{name}-title", className="dialog-title"),
        html.P(lost),
        html.P(explained, className="muted"),
        html.Div(
            [
                html.Button(t("access.cancel"), id=f"{name}-cancel", type="button", className="btn btn-secondary"),
                html.Button([icon("trash"), confirm], id=f"{name}-confirm", type="button", className="btn btn-danger"),
            ],
            className="button-row dialog-buttons",
        ),
    ]
    return dbc.Modal(
        html.Div(body, className="dialog-body"),
        id=f"{name}-dialog",
        is_open=False,
        fade=False,
        centered=True,
        labelledby=f"{name}-title",
    )


def question_grid(questions: Sequence[JudgedQuestion]) -> dag.AgGrid:
    """Every question of a set with what is right for it; only the rows in sight are drawn."""
    is_short = len(questions) <= SHORT_ROWS
    columns = [
        {"field": "text", "headerName": t("evaluate.question"), "flex": 3, "minWidth": 220, "tooltipField": "text"},
        {"field": "documents", "headerName": t("evaluate.documents"), "flex": 2, "minWidth": 140},
        {"field": "answers", "headerName": t("evaluate.answers"), "flex": 2, "minWidth": 140},
    ]
    rows = [
        {
            "id": question.id,
            "text": question.text,
            "documents": ", ".join(question.doc_keys),
            "answers": _answers(question),
            "passage": question.passage,
            "note": question.note,
        }
        for question in questions
    ]
    for field in ("passage", "note"):
        if any(row[field] for row in rows):
            named = {"field": field, "headerName": t(f"evaluate.{field}"), "flex": 2, "minWidth": 140}
            columns.append({**named, "tooltipField": field})
    return reading_grid("evaluate-questions", columns, rows, row_height=40, is_short=is_short)


def _answers(question: JudgedQuestion) -> str:
    if not question.has_judgement:
        return t("evaluate.outcome_unjudged")
    return " / ".join(question.answers) if question.answerable else t("evaluate.unanswerable")


def _item(status: SetStatus) -> html.Li:
    known = status.set
    facts: list[Any] = [html.Span(t("evaluate.questions", count=known.size)), when(known.created_at)]
    facts += sharing_facts(known)
    if status.gates:
        facts.insert(0, badge("neutral", t("evaluate.gates"), t("evaluate.gate_explain")))
    words = [
        dcc.Link(set_name(known), href=links.evaluate(known.id), className="question"),
        html.Div(facts, className="question-facts"),
    ]
    return html.Li([html.Div(words), _newest(status.newest), _open(known)])


def _newest(run: EvaluationRun | None) -> html.Dl | html.P:
    if run is None:
        return html.P(t("evaluate.never_run"), className="muted")
    leg = last_leg(run)
    figures = (
        (t("evaluate.measure.ndcg_at_10"), written("ndcg_at_10", measured(run, leg, "ndcg_at_10"))),
        (t("evaluate.measure.recall_at_10"), written("recall_at_10", measured(run, leg, "recall_at_10"))),
        (t("evaluate.measure.right"), written("right", measured(run, "answers", "right"))),
    )
    return html.Dl([html.Div([html.Dt(name), html.Dd(value)]) for name, value in figures], className="figures-line")


def _open(known: QuestionSet) -> dcc.Link:
    return link_button(t("evaluate.open"), links.evaluate(known.id), "arrow-right")
