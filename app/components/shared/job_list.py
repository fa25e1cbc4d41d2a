"""The place where ``assets/modules/jobs/page.js`` draws a row for each job, and keeps it current."""

from __future__ import annotations

from typing import Any

from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.states import loading
from app.i18n import t

FILTERS = ("all", "active", "failed", "done", "cancelled")
KINDS = ("ingest", "unpack", "reindex", "repair")


def job_list(which: str, *, limit: int = 100, empty: Any = None) -> html.Div:
    """Return a list of the ``active`` or of ``all`` jobs; ``empty`` is shown while there is none."""
    return html.Div(
        [
            html.Div(loading(lines=5), **dataset(job_loading=True)) if which == "all" else None,
            html.Div(empty, hidden=True, **dataset(job_empty=True)) if empty is not None else None,
        ],
        className="job-board",
        **dataset(job_list=which, job_limit=str(limit)),
    )


def job_filters(chosen: str, me: str) -> html.Div:
    """Return what chooses the jobs that are listed; ``me`` is who looks, empty where nobody has signed in.

    ``assets/modules/jobs/page.js`` adds the fields, because it alone reads them.
    """
    buttons = [
        html.Button(
            t(f"jobs.{name}"),
            type="button",
            **aria(pressed=name == chosen),
            **dataset(job_filter=name),
        )
        for name in FILTERS
    ]
    states = html.Div(buttons, className="switch switch-words", role="group", **aria(label=t("jobs.filter")))
    more = html.Div(className="job-choices", **dataset(job_choices=",".join(KINDS), job_me=me))
    return html.Div([states, more], className="job-filters")
