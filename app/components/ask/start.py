"""What stands under the box before a question is asked: what is being indexed, and the way to the first documents."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.shared.sample import sample_button
from app.components.shared.states import empty, link_button
from app.components.shared.times import time_left
from app.i18n import t
from core.model import Job
from core.model.jobs import together

NAMED = 3


def first_documents() -> html.Div:
    """What an empty knowledge base shows in place of the question box."""
    action = [
        link_button(t("start.empty.upload"), links.UPLOAD, "upload", primary=True),
        sample_button(again=False),
    ]
    return empty("inbox", t("start.empty.title"), t("start.empty.text"), action)


def being_indexed(jobs: Sequence[Job], count: int) -> html.Section | None:
    """The files that cannot be asked about yet, ``count`` in all; None where there is none."""
    if not jobs:
        return None
    share, seconds_left = together(jobs)
    percent = int(100 * share)
    more = count - NAMED
    return html.Section(
        [
            html.H2(t("start.indexing", count=count), className="section-title"),
            html.Progress(value=str(percent), max="100", **aria(label=t("start.indexing", count=count))),
            html.P(_left(percent, seconds_left), className="muted start-left"),
            html.Ul([html.Li(job.name, className="user-text") for job in jobs[:NAMED]], className="plain-list"),
            html.P(t("start.indexing_more", count=more), className="muted start-left") if more > 0 else None,
            dcc.Link(t("start.all_jobs"), href=links.JOBS),
        ],
        className="card-plain start-indexing",
    )


def _left(percent: int, seconds_left: float | None) -> str:
    share = t("job.share", percent=percent)
    if seconds_left is None:
        return share
    return f"{share} · {time_left(seconds_left)}"
