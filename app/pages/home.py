"""Home: what the knowledge base holds, how it is doing, what runs, and what was asked last."""

from __future__ import annotations

from typing import Any

import dash
from dash import Input, Output, State, callback, dcc, html, no_update, set_props

from app import links
from app.components.document.overview import ask_box, counts_strip, questions_card, stores_card
from app.components.shared import ids
from app.components.shared.icon import icon
from app.components.shared.job_list import job_list
from app.components.shared.states import empty, link_button, notify, one_text, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb, principal
from app.i18n import t
from core.model import Role

REFRESH_MS = 3_000
LAST_QUESTIONS = 5

dash.register_page(__name__, path=links.HOME, title=tab_title("home.title"))


@shows_errors
def layout(**_: Any) -> html.Div:
    """Return Home as it is now; the parts under the box refresh themselves."""
    running = html.Section(
        [
            html.Div(
                [html.H2(t("home.running"), className="section-title"), dcc.Link(t("home.all_jobs"), href=links.JOBS)],
                className="section-head",
            ),
            job_list("active", limit=3),
        ],
        className="card-plain running",
    )
    is_empty = _is_empty()
    return named_page(
        "home",
        [
            dcc.Interval(id=ids.HOME_TICK, interval=REFRESH_MS),
            dcc.Store(id=ids.HOME_EMPTY, data=is_empty),
            html.Div(_first(is_empty), id=ids.HOME_FIRST),
            running,
            html.Div(_state(is_empty), id=ids.HOME_STATE, className="home-state"),
        ],
        action=link_button(t("home.upload"), links.UPLOAD, "upload"),
    )


@callback(
    Output(ids.HOME_STATE, "children"),
    Output(ids.HOME_FIRST, "children"),
    Output(ids.HOME_EMPTY, "data"),
    Input(ids.HOME_TICK, "n_intervals"),
    State(ids.HOME_EMPTY, "data"),
    prevent_initial_call=True,
)
def refresh(_ticks: int, was_empty: bool) -> tuple[Any, Any, Any]:
    """Show the present state; the question field is left alone unless the first document came or the last one went."""
    is_empty = _is_empty()
    if is_empty == was_empty:
        return _state(is_empty), no_update, no_update
    return _state(is_empty), _first(is_empty), is_empty


@callback(
    Output(ids.HOME_LOAD_SAMPLE, "disabled"),
    Input(ids.HOME_LOAD_SAMPLE, "n_clicks"),
    prevent_initial_call=True,
    running=[(Output(ids.HOME_LOAD_SAMPLE, "disabled"), True, True)],
)
def load_sample(clicks: int | None) -> bool:
    """Add the sample documents and say that they are being indexed."""
    if not clicks:
        return False
    receipts = kb().load_sample()
    set_props(ids.HOME_TICK, {"n_intervals": -clicks})
    left_out = kb().sample_left_out()
    said = t("home.sample.started", count=len(receipts))
    if left_out:
        said = one_text(said, t("home.sample.left_out", names=", ".join(each.name for each in left_out)))
    notify("warning" if left_out else "ok", said)
    return True


def _is_empty() -> bool:
    counts = kb().counts()
    return counts.documents == 0 and counts.running_jobs == 0


def _first(is_empty: bool) -> Any:
    if not is_empty:
        return ask_box()
    action = [
        html.Button(
            [icon("collection"), t("home.empty.sample")],
            id=ids.HOME_LOAD_SAMPLE,
            type="button",
            className="btn btn-primary for-editors",
        ),
        link_button(t("home.empty.upload"), links.UPLOAD, "upload"),
    ]
    return empty("inbox", t("home.empty.title"), t("home.empty.text"), action)


def _state(is_empty: bool) -> list[Any]:
    stores = stores_card(kb().health(), may_check=principal().role.includes(Role.ADMIN))
    if is_empty:
        return [stores]
    cards = html.Div([questions_card(kb().history(LAST_QUESTIONS)), stores], className="home-cards")
    return [counts_strip(kb().counts()), cards]
