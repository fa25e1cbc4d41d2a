"""The runs of a question set, newest first, and the choice of two that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import dataset
from app.components.evaluate.words import (
    LEGS,
    leg_name,
    measure_name,
    measured,
    options_of,
    run_name,
    run_title,
    written,
)
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import t
from core.model import EvaluationRun

STATES = {"running": "working", "done": "ok", "failed": "error", "cancelled": "neutral"}
RANKINGS = ("ndcg_at_10", "recall_at_10", "recall_at_1", "mrr_at_10")
ANSWERS = ("right", "answerable_insufficient", "unanswerable_insufficient", "unsupported", "p50_ms")
FIGURES = (("answers", "right"), ("answers", "answerable_insufficient"))


def run_table(
    runs: Sequence[EvaluationRun], numbers: Mapping[str, int], older: EvaluationRun | None = None
) -> html.Table:
    """One row a run; ``numbers`` are those of the figures, ``older`` is the run before the last that is listed."""
    heads = [
        html.Tr(
            [
                html.Th(t("evaluate.run_column"), rowSpan=2, scope="col"),
                html.Th(measure_name("ndcg_at_10"), colSpan=len(LEGS), scope="colgroup", className="group"),
                html.Th(t("evaluate.recall_final"), rowSpan=2, scope="col", className="num"),
                *[html.Th(measure_name(name), rowSpan=2, scope="col", className="num") for _, name in FIGURES],
                html.Th(
                    html.Span(t("access.column_actions"), className="visually-hidden"),
                    rowSpan=2,
                    scope="col",
                    className="after",
                ),
            ]
        ),
        html.Tr([html.Th(leg_name(leg), scope="col", className="num") for leg in LEGS]),
    ]
    finished = [*[run for run in runs if run.state == "done"], *([older] if older else [])]
    before = {run.id: finished[index + 1] for index, run in enumerate(finished[:-1])}
    rows = [_row(run, numbers.get(run.id), before.get(run.id)) for run in runs]
    return html.Table(
        [html.Caption(t("evaluate.runs_caption"), className="visually-hidden"), html.Thead(heads), html.Tbody(rows)],
        className="runs-table",
    )


def measures_table(run: EvaluationRun) -> html.Div:
    """The measures of one run: each leg by each measure of rankings, then what became of the answers."""
    legs = [leg for leg in LEGS if leg in run.measures]
    head = html.Tr(
        [html.Th(t("evaluate.ranking"), scope="col")]
        + [html.Th(measure_name(name), scope="col", className="num") for name in RANKINGS]
    )
    rows = [
        html.Tr(
            [html.Th(leg_name(leg), scope="row", className="measure-name")]
            + [
                html.Td(written(name, measured(run, leg, name)), className="num", **dataset(column=measure_name(name)))
                for name in RANKINGS
            ]
        )
        for leg in legs
    ]
    answers = [(name, measured(run, "answers", name)) for name in ANSWERS]
    figures = [
        html.Div([html.Dt(measure_name(name)), html.Dd(written(name, value))])
        for name, value in answers
        if value is not None
    ]
    table = html.Table(
        [html.Caption(t("evaluate.measures_caption"), className="visually-hidden"), html.Thead(head), html.Tbody(rows)],
        className="runs-table measures",
    )
    failed = measured(run, "answers", "generator_failed")
    warning = html.P(badge("warning", t("evaluate.generator_failed", count=int(failed)))) if failed else None
    return html.Div([warning, html.Dl(figures, className="figures-line"), unjudged(run), table if rows else None])


def unjudged_count(run: EvaluationRun) -> int:
    return int(measured(run, "answers", "unjudged") or 0)


def unjudged(run: EvaluationRun) -> html.P | None:
    """How many questions of a run count as neither right nor wrong; None where all were judged."""
    count = unjudged_count(run)
    if not count:
        return None
    return html.P(
        [html.Strong(t("evaluate.unjudged", count=count)), " ", t("evaluate.unjudged_explain")], className="hint"
    )


def compare_form(runs: Sequence[EvaluationRun], numbers: Mapping[str, int]) -> html.Div | None:
    """The choice of two finished runs; None while there are not two."""
    finished = [run for run in runs if run.state == "done"]
    if len(finished) < 2:
        return None
    options = [{"value": run.id, "label": f"#{numbers[run.id]} {run_name(run)}"} for run in finished]
    return html.Div(
        [
            _choice("evaluate-old", t("evaluate.older"), options, finished[1].id),
            _choice("evaluate-new", t("evaluate.newer"), options, finished[0].id),
            html.Button(
                [icon("arrow-left-right"), t("evaluate.compare")],
                id="evaluate-compare",
                type="button",
                className="btn btn-secondary",
            ),
        ],
        className="compare-runs",
    )


def run_badge(run: EvaluationRun) -> html.Span:
    """The state of a run as an icon with its word."""
    return badge(STATES.get(run.state, "neutral"), t(f"evaluate.state_{run.state}"))


def _row(run: EvaluationRun, number: int | None, before: EvaluationRun | None) -> html.Tr:
    name: list[Any] = [
        html.Span(f"#{number} ", className="muted numbers") if number else None,
        dcc.Link(run_title(run), href=links.evaluate(run=run.id), className="passage-name"),
        html.Div([when(run.started_at), *options_of(run.settings)], className="question-facts"),
    ]
    if run.state != "done":
        name.append(run_badge(run))
    if count := unjudged_count(run):
        name.append(html.Div(t("evaluate.unjudged", count=count), className="hint"))
    ndcg = measure_name("ndcg_at_10")
    values: list[tuple[str, str, str]] = [(leg, "ndcg_at_10", f"{ndcg} {leg_name(leg)}") for leg in LEGS]
    values.append(("final", "recall_at_10", t("evaluate.recall_final")))
    values += [(leg, measure, measure_name(measure)) for leg, measure in FIGURES]
    cells = [
        html.Td(written(measure, measured(run, leg, measure)), className="num", **dataset(column=told))
        for leg, measure, told in values
    ]
    compare: Any = ""
    if before is not None and run.state == "done":
        compare = dcc.Link(
            t("evaluate.compare_before"),
            href=links.evaluate(old=before.id, new=run.id),
            title=t("evaluate.compare_with", name=run_name(before)),
        )
    return html.Tr([html.Td(name), *cells, html.Td(compare, className="after")])


def _choice(component_id: str, label: str, options: list[dict[str, str]], value: str) -> html.Div:
    choice = dbc.Select(id=component_id, options=options, value=value)
    return html.Div([html.Label(label, htmlFor=component_id, className="form-label"), choice], className="run-field")
