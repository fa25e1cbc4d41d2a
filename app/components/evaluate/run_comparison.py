"""Two runs side by side: what differs, whether chance explains it, and which questions got better or worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.attributes import dataset
from app.components.evaluate.run_outcomes import last_rank, outcome_badge
from app.components.evaluate.words import (
    LEGS,
    MEASURES,
    NOTHING,
    leg_name,
    measure_name,
    options_of,
    run_title,
    written,
)
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import t
from core.model import EvaluationRun, MeasureDifference, QuestionOutcome, RunComparison

MOST_QUESTIONS = 50
Outcomes = Mapping[str, QuestionOutcome]


def two_runs(comparison: RunComparison) -> html.Div:
    """The runs that are compared, the older one first."""
    return html.Div(
        [_run(comparison.old, t("evaluate.older")), _run(comparison.new, t("evaluate.newer"))], className="two-runs"
    )


def difference_tables(differences: Sequence[MeasureDifference]) -> html.Div:
    """The measures of the final ranking and of the answers; those of the stages before it can be opened."""
    of_stages = [each for each in differences if each.leg in LEGS[:-1]]
    main = [each for each in differences if each.leg not in LEGS[:-1]]
    shown: list[Any] = [difference_table(main)]
    if of_stages:
        shown.append(html.Details([html.Summary(t("evaluate.stages")), difference_table(of_stages)]))
    return html.Div(shown, className="card-plain")


def difference_table(differences: Sequence[MeasureDifference]) -> html.Table:
    """One row a measure and leg, the most telling measure first, with its interval and what it means in words."""
    order = list(MEASURES)
    rows = sorted(differences, key=lambda each: (each.leg == "answers", order.index(each.name)))
    names = ("measure", "older", "newer", "difference", "interval", "meaning")
    head = html.Tr(
        [
            html.Th(
                t(f"evaluate.{name}_column"), scope="col", className=("", "num", "num", "num", "num", "after")[index]
            )
            for index, name in enumerate(names)
        ]
    )
    return html.Table(
        [
            html.Caption(t("evaluate.differences_caption"), className="visually-hidden"),
            html.Thead(head),
            html.Tbody([_row(difference) for difference in rows]),
        ],
        className="runs-table differences",
    )


def changed_questions(comparison: RunComparison, old: Outcomes, new: Outcomes) -> html.Div:
    """The questions that got worse, then those that got better, each with the traces of both runs."""
    return html.Div(
        [_changed("worse", comparison.worse, old, new), _changed("better", comparison.better, old, new)],
        className="changed-questions",
    )


def meaning_of(difference: MeasureDifference) -> tuple[str, str]:
    """Return what a difference means: one of the four meanings, and its name."""
    good = MEASURES.get(difference.name, 1)
    if is_unknown(difference):
        return "neutral", "few"
    if difference.low == difference.high == 0:
        return "neutral", "same"
    if not difference.is_significant:
        return "neutral", "chance"
    return ("ok", "better") if (difference.new - difference.old) * good > 0 else ("error", "worse")


def is_unknown(difference: MeasureDifference) -> bool:
    """Say whether the interval is as wide as can be, because the runs hold too few questions."""
    return difference.low <= -1 and difference.high >= 1


def _run(run: EvaluationRun, told: str) -> html.Section:
    return html.Section(
        [
            html.P(told, className="hint"),
            dcc.Link(run_title(run), href=links.evaluate(run=run.id), className="question"),
            html.Div(
                [when(run.started_at), *options_of(run.settings)],
                className="question-facts",
            ),
        ],
        className="card-plain",
    )


def _row(difference: MeasureDifference) -> html.Tr:
    name = difference.name
    meaning, word = meaning_of(difference)
    leg = [] if difference.leg == "answers" else [html.Span(leg_name(difference.leg), className="muted")]
    low, high = (written(name, bound, signed=True) for bound in (difference.low, difference.high))
    interval = NOTHING if is_unknown(difference) else t("evaluate.interval", low=low, high=high)
    cells: list[tuple[str, Any]] = [
        ("older", written(name, difference.old)),
        ("newer", written(name, difference.new)),
        ("difference", html.Strong(written(name, difference.new - difference.old, signed=True))),
        ("interval", interval),
    ]
    return html.Tr(
        [
            html.Th([html.Span(measure_name(name)), *leg], scope="row", className="measure-name"),
            *[
                html.Td(cell, className="num", **dataset(column=t(f"evaluate.{column}_column")))
                for column, cell in cells
            ],
            html.Td(
                badge(meaning, t(f"evaluate.meaning_{word}"), t(f"evaluate.meaning_{word}_explain")), className="after"
            ),
        ]
    )


def _changed(which: str, ids: Sequence[str], old: Outcomes, new: Outcomes) -> html.Section:
    title = html.H2(t(f"evaluate.{which}_title", count=len(ids)), className="section-title")
    known = [name for name in ids if name in new][:MOST_QUESTIONS]
    if not ids:
        return html.Section([title, html.P(t(f"evaluate.no_{which}"), className="muted")], className="card-plain")
    parts: list[Any] = [title, html.Ul([_question(old.get(name), new[name]) for name in known], className="questions")]
    if len(known) < len(ids):
        parts.append(html.P(t("evaluate.first_of", count=len(known), total=len(ids)), className="hint"))
    return html.Section(parts, className="card-plain")


def _question(old: QuestionOutcome | None, new: QuestionOutcome) -> html.Li:
    sides = [("older", old), ("newer", new)]
    lines: list[Component] = [html.P(new.question.text, className="asked-question")]
    lines += [_side(name, outcome) for name, outcome in sides if outcome is not None]
    return html.Li(html.Div(lines))


def _side(name: str, outcome: QuestionOutcome) -> html.Div:
    told = t(f"evaluate.{name}")
    facts: list[Any] = [dcc.Link(told, href=links.ask(trace=outcome.trace_id)) if outcome.trace_id else told]
    facts.append(outcome_badge(outcome))
    if outcome.question.doc_keys:
        rank = last_rank(outcome.ranks)
        facts.append(html.Span(t("evaluate.at_rank", rank=rank) if rank else t("evaluate.at_none")))
    return html.Div(facts, className="question-facts")
