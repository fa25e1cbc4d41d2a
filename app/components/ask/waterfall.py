"""The time of a question as a waterfall: a step begins where the one before ends, and together they are the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from app.components.ask.figures import AXIS, GROUND, LABEL_GAP_PX, NEUTRAL, ROW_PX, SERIES
from app.components.ask.trace_facts import named
from app.i18n import number, t

STEPS = (
    *("standalone", "analyse", "scope", "cache", "spelling", "both_legs", "visibility", "fuse", "rerank", "read"),
    *("context", "answer"),
)
"""The steps one after the other."""
WITHIN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "both_legs": (("embed_question", "vector_search"), ("keyword_search",)),
    "answer": (("embed_sentences", "extract", "generate", "guard"),),
}
"""What runs within a step: rows that begin together, and the steps of each one after the other."""
TOTAL, REST = "total", "rest"
WORDS_PX = 72
"""Room for the words behind the longest bar."""


@dataclass(frozen=True, slots=True)
class Span:
    """A step with when it began and how long it took, in milliseconds; ``is_part`` if it runs within the one above."""

    name: str
    began: float
    took: float
    is_part: bool = False


def spans(timings_ms: Mapping[str, float]) -> list[Span]:
    """The steps in their order, what no step accounts for, and the whole; the steps that are no parts add up to it."""
    parts = {name for rows in WITHIN.values() for row in rows for name in row}
    known = [name for name in STEPS if name in timings_ms]
    others = [name for name in timings_ms if name not in {*STEPS, *parts, TOTAL}]
    # An account of before a step was known, or one without its step, still shows every time that it holds.
    lonely = [name for step, rows in WITHIN.items() if step not in timings_ms for row in rows for name in row]
    found: list[Span] = []
    at = 0.0
    for name in (*known, *others, *(each for each in lonely if each in timings_ms)):
        found.append(Span(name, at, timings_ms[name]))
        found += _within(name, at, timings_ms)
        at += timings_ms[name]
    whole = timings_ms.get(TOTAL, at)
    if whole > at:
        found.append(Span(REST, at, whole - at))
    return [*found, Span(TOTAL, 0.0, max(whole, at))]


def _within(step: str, began: float, timings_ms: Mapping[str, float]) -> list[Span]:
    found = []
    for row in WITHIN.get(step, ()):
        at = began
        for name in row:
            if name in timings_ms:
                found.append(Span(name, at, timings_ms[name], is_part=True))
                at += timings_ms[name]
    return found


def waterfall(timings_ms: Mapping[str, float]) -> go.Figure:
    """A row a step; parts of a step are lighter, and the last row is the whole."""
    rows = spans(timings_ms)
    names = [_name(row) for row in rows]
    took = [_words(row.took) for row in rows]
    figure = go.Figure()
    figure.add_bar(
        x=[row.took for row in rows],
        base=[row.began for row in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker={"color": [NEUTRAL if row.name in (TOTAL, REST) else SERIES[0] for row in rows], "line": {"width": 0}},
        opacity=1,
        text=took,
        textposition="outside",
        textfont={"size": 12},
        cliponaxis=False,
        hovertext=[escape(f"{name.strip()}: {words}") for name, words in zip(names, took, strict=True)],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    figure.data[0].marker.opacity = [0.45 if row.is_part else 1 for row in rows]
    figure.update_layout(
        height=ROW_PX * len(rows) + 56,
        margin={"l": 8, "r": WORDS_PX, "t": 8, "b": 8},
        **GROUND,
        bargap=0.35,
        dragmode=False,
    )
    title = {"text": escape(t("trace.ms_axis")), "font": {"size": 12}, "standoff": 8}
    figure.update_xaxes(**AXIS, title=title, range=[0, rows[-1].took or 1], nticks=5, fixedrange=True)
    figure.update_yaxes(
        **{**AXIS, "showgrid": False},
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=[escape(name) for name in names],
        ticklabelstandoff=LABEL_GAP_PX,
        range=[len(rows) - 0.4, -0.6],
        fixedrange=True,
    )
    return figure


def _name(row: Span) -> str:
    words = t("trace.total") if row.name == TOTAL else named("trace.stage", row.name)
    return f"· {words}" if row.is_part else words


def _words(ms: float) -> str:
    return f"{number(round(ms))} ms" if ms >= 100 else f"{ms:.1f} ms"
