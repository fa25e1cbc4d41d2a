"""Measures of a question set from run to run, a figure each; the legs differ in dash and sign, not in hue alone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from dash import html

from app.components.ask.figures import FONT, NEUTRAL, SERIES, graph
from app.components.evaluate.words import LEGS, leg_name, measure_name, measured, run_name
from app.i18n import t
from core.model import EvaluationRun

HEIGHT_PX = 280
DASHES = ("dot", "dash", "dashdot", "solid")
SIGNS = ("circle-open", "square-open", "diamond-open", "circle")
SIZES = (16, 13, 10, 6)
"""The smaller lie over the larger, so that all can be seen where they meet."""
PAD = 0.12
LEAST_PAD = 0.02
TICKS = 8


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
    low, high = 1.0, 0.0
    hover = [escape(run_name(run)) for run in runs]
    for index, (leg, name) in enumerate(series):
        at = index if len(series) > 1 else len(LEGS) - 1
        values = [measured(run, leg, measure) for run in runs]
        known = [value for value in values if value is not None]
        if not known:
            continue
        low, high = min(low, *known), max(high, *known)
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
        "gridcolor": NEUTRAL,
        "gridwidth": 1,
        "zeroline": False,
        "automargin": True,
        "title": {"font": {"size": 12}},
    }
    figure.update_xaxes(
        **axis, tickmode="array", tickvals=places[::step], ticktext=[f"#{place}" for place in places[::step]]
    )
    figure.update_xaxes(range=[first - 0.3, first + len(runs) - 0.7], showgrid=False)
    figure.update_yaxes(**axis, nticks=5, tickformat=".0%" if measure == "right" else ".2f")
    pad = max((high - low) * PAD, LEAST_PAD)
    figure.update_yaxes(range=[max(low - pad, -LEAST_PAD), min(high + pad, 1 + LEAST_PAD)])
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 12, "color": NEUTRAL},
        hoverlabel={"font": {"family": FONT, "size": 12}, "align": "left"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "xanchor": "left"},
        showlegend=len(series) > 1,
        dragmode="zoom",
        template="none",
    )
    title = measure_name(measure)
    return html.Section(
        [
            html.H3(title, className="figure-title"),
            graph(figure, t("evaluate.figure", name=title, count=len(runs))),
        ],
        className="run-figure",
    )
