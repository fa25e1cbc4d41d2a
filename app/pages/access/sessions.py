"""The parts of Access that end sessions, and that demand a second factor of everybody."""

from __future__ import annotations

from typing import Any

import flask
from dash import ALL, Input, Output, State, callback, ctx, html, no_update
from dash.exceptions import PreventUpdate

from app.components.access.sessions import factor_rule, session_list
from app.components.shared.states import error_line, notify
from app.context import kb
from app.i18n import t
from app.security import cookie
from core.errors import EvoRAGError


def sessions_part() -> list[Any]:
    """What is shown of one's sessions; the callbacks below show it again."""
    return [html.Div(_sessions(), id="access-sessions"), html.Div(id="access-sessions-error", role="alert")]


def rule_part() -> list[Any]:
    """What is shown to administrators of whether everybody needs a second factor."""
    return [html.Div(_rule(), id="access-rule"), html.Div(id="access-rule-error", role="alert")]


def _token() -> str:
    return cookie.token_of(flask.request) or ""


def _sessions() -> list[Any]:
    return session_list(kb().accounts.sessions.all(token=_token()))


def _rule() -> list[Any]:
    accounts = kb().accounts
    without = sum(not (user.has_second_factor or user.is_disabled) for user in accounts.users())
    return factor_rule(accounts.second_factors.rule(), without)


@callback(
    Output("access-sessions", "children"),
    Output("access-sessions-error", "children"),
    Input({"type": "access-session-end", "session": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def end(_: list[int | None]) -> tuple[Any, Any]:
    """End one session of one's own."""
    chosen = ctx.triggered_id
    if not isinstance(chosen, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    try:
        kb().accounts.sessions.end(str(chosen["session"]))
    except EvoRAGError as error:
        return no_update, error_line(error)
    notify("ok", t("sessions.ended"))
    return _sessions(), None


@callback(
    Output("access-sessions", "children", allow_duplicate=True),
    Output("access-sessions-error", "children", allow_duplicate=True),
    Input("access-sessions-end", "n_clicks"),
    prevent_initial_call=True,
)
def end_others(clicks: int | None) -> tuple[Any, Any]:
    """End all other sessions of one's own."""
    if not clicks:
        raise PreventUpdate
    try:
        ended = kb().accounts.sessions.end_all(keep_token=_token())
    except EvoRAGError as error:
        return no_update, error_line(error)
    notify("ok", t("sessions.ended_others", count=ended))
    return _sessions(), None


@callback(
    Output("access-rule", "children"),
    Output("access-rule-error", "children"),
    Input("access-demand", "n_clicks"),
    State("access-demand", "value"),
    prevent_initial_call=True,
)
def demand(clicks: int | None, wanted: str) -> tuple[Any, Any]:
    """Demand a second factor of everybody, or of nobody."""
    if not clicks:
        raise PreventUpdate
    try:
        rule = kb().accounts.second_factors.demand(wanted == str(True))
    except EvoRAGError as error:
        return no_update, error_line(error)
    notify("ok", t("demand.now_on" if rule.is_demanded else "demand.now_off"))
    return _rule(), None
