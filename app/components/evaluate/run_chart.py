"""Measures of a question set from run to run, a figure each; the legs differ in dash and sign, not in hue alone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from dash import html

from app.components.ask.figures import AXIS, GROUND, SERIES, graph
from app.components.evaluate.words import LEGS, leg_name, measure_name, measured, run_name
from app.i18n import t
from core.model import EvaluationRun

HEIGHT_PX = 280
DASHES = ("dot", "dash", "dashdot", "solid")
SIGNS = ("circle-open", "square-open", "diamond-open", "circle")
SIZES = (16, 13, 10, 6)
"""The smaller lie over the larger, so that all can be seen where they meet."""
TICKS = 8
QUARTERS = (0, 0.25, 0.5, 0.75, 1)


def run_figures(runs: Sequence[EvaluationRun], first: int = 1) -> html.Div:
    """Figures over ``runs`` (oldest first, numbered from ``first`` on): nDCG@10 and recall@10 a leg, right answers."""
    plots = (
        ("ndcg_at_10", [(leg, leg_name(leg)) for leg in LEGS]),
        ("recall_at_10", [(leg, leg_name(leg)) for leg in LEGS]),
        ("right", [("answers", measure_name("right"))]),
    )
    return html.Div([_figure(runs, first, measure, series) for measure, series in plots], className="run-figures")


def _figure(runs: Sequence[EvaluationRun], first: int, measure: str, series: Sequence[tuple[str, str]]) -> html.Section:
    figure = go.Figure()
    places = list(range(first, first + len(runs)))
    hover = [escape(run_name(run)) for run in runs]
    for index, (leg, name) in enumerate(series):
        at = index if len(series) > 1 else len(LEGS) - 1
        values = [measured(run, leg, measure) for run in runs]
        if all(value is None for value in values):
            continue
        figure.add_scatter(
            x=places,
            y=values,
            mode="lines+markers",
            name=escape(name),
            line={"color": SERIES[at], "width": 2.5 if at == len(LEGS) - 1 else 1.75, "dash": DASHES[at]},
            marker={"color": SERIES[at], "size": SIZES[at], "symbol": SIGNS[at], "line": {"width": 1.75}},
            text=hover,
            hovertemplate=f"%{{text}}<br>{escape(name)}: %{{y:.3f}}<extra></extra>",
        )
    step = max(1, -(-len(runs) // TICKS))
    axis = {
        **AXIS,
        "title": {"font": {"size": 12}},
    }
    figure.update_xaxes(
        **axis, tickmode="array", tickvals=places[::step], ticktext=[f"#{place}" for place in places[::step]]
    )
    figure.update_xaxes(range=[first - 0.3, first + len(runs) - 0.7], showgrid=False)
    figure.update_yaxes(**axis, tickvals=QUARTERS, tickformat=".0%" if measure == "right" else ".2f")
    figure.update_yaxes(range=[0, 1])
    figure.update_traces(cliponaxis=False)
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        **GROUND,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "xanchor": "left"},
        showlegend=len(series) > 1,
        dragmode="zoom",
    )
    title = measure_name(measure)
    return html.Section(
        [
            html.H3(title, className="figure-title"),
            graph(figure, t("evaluate.figure", name=title, count=len(runs))),
        ],
        className="run-figure",
    )
