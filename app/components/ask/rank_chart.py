"""The account of a ranking as one picture: each passage's way from both searches through fusion to the final order.

A column is a ranking, a line a passage. The lines stand in the order of their ranks, one below the other, and each
carries its rank as a number: so the picture needs no scale that would press the last of fifty to the ground. What a
search did not find stands below the others, on a dotted line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

import plotly.graph_objects as go
from dash import html

from app.components.ask.figures import AXIS, GROUND, SERIES, graph
from app.components.shared.passage import locator_text
from app.i18n import t
from core.model import Hit, Trace

MOST_PASSAGES = len(SERIES)
"""So many have a colour of their own."""
ROW_PX = 34
HEAD_PX = 36
LABEL_PX = 240
"""Room for a label with the numbers that cite it, in bold; assets/ask-evidence.css leaves the lines as much."""
LABEL_WIDTH, PLACE_WIDTH = 23, 11
"""In signs of Latin; those of Japanese are two wide."""
MOST_NUMBERS = 2
GAP = 0.4
"""Rows between what was found and what was not."""
NOT_FOUND = "–"
THIN, THICK = 2, 4


@dataclass(frozen=True, slots=True)
class RankPath:
    """A passage's rank in each of the rankings, ``None`` where it is not in one, and the numbers that cite it."""

    label: str
    ranks: tuple[int | None, ...]
    cited: tuple[int, ...] = ()


def rankings(trace: Trace) -> tuple[str, ...]:
    """The names of the rankings from the left to the right; without reranking, fusion's is the final one."""
    legs = (t("trace.vector.title"), t("trace.keyword.title"))
    return (*legs, t("trace.fusion.title"), t("trace.final")) if _is_reranked(trace) else (*legs, t("trace.final"))


def rank_paths(trace: Trace) -> list[RankPath]:
    """The ways of the first passages of the final order, in that order."""
    cited: dict[int, list[int]] = {}
    for citation in trace.answer.citations:
        cited.setdefault(citation.chunk_id, []).append(citation.number)
    is_reranked = _is_reranked(trace)
    return [
        RankPath(_label(hit), _ranks(hit, is_reranked=is_reranked), tuple(cited.get(hit.placed.id, ())))
        for hit in trace.candidates[:MOST_PASSAGES]
    ]


def rank_chart(trace: Trace) -> html.Div:
    """The picture with the words that it is read by; the table of the card says the same in numbers."""
    plot = graph(bump(rank_paths(trace), rankings(trace)), t("trace.fusion.plot"), "figure-bump")
    hint = t("trace.fusion.plot_hint", count=min(len(trace.candidates), MOST_PASSAGES))
    return html.Div(
        [
            html.Div(plot, className="bump-scroll", tabIndex=0, role="group", title=t("trace.fusion.plot")),
            html.P(hint, className="hint"),
        ]
    )


def bump(paths: Sequence[RankPath], titles: Sequence[str]) -> go.Figure:
    """A line a passage over the rankings; thick ones are cited."""
    heights = [_heights([path.ranks[column] for path in paths]) for column in range(len(titles))]
    figure = go.Figure()
    for index, path in enumerate(paths):
        colour, width = SERIES[index % len(SERIES)], THICK if path.cited else THIN
        ys = [column[index] for column in heights]
        for dash, is_solid in (("solid", True), ("dot", False)):
            xs, parts = _segments(path.ranks, ys, is_solid=is_solid)
            line = {"color": colour, "width": width, "dash": dash}
            figure.add_scatter(x=xs, y=parts, mode="lines", line=line, hoverinfo="skip", showlegend=False)
        figure.add_scatter(
            x=list(range(len(titles))),
            y=ys,
            mode="markers+text",
            marker={"color": "#ffffff", "size": 24, "line": {"color": colour, "width": width}},
            text=[NOT_FOUND if rank is None else str(rank) for rank in path.ranks],
            customdata=[escape(title) for title in titles],
            name=escape(path.label),
            hovertemplate=f"{escape(path.label)}<br>%{{customdata}}: %{{text}}<extra></extra>",
            showlegend=False,
        )
        numbers = "".join(f" [{number}]" for number in path.cited[:MOST_NUMBERS])
        label = f"<b>{escape(path.label + numbers)}</b>" if path.cited else escape(path.label)
        _write(figure, 0, ys[0], label, anchor="right")
        _write(figure, len(titles) - 1, ys[-1], label, anchor="left")
    rows = max((height for column in heights for height in column), default=0.0) + 1
    figure.update_layout(
        height=round(ROW_PX * rows) + HEAD_PX,
        margin={"l": LABEL_PX, "r": LABEL_PX, "t": HEAD_PX, "b": 4, "autoexpand": False},
        **GROUND,
        dragmode=False,
    )
    ticks = {"tickmode": "array", "tickvals": list(range(len(titles))), "ticktext": [escape(each) for each in titles]}
    figure.update_xaxes(
        **{**AXIS, "automargin": False}, **ticks, side="top", range=[-0.15, len(titles) - 0.85], fixedrange=True
    )
    figure.update_yaxes(range=[rows - 0.5, -0.5], visible=False, fixedrange=True)
    return figure


def _write(figure: go.Figure, x: float, y: float, label: str, *, anchor: str) -> None:
    shift = -18 if anchor == "right" else 18
    figure.add_annotation(x=x, y=y, text=label, showarrow=False, xanchor=anchor, xshift=shift, font={"size": 12})


def _segments(
    ranks: Sequence[int | None], ys: Sequence[float], *, is_solid: bool
) -> tuple[list[float | None], list[float | None]]:
    """The parts of a line between rankings that both have the passage, or the others; a gap follows each."""
    xs: list[float | None] = []
    found: list[float | None] = []
    for at in range(len(ranks) - 1):
        if (ranks[at] is not None and ranks[at + 1] is not None) == is_solid:
            xs += [at, at + 1, None]
            found += [ys[at], ys[at + 1], None]
    return xs, found


def _heights(ranks: Sequence[int | None]) -> list[float]:
    """Where each passage stands in a ranking: by its rank, what was not found below, in the order given."""
    ordered = sorted(range(len(ranks)), key=lambda at: (ranks[at] is None, ranks[at] or at))
    heights = [0.0] * len(ranks)
    for row, at in enumerate(ordered):
        heights[at] = row + (GAP if ranks[at] is None and ordered[0] != at else 0.0)
    return heights


def _ranks(hit: Hit, *, is_reranked: bool) -> tuple[int | None, ...]:
    legs = (hit.vector.rank if hit.vector else None, hit.keyword.rank if hit.keyword else None)
    if not is_reranked:
        return (*legs, hit.rank)
    return (*legs, hit.rerank.fused_rank if hit.rerank else hit.rank, hit.rank)


def _is_reranked(trace: Trace) -> bool:
    return any(hit.rerank for hit in trace.candidates)


def _label(hit: Hit) -> str:
    """The document and the place in it; where it has no pages or rows, the heading that the passage stands under."""
    locator = hit.placed.chunk.locator
    place = _cut(locator_text(locator, headings=False), PLACE_WIDTH)
    if not place and locator.heading_path:
        name = _cut(hit.placed.name, LABEL_WIDTH - PLACE_WIDTH - 3)
        place = _cut(locator.heading_path[-1], LABEL_WIDTH - _width(name) - 3)
    else:
        name = _cut(hit.placed.name, LABEL_WIDTH - (_width(place) + 3 if place else 0))
    return " · ".join(part for part in (name, place) if part)


def _cut(text: str, most: int) -> str:
    if _width(text) <= most:
        return text
    kept = text
    while kept and _width(kept) > most - 1:
        kept = kept[:-1]
    return kept + "…"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)
