"""What the Evaluate page shows of the runs of a set: read from the facade, then drawn. Its callbacks draw it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.evaluate.reliability import reliability
from app.components.evaluate.run_chart import run_figures
from app.components.evaluate.run_form import progress
from app.components.evaluate.run_outcomes import outcome_items
from app.components.evaluate.run_table import compare_form, measures_table, run_badge, run_table
from app.components.evaluate.words import options_of
from app.components.shared.icon import icon
from app.components.shared.states import empty, error_line
from app.components.shared.times import when
from app.context import kb, principal
from app.i18n import t
from core.model import EvaluationRun, QuestionOutcome, Role

PAGE_RUNS = 20
MOST_RUNS = 200
CHART_RUNS = 40
PAGE_OUTCOMES = 25
MOST_QUESTIONS = 10_000


def may_change() -> bool:
    """Say whether the person who asks may make sets and runs."""
    return principal().role.includes(Role.EDITOR)


def runs_part(set_id: str, limit: int = PAGE_RUNS) -> tuple[list[Any], list[Any], bool, str]:
    """Return the progress, the results, whether nothing goes on, and what changes whenever the results do."""
    runs = sorted(kb().evaluations.runs(set_id), key=lambda run: run.started_at, reverse=True)
    going = [run for run in runs if run.state == "running"]
    ended = [run for run in runs if run.state != "running"]
    seen = repr([(run.id, run.state) for run in ended])
    if not ended:
        nothing = [] if going else [empty("bar-chart", t("evaluate.no_runs_title"), t("evaluate.no_runs_text"))]
        return _going(going), nothing, not going, seen
    shown, behind = ended[:limit], ended[limit:]
    older = next((run for run in behind if run.state == "done"), None)
    done = [run for run in ended if run.state == "done"][::-1]
    numbers = {run.id: number for number, run in enumerate(done, 1)}
    results: list[Any] = []
    if len(done) > 1:
        results.append(
            _section("evaluate.over_time", run_figures(done[-CHART_RUNS:], max(1, len(done) - CHART_RUNS + 1)))
        )
    table: list[Any] = [html.P(t("evaluate.direction"), className="hint"), run_table(shown, numbers, older)]
    if behind and limit < MOST_RUNS:
        more = links.evaluate(set_id, limit=limit + PAGE_RUNS)
        table.append(dcc.Link(t("evaluate.more_runs"), href=more, className="btn btn-secondary more-runs"))
    table.append(compare_form(ended[:MOST_RUNS], numbers))
    results.append(_section("evaluate.runs", html.Div(table)))
    return _going(going), results, not going, seen


def _going(runs: Sequence[EvaluationRun], cancel: str = "evaluate-cancel") -> list[html.Div]:
    return progress(runs, cancel if may_change() else "")


def run_part(run: EvaluationRun) -> list[Any]:
    """Return how far a run is, or what came of it."""
    facts = [run_badge(run), when(run.started_at), *options_of(run.settings)]
    content: list[Any] = [html.Div(facts, className="question-facts")]
    if run.error:
        code, _, message = run.error.partition(": ")
        content.append(error_line({"code": code, "message": message}))
    if run.state == "running":
        return [*content, *_going([run], "evaluate-cancel-shown")]
    content.append(html.Section(measures_table(run), className="card-plain"))
    content.append(reliability(outcomes_by_id(run.id).values()))
    if may_change():
        words: list[Component | str] = [icon("trash"), t("evaluate.delete_run")]
        delete = html.Button(words, id="evaluate-run-delete", type="button", className="btn btn-secondary")
        content.append(html.Div(delete, className="button-row"))
    return content


def outcomes_part(run_id: str) -> list[Any]:
    """Return the first outcomes of a run with the way to more."""
    title = html.H2(t("evaluate.outcomes"), className="section-title")
    items, more = outcomes_page(run_id)
    if not items:
        return [title, html.P(t("evaluate.no_outcomes"), className="muted")]
    return [
        title,
        html.P(t("evaluate.failures_first"), className="hint form-words"),
        html.Ul(items, id="evaluate-outcomes", className="questions"),
        html.Button(
            t("evaluate.more"), id="evaluate-more", type="button", className="btn btn-secondary", hidden=not more
        ),
        dcc.Store(id="evaluate-run-shown", data={"run": run_id, "after": PAGE_OUTCOMES}),
    ]


def outcomes_page(run_id: str, after: int = 0) -> tuple[list[html.Li], bool]:
    """Return the outcomes of a run behind the first ``after``, and whether more follow."""
    found = kb().evaluations.outcomes(run_id, limit=PAGE_OUTCOMES + 1, after=after)
    return outcome_items(found[:PAGE_OUTCOMES]), len(found) > PAGE_OUTCOMES


def questions_of(set_id: str) -> dict[str, str]:
    """Return the texts of a set's questions by their ids."""
    return {question.id: question.text for question in kb().evaluations.questions(set_id)}


def outcomes_by_id(run_id: str) -> dict[str, QuestionOutcome]:
    """Return the outcomes of a run by the id of their question."""
    found = kb().evaluations.outcomes(run_id, limit=MOST_QUESTIONS, failures_first=False)
    return {outcome.question.id: outcome for outcome in found}


def _section(title: str, children: Any) -> html.Section:
    return html.Section([html.H2(t(title), className="section-title"), children], className="card-plain")
