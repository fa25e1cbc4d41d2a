"""The Compare page under its head: what changed, the ways to look at it, and what is there while nothing is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.compare.address import VIEWS, Pair, Shown
from app.components.compare.diff_grid import diff_text
from app.components.compare.summary import metadata, notices, strip
from app.components.shared.icon import file_icon, icon
from app.components.shared.states import badge, empty, link_button
from app.components.shared.times import time_left
from app.i18n import seconds, t
from core.model import Change, ChangeSummary, ComparisonProgress, Document

SYMBOLS = {
    "text": "body-text",
    "table": "table",
    "images": "file-earmark-slides",
    "metadata": "info-circle",
    "answers": "chat-square-text",
}
SHOWN_S, LONG_S = 1, 10


def compare_body(
    summary: ChangeSummary, pair: Pair, shown: Shown, *, tables: int, same_bytes: bool = False
) -> html.Div:
    """Everything about two versions; tables, images and answers are drawn when they are looked at."""
    panels = {
        "text": diff_text(summary, shown) if not summary.is_equal else _equal(summary, same_bytes),
        "table": None,
        "images": None,
        "metadata": metadata(summary.metadata),
        "answers": None,
    }
    counts = {
        "table": tables,
        "images": sum(each.change is not Change.EQUAL for each in summary.images),
        "metadata": sum(each.change is not Change.EQUAL for each in summary.metadata),
    }
    return html.Div(
        [
            *notices(summary),
            html.Div([_tabs(shown.view, counts), strip(summary)], className="compare-bar"),
            *[_panel(view, panels[view], view == shown.view) for view in VIEWS],
            html.Div(id="compare-said", className="visually-hidden", role="status", **aria(live="polite")),
            dcc.Store(id="compare-ready", data=pair.as_dict()),
            dcc.Store(id="compare-shown-view", data=shown.view),
            dcc.Store(id="compare-drawn", data=[]),
            dcc.Store(id="compare-started", data=False),
        ],
        id="compare",
        className="compare",
        **dataset(pair=json.dumps(pair.as_dict()), is_equal=summary.is_equal),
    )


def waiting(is_shown: bool) -> html.Div:
    """What stands in place of a comparison that is being computed: how far it is, and how to stop it.

    ``compare-progress``, ``compare-left`` and ``compare-goes-on`` are filled while it goes on.
    """
    return html.Div(
        [
            html.P(badge("working", t("compare.waiting")), role="status"),
            html.Div(
                [
                    html.Progress(id="compare-progress", value="0", max="100", **aria(label=t("compare.waiting"))),
                    html.Button(t("compare.cancel"), id="compare-cancel", type="button", className="btn btn-secondary"),
                ],
                className="compare-waiting-bar",
            ),
            html.P(id="compare-left", className="muted numbers"),
            html.P(t("compare.waiting_long"), id="compare-goes-on", className="hint", hidden=True),
            html.Div([html.Div(className="skeleton-line", **aria(hidden=True)) for _ in range(12)]),
        ],
        id="compare-waiting",
        className="compare-waiting",
        hidden=not is_shown,
    )


def told(progress: ComparisonProgress) -> str:
    """How far a comparison is in words, by time and with what is left; empty in its first second."""
    if progress.elapsed_s < SHOWN_S:
        return ""
    parts = [t("compare.elapsed", time=seconds(int(progress.elapsed_s))), t("job.share", percent=percent_of(progress))]
    left = progress.seconds_left
    return " · ".join([*parts, *([time_left(left)] if left is not None else [])])


def percent_of(progress: ComparisonProgress) -> int:
    return int(100 * progress.share)


def stopped(pair: Pair) -> html.Div:
    """What stands in place of a comparison that somebody has stopped."""
    again = link_button(t("compare.again"), pair.href(), "arrow-repeat", primary=True)
    return empty("dash-circle", t("compare.stopped"), t("compare.stopped_text"), again)


def start_list(documents: Sequence[Document]) -> html.Ul:
    """The documents that have versions to compare, in the order given."""
    items = [
        html.Li(
            dcc.Link(
                [
                    file_icon(document.extension),
                    html.Span(document.title or document.name, className="user-text"),
                    html.Small(t("compare.versions", count=document.version_count)),
                ],
                href=links.compare(document.doc_key),
            )
        )
        for document in documents
    ]
    return html.Ul(items, className="compare-start")


def _tabs(view: str, counts: dict[str, int]) -> html.Div:
    tabs = [
        html.Button(
            [icon(SYMBOLS[name]), t(f"compare.view.{name}"), _count(counts.get(name, 0))],
            type="button",
            id=f"compare-tab-{name}",
            className="compare-tab",
            role="tab",
            **aria(selected=name == view, controls=f"compare-panel-{name}"),
            **dataset(compare_view=name),
            tabIndex=0 if name == view else -1,
        )
        for name in VIEWS
    ]
    return html.Div(tabs, className="compare-tabs", role="tablist", **aria(label=t("compare.views")))


def _count(count: int) -> Any:
    return html.Span(str(count), className="tab-count numbers") if count else None


def _panel(name: str, children: Any, is_shown: bool) -> html.Div:
    return html.Div(
        children,
        id=f"compare-panel-{name}",
        className="compare-panel",
        role="tabpanel",
        hidden=not is_shown,
        **aria(labelledby=f"compare-tab-{name}"),
    )


def _equal(summary: ChangeSummary, same_bytes: bool) -> html.Div:
    differs = [
        t(f"compare.view.{name}")
        for name, changes in (("images", summary.images), ("metadata", summary.metadata))
        if any(each.change is not Change.EQUAL for each in changes)
    ]
    if same_bytes:
        text = t("compare.equal_bytes")
    elif differs:
        text = t("compare.equal_but", parts=t("compare.and").join(differs))
    else:
        text = t("compare.equal_format")
    return empty("check-circle-fill", t("compare.equal"), text)
