"""How often answers of each confidence were right: whether the confidence that answers carry can be believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from dash import html

from app.components.ask.figures import AXIS, GROUND, NEUTRAL, SERIES, graph
from app.i18n import t
from core.model import QuestionOutcome

BINS = 10
FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)
HEIGHT_PX = 300
FEW = 10
"""Fewer answers than these say little of a confidence."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose confidence lies within a tenth: how many, their mean confidence, the share that was right."""

    count: int
    confidence: float
    right: float


def bins_of(outcomes: Iterable[QuestionOutcome]) -> list[Bin]:
    """Return the tenths in which there are answers that can be judged, by confidence."""
    sorted_in: dict[int, list[tuple[float, bool]]] = {}
    for outcome in outcomes:
        if outcome.confidence is not None and outcome.is_right is not None:
            tenth = min(int(outcome.confidence * BINS), BINS - 1)
            sorted_in.setdefault(tenth, []).append((outcome.confidence, outcome.is_right))
    return [
        Bin(len(found), sum(sure for sure, _ in found) / len(found), sum(right for _, right in found) / len(found))
        for _, found in sorted(sorted_in.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error; None without answers.

    *Source* Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
    """
    count = sum(each.count for each in bins)
    return sum(each.count * abs(each.confidence - each.right) for each in bins) / count if count else None


def reliability(outcomes: Iterable[QuestionOutcome]) -> html.Section:
    """The diagram with what it says in words."""
    bins = bins_of(outcomes)
    error = calibration_error(bins)
    title = html.H2(t("evaluate.reliability"), className="section-title")
    if error is None:
        return html.Section([title, html.P(t("evaluate.reliability_none"), className="muted")], className="card-plain")
    count = sum(each.count for each in bins)
    said = t("evaluate.reliability_error", count=count, percent=round(100 * error))
    parts = [title, html.P(t("evaluate.reliability_hint"), className="hint form-words"), html.P(said)]
    if count < FEW * len(bins):
        parts.append(html.P(t("evaluate.reliability_few"), className="hint"))
    return html.Section(
        [*parts, html.Div(graph(_figure(bins), f"{t('evaluate.reliability')}. {said}"), className="reliability")],
        className="card-plain",
    )


def _figure(bins: Sequence[Bin]) -> go.Figure:
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name=t("evaluate.reliability_ideal"),
        line={"color": NEUTRAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[each.confidence for each in bins],
        y=[each.right for each in bins],
        mode="lines+markers+text",
        name=t("evaluate.reliability_found"),
        text=[str(each.count) for each in bins],
        textposition="top center",
        cliponaxis=False,
        line={"color": SERIES[0], "width": 2},
        marker={"color": SERIES[0], "size": 10},
        hovertemplate=t("evaluate.reliability_hover") + "<extra></extra>",
    )
    axis = {
        "range": [0, 1],
        "tickformat": ".0%",
        "tickvals": FIFTHS,
        **AXIS,
    }
    figure.update_xaxes(**axis, title={"text": t("evaluate.reliability_x"), "font": {"size": 12}})
    figure.update_yaxes(**axis, title={"text": t("evaluate.reliability_y"), "font": {"size": 12}})
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 16, "t": 24, "b": 8},
        **GROUND,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.06, "x": 0, "xanchor": "left"},
    )
    return figure
