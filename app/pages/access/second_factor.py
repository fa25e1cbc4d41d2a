"""The part of Access that sets up and removes one's second factor."""

from __future__ import annotations

from typing import Any

import flask
from dash import Input, Output, State, callback, html, no_update
from dash.exceptions import PreventUpdate

from app.components.access.second_factor import factor_setup, factor_state, recovery_card
from app.components.shared.states import error_line, notify
from app.context import kb
from app.i18n import t
from app.security import cookie
from app.security.rates import counted
from core.errors import EvoRAGError


def second_factor_part() -> list[Any]:
    """What is shown of one's second factor; the callbacks below show it again."""
    state = factor_state(kb().accounts.second_factors.own())
    return [html.Div(state, id="factor-part", className="factor-part"), html.Div(id="factor-error", role="alert")]


@callback(
    Output("factor-part", "children"),
    Output("factor-error", "children"),
    Input("factor-begin", "n_clicks"),
    prevent_initial_call=True,
)
def begin(clicks: int | None) -> tuple[Any, Any]:
    """Show a new secret for an app; until a code of it was typed, nothing else is asked for at sign-in."""
    if not clicks:
        raise PreventUpdate
    try:
        return factor_setup(kb().accounts.second_factors.begin()), None
    except EvoRAGError as error:
        return no_update, error_line(error)


@callback(
    Output("factor-part", "children", allow_duplicate=True),
    Output("factor-error", "children", allow_duplicate=True),
    Output("factor-code", "value"),
    Input("factor-confirm", "n_clicks"),
    Input("factor-code", "n_submit"),
    State("factor-code", "value"),
    prevent_initial_call=True,
)
def confirm(clicks: int | None, sent: int | None, code: str | None) -> tuple[Any, Any, Any]:
    """Have codes asked for from now on, and show the recovery codes, this once."""
    if not (clicks or sent):
        raise PreventUpdate
    factors, token = kb().accounts.second_factors, cookie.token_of(flask.request) or ""
    try:
        codes = counted(lambda: factors.confirm(code or "", keep_token=token), t("factor.often"))
    except EvoRAGError as error:
        return no_update, error_line(error), ""
    notify("ok", t("factor.now_on"))
    return [recovery_card(codes), *factor_state(factors.own())], None, no_update


@callback(
    Output("factor-part", "children", allow_duplicate=True),
    Output("factor-error", "children", allow_duplicate=True),
    Output("factor-remove-code", "value"),
    Input("factor-remove", "n_clicks"),
    Input("factor-remove-code", "n_submit"),
    State("factor-remove-code", "value"),
    prevent_initial_call=True,
)
def remove(clicks: int | None, sent: int | None, code: str | None) -> tuple[Any, Any, Any]:
    """Ask for no code any more."""
    if not (clicks or sent):
        raise PreventUpdate
    factors = kb().accounts.second_factors
    try:
        counted(lambda: factors.remove(code or ""), t("factor.often"))
    except EvoRAGError as error:
        return no_update, error_line(error), ""
    notify("ok", t("factor.now_off"))
    return factor_state(factors.own()), None, no_update
