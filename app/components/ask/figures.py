"""The small plots of the trace cards, as plotly figures.

Text, axes and grid lines take their colours from the theme through ``assets/pages.css``, so a figure follows a change
of theme without being drawn again; the series colours here are readable on both grounds. Plotly reads labels as
markup, so everything that a user wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go
from dash import dcc, html

from app.components.attributes import aria
from app.i18n import language, t

SERIES = ("#6a6ff0", "#0d9488", "#c0741a", "#d6457a", "#0e8bc4", "#7a8b2a", "#a855c7", "#7b8494")
"""Told apart by lightness and hue; each has a contrast of at least 3 to 1 on the light and on the dark ground."""
EXCITATORY, INHIBITORY = SERIES[4], SERIES[2]

NEUTRAL = "#8a919c"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans JP", "Noto Sans CJK JP", sans-serif'
GROUND = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": FONT, "size": 12, "color": NEUTRAL},
    "hoverlabel": {"font": {"family": FONT, "size": 12}, "align": "left"},
    "template": "none",
}
AXIS = {"gridcolor": NEUTRAL, "gridwidth": 1, "zeroline": False, "automargin": True}
"""What the layout and the axes of every plot have in common."""
ROW_PX = 26
LABEL_CHARS = 26
LABEL_GAP_PX = 6
"""Between a label and its bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One horizontal bar: its label and the parts that it is stacked from."""

    label: str
    parts: Mapping[str, float]


def dots(labels: Sequence[str], values: Sequence[float], axis: str) -> go.Figure:
    """One dot a row; the axis begins near the smallest value, which bars could not do honestly, and says so."""
    figure = _figure(len(labels))
    rows = list(range(len(labels)))
    low, high = min(values, default=0.0), max(values, default=1.0)
    pad = max((high - low) * 0.12, 0.005)
    for row, value in zip(rows, values, strict=True):
        figure.add_shape(type="line", x0=low - pad, x1=value, y0=row, y1=row, line={"color": NEUTRAL, "width": 1})
    figure.add_scatter(
        x=list(values),
        y=rows,
        mode="markers",
        marker={"color": SERIES[0], "size": 10},
        text=[escape(label) for label in labels],
        hovertemplate="%{text}<br>%{x:.4f}<extra></extra>",
        showlegend=False,
    )
    begins = t("trace.axis_begins", axis=axis, value=f"{low - pad:.2f}")
    figure.update_xaxes(
        title={"text": escape(begins).replace("\n", "<br>")}, range=[low - pad, high + pad], tickformat=".2f", nticks=5
    )
    return _with_rows(figure, [f"#{row}" for row in range(1, len(labels) + 1)])


def stacked(bars: Sequence[Bar], axis: str, parts: Sequence[str], unit: str = "") -> go.Figure:
    """One bar a row, stacked from ``parts`` in their order, each in its own colour; the last of several is the rest."""
    used = [part for part in parts if any(part in bar.parts for bar in bars)]
    figure = _figure(len(bars), legend=len(parts) > 1)
    for name in used:
        is_rest = len(parts) > 1 and name == parts[-1]
        figure.add_bar(
            x=[bar.parts.get(name, 0.0) for bar in bars],
            y=list(range(len(bars))),
            orientation="h",
            name=escape(_short(name)),
            marker={"color": NEUTRAL if is_rest else SERIES[parts.index(name) % len(SERIES)], "line": {"width": 0}},
            text=[escape(bar.label) for bar in bars],
            textposition="none",
            hovertemplate=f"%{{text}}<br>{escape(name)}: %{{x:.3~f}}{unit}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35, showlegend=len(parts) > 1)
    figure.update_xaxes(title={"text": escape(axis)}, rangemode="tozero", nticks=6)
    return _with_rows(figure, [bar.label for bar in bars])


def graph(figure: go.Figure, label: str, look: str = "") -> html.Figure:
    """The figure with its name for screen readers, without a logo, with download and reset as its only tools."""
    plot = dcc.Graph(figure=figure, config=_config(), responsive=True, style={"height": f"{figure.layout.height}px"})
    return html.Figure(plot, className=f"figure {look}".rstrip(), **aria(label=label))


def _config() -> dcc.Graph.Config:
    words = {"Download plot as a PNG": t("figure.download"), "Reset axes": t("figure.reset")}
    code = language()
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage", "resetScale2d"]],
        "toImageButtonOptions": {"format": "png", "filename": "evorag", "scale": 2},
        "locale": code,
        "locales": {code: {"dictionary": {**words, "Download plot": t("figure.download")}}},
    }


def _figure(rows: int, legend: bool = False) -> go.Figure:
    height = ROW_PX * max(rows, 1) + (96 if legend else 64)
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        **GROUND,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "xanchor": "left", "traceorder": "normal"},
        dragmode="zoom",
    )
    axis = {
        **AXIS,
        "tickangle": 0,
        "title": {"font": {"size": 12}, "standoff": 8},
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis, fixedrange=True)
    return figure


def _with_rows(figure: go.Figure, labels: Sequence[str]) -> go.Figure:
    texts = [escape(_short(label)) for label in labels]
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=texts,
        ticklabelstandoff=LABEL_GAP_PX,
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
    )
    return figure


def _short(text: str) -> str:
    return text if len(text) <= LABEL_CHARS else text[: LABEL_CHARS - 1] + "…"
