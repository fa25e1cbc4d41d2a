"""Jobs: everything that runs in the background, with its stages, errors and remedies."""

from __future__ import annotations

from typing import Any

import dash
from dash import html

from app import links
from app.components.shared.job_list import FILTERS, job_filters, job_list
from app.components.shared.states import empty, link_button, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import principal
from app.i18n import t

dash.register_page(__name__, path=links.JOBS, title=tab_title("jobs.title"), script="jobs/page.js")


@shows_errors
def layout(state: str = "all", **_: Any) -> html.Div:
    """Return the page; the address says which jobs are listed."""
    nothing = empty(
        "list-task", t("jobs.empty.title"), t("jobs.empty.text"), link_button(t("nav.upload"), links.UPLOAD, "upload")
    )
    return named_page(
        "jobs",
        html.Div([job_filters(state if state in FILTERS else "all", principal().name), job_list("all", empty=nothing)]),
        action=link_button(t("nav.upload"), links.UPLOAD, "upload"),
    )
