"""Evaluate: question sets, their runs over time, two runs side by side, failures, and the gate of a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html, register_page

from app import links
from app.components.attributes import aria
from app.components.evaluate.forms import history_form, import_form, ways_in
from app.components.evaluate.run_comparison import changed_questions, difference_tables, two_runs
from app.components.evaluate.run_form import run_form
from app.components.evaluate.sets import (
    SetStatus,
    delete_dialog,
    gate_switch,
    loss_dialog,
    question_grid,
    set_actions,
    sets_list,
)
from app.components.evaluate.words import run_name, run_title, set_name
from app.components.shared.icon import icon
from app.components.shared.sharing import is_own, sharing_switch
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, page, tab_title
from app.context import kb
from app.i18n import t
from app.pages.evaluate.view import MOST_RUNS, PAGE_RUNS, may_change, outcomes_by_id, outcomes_part, run_part, runs_part
from core.model import EvaluationRun, QuestionSet, TraceSummary

OFFERED_QUESTIONS = 200
TICK_MS = 1_000

register_page(__name__, path=links.EVALUATE, title=tab_title("evaluate.title"), script="evaluate/page.js")


@shows_errors
def layout(
    set: str = "",
    run: str = "",
    old: str = "",
    new: str = "",
    doc: str = "",
    version: str = "",
    make: str = "",
    limit: str = "",
    **_: Any,
) -> html.Div:
    """The list of sets, or what the address names: a set, a run, two runs, a draft, or a form for a new set."""
    if doc and version.isascii() and version.isdigit():
        return _gate(doc, int(version))
    if old and new:
        return _comparison(old, new)
    if run:
        return _run(run)
    if set:
        return _set(set, min(int(limit), MOST_RUNS) if limit.isascii() and limit.isdigit() else PAGE_RUNS)
    if make in ("import", "history") and may_change():
        return _import() if make == "import" else _history()
    return _sets()


def _sets() -> html.Div:
    standings = [_standing(known) for known in kb().evaluations.sets()]
    if not standings:
        first = ways_in() if may_change() else []
        return named_page("evaluate", empty("bar-chart", t("evaluate.empty_title"), t("evaluate.empty_text"), first))
    return named_page("evaluate", sets_list(standings), action=ways_in() if may_change() else None)


def _standing(known: QuestionSet) -> SetStatus:
    runs = [run for run in kb().evaluations.runs(known.id) if run.state == "done"]
    newest = max(runs, key=lambda run: run.started_at, default=None)
    return SetStatus(known, known.gates, newest)


def _import() -> html.Div:
    return page(t("evaluate.import_title"), t("evaluate.import_purpose"), [import_form(), _go()], above=_back())


def _history() -> html.Div:
    questions = _each_once(kb().history(OFFERED_QUESTIONS))
    if not questions:
        ask = link_button(t("history.ask"), links.ASK, "chat-square-text", primary=True)
        content: list[Any] = [empty("clock-history", t("history.empty_title"), t("history.empty_text"), ask)]
    else:
        content = [history_form(questions), _go()]
    return page(t("evaluate.history"), t("evaluate.history_purpose"), content, above=_back())


def _each_once(questions: Sequence[TraceSummary]) -> list[TraceSummary]:
    newest: dict[str, TraceSummary] = {}
    for question in questions:
        newest.setdefault(" ".join(question.question.split()), question)
    return list(newest.values())


def _set(set_id: str, limit: int) -> html.Div:
    known = kb().evaluations.set_of(set_id)
    going, results, is_still, seen = runs_part(set_id, limit)
    changes = may_change()
    questions = kb().evaluations.questions(set_id)
    content = [
        run_form(kb().generators.names()) if changes else None,
        html.Div(going, id="evaluate-progress", className="run-list"),
        html.Div(results, id="evaluate-runs", className="page-body"),
        html.Section(
            [html.H2(t("evaluate.questions_title"), className="section-title"), question_grid(questions)],
            className="card-plain",
        ),
        html.Section(
            [gate_switch(known.gates), sharing_switch("evaluate-share", known)],
            className="card-plain",
        )
        if changes
        else None,
        delete_dialog(known, len(kb().evaluations.runs(set_id))) if changes else None,
        dcc.Store(id="evaluate-set", data={"id": set_id, "name": set_name(known), "limit": limit}),
        dcc.Store(id="evaluate-seen", data=seen),
        dcc.Interval(id="evaluate-tick", interval=TICK_MS, disabled=is_still),
        html.P(id="evaluate-said", role="status", className="visually-hidden"),
        _go(),
    ]
    purpose = t("evaluate.questions", count=len(questions))
    actions = html.Div(set_actions(known) if changes else set_actions(known)[:-1], className="button-row")
    return page(set_name(known), purpose, content, action=actions, above=_back())


def _run(run_id: str) -> html.Div:
    run = kb().evaluations.run_of(run_id)
    content = [
        html.Div(run_part(run), id="evaluate-run-part", className="page-body"),
        html.Section(outcomes_part(run_id), id="evaluate-outcomes-part", className="card-plain"),
        dcc.Store(id="evaluate-run-id", data=run_id),
        dcc.Interval(id="evaluate-run-tick", interval=TICK_MS, disabled=run.state != "running"),
        html.P(id="evaluate-run-said", role="status", className="visually-hidden"),
        _run_dialog(run) if may_change() else None,
        dcc.Store(id="evaluate-run-set", data={"id": run.set_id, "name": run_name(run)}),
        _go(),
    ]
    return page(run_title(run), run.set_name, content, above=_back(run.set_id, run.set_name))


def _run_dialog(run: EvaluationRun) -> dbc.Modal:
    title = t("evaluate.delete_run_title", name=run_name(run))
    lost = f"{run.set_name} · {t('evaluate.questions', count=run.total)}"
    confirm = t("evaluate.delete_run")
    return loss_dialog("evaluate-run-delete", title, lost, t("evaluate.delete_run_text"), confirm)


def _comparison(old: str, new: str) -> html.Div:
    comparison = kb().evaluations.compare(old, new)
    content = [
        two_runs(comparison),
        difference_tables(comparison.differences),
        html.P(t("evaluate.interval_explain"), className="hint"),
        changed_questions(comparison, outcomes_by_id(old), outcomes_by_id(new)),
    ]
    back = _back(comparison.new.set_id, comparison.new.set_name)
    return page(t("evaluate.compare_title"), t("evaluate.compare_purpose"), content, above=back)


def _gate(doc_key: str, version: int) -> html.Div:
    kb().version(doc_key, version)
    gating = [known for known in kb().evaluations.sets() if known.gates and is_own(known)]
    above = dcc.Link(
        [icon("arrow-left"), doc_key], href=links.document(doc_key, version=version), className="back-link"
    )
    title = t("evaluate.gate_title", name=doc_key, version=version)
    if not gating:
        sets = link_button(t("evaluate.title"), links.EVALUATE, "bar-chart")
        nothing = empty("bar-chart", t("evaluate.gate_none_title"), t("evaluate.gate_none_text"), sets)
        return page(title, "", nothing, above=above)
    asked = t(
        "evaluate.gate_asks", count=sum(known.size for known in gating), sets=", ".join(set_name(s) for s in gating)
    )
    content = [
        html.P(asked),
        html.Div(
            html.Button(
                [icon("play-fill"), t("evaluate.gate_check")],
                id="evaluate-check",
                type="button",
                className="btn btn-primary",
            )
        ),
        html.Div(id="evaluate-verdicts", className="page-body", **aria(live="polite")),
        dcc.Store(id="evaluate-draft", data={"doc": doc_key, "version": version}),
    ]
    return page(title, t("evaluate.gate_purpose"), content, above=above)


def _back(set_id: str = "", name: str = "") -> dcc.Link:
    href = links.evaluate(set_id) if set_id else links.EVALUATE
    return dcc.Link([icon("arrow-left"), name or t("evaluate.title")], href=href, className="back-link")


def _go() -> dcc.Location:
    return dcc.Location(id="evaluate-go", refresh="callback-nav")
