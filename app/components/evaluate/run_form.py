"""Starting a run of a question set, and its progress while it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria
from app.components.evaluate.words import run_name, run_title
from app.components.shared.icon import icon
from app.components.shared.times import joined, left_of
from app.i18n import has, t
from core.model import EvaluationRun

LABEL_CHARS = 200
AS_SET = "as_set"
"""What leaves a choice to the settings; fields of Bootstrap show nothing for an empty value."""
RERANKS = (AS_SET, "none", "mix", "features", "cross")
FUSIONS = ("rrf", "mix")


def run_form(generators: Sequence[str]) -> html.Section:
    """What a run may change; what is left empty is as the settings say."""
    fields = [
        _field("evaluate-label", t("evaluate.label"), _text("evaluate-label", t("evaluate.label_example"))),
        _field("evaluate-rerank", t("evaluate.rerank"), _choice("evaluate-rerank", "rerank", RERANKS)),
        _field("evaluate-fusion", t("evaluate.fusion"), _choice("evaluate-fusion", "fusion", FUSIONS)),
        _field(
            "evaluate-generator",
            t("evaluate.generator"),
            _choice("evaluate-generator", "generator", (AS_SET, *generators)),
        ),
        _field("evaluate-as-of", t("evaluate.as_of"), _text("evaluate-as-of", t("evaluate.as_of_example"))),
    ]
    return html.Section(
        [
            html.H2(t("evaluate.run_title"), className="section-title"),
            html.Div(
                [
                    *fields,
                    html.Button(
                        [icon("play-fill"), t("evaluate.run")],
                        id="evaluate-run",
                        type="button",
                        className="btn btn-primary",
                    ),
                ],
                className="run-fields",
            ),
            html.P(t("evaluate.run_explain"), className="hint"),
            html.Div(id="evaluate-run-error"),
        ],
        className="card-plain",
    )


def chosen(value: str | None) -> str:
    """Return what a choice says to a query: nothing where it is left to the settings."""
    return "" if value in (None, AS_SET) else str(value)


def progress(runs: Sequence[EvaluationRun], cancel: str = "") -> list[html.Div]:
    """A bar a run that goes or waits, with what is done of how much.

    ``cancel`` is the type of the ids of the buttons that end them; without it there are none.
    """
    return [_progress(run, cancel) for run in runs]


def _progress(run: EvaluationRun, cancel: str) -> html.Div:
    share = run.done / run.total if run.total else 0.0
    told = t("evaluate.waits")
    if run.done:
        asked = t("evaluate.asked_of", done=run.done, total=run.total)
        told = joined(asked, left_of(run.done, run.total, run.started_at))
    width = f"{share * 100:.1f}%" if run.done else "100%"
    bar = html.Div(
        html.Div(className="bar-fill" if run.done else "bar-fill bar-unknown", style={"width": width}),
        className="bar",
        role="progressbar",
        **aria(label=run_name(run), valuemin="0", valuemax=str(run.total), valuenow=str(run.done), valuetext=told),
    )
    button = html.Button(
        [icon("stop-circle"), t("evaluate.cancel")],
        id={"type": cancel, "run": run.id},
        type="button",
        className="btn btn-secondary btn-sm",
    )
    words = html.Div([html.Strong(run_title(run)), html.Span(told, className="muted numbers")], className="run-words")
    goes_on = html.P(t("evaluate.goes_on"), className="hint")
    return html.Div(
        [html.Div([words, button if cancel else None], className="run-head"), bar, goes_on],
        className="card-plain run-progress",
    )


def _field(component_id: str, label: str, control: Any) -> html.Div:
    return html.Div([html.Label(label, htmlFor=component_id, className="form-label"), control], className="run-field")


def _text(component_id: str, placeholder: str) -> dbc.Input:
    return dbc.Input(id=component_id, placeholder=placeholder, maxLength=LABEL_CHARS, autocomplete="off")


def _choice(component_id: str, name: str, values: Sequence[str]) -> dbc.Select:
    options = [{"value": value, "label": _word(name, value)} for value in values]
    return dbc.Select(id=component_id, options=options, value=values[0])


def _word(name: str, value: str) -> str:
    if value == AS_SET:
        return t("evaluate.as_set")
    key = f"evaluate.{name}_{value}"
    return t(key) if has(key) else value
