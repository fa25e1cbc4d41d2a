"""Access: the keys of one's programs, one's password, and for administrators everybody who can sign in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import dash_bootstrap_components as dbc
import flask
from dash import ALL, Input, Output, State, callback, ctx, dcc, html, no_update, register_page, set_props
from dash.exceptions import PreventUpdate

from app import links
from app.components.access.dialog import access_dialog, access_question
from app.components.access.keys import LIFETIMES, key_form, key_list, secret_card
from app.components.access.users import PASSWORD_CHARS, new_password, user_form, user_list
from app.components.shared.icon import icon
from app.components.shared.states import error_line, link_button, notify, report_callback_error, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb, principal
from app.i18n import number, t
from app.pages.access.second_factor import second_factor_part
from app.pages.access.sessions import rule_part, sessions_part
from app.security import cookie
from app.security.rates import counted
from core.errors import EvoRAGError, InvalidInput
from core.model import ApiKey, Role

register_page(__name__, path=links.ACCESS, title=tab_title("access.title"))

BUSY = "btn btn-primary is-working"
READY = "btn btn-primary"


@shows_errors
def layout(**_: Any) -> html.Div:
    """What the person who asks may see and change."""
    accounts, who = kb().accounts, principal()
    if not accounts.has_users():
        return named_page("access", [_first_user(), html.Div(access_dialog(), hidden=True)])
    parts: list[Any] = []
    if who.user_id is None:
        sign_in = link_button(t("sign_in.button"), links.sign_in(links.ACCESS), "box-arrow-right")
        parts.append(_section("shield-lock", "open", [html.P(t("access.open_text"), className="hint"), sign_in]))
    form = [key_form(who.role)] if who.user_id is not None else []
    keys = [*form, html.Div(id="access-key-error"), html.Div(id="access-secret"), _keys_part()]
    parts.append(_section("key", "keys_all" if who.role is Role.ADMIN else "keys", keys))
    if who.role is Role.ADMIN:
        users = [user_form(is_first=False), html.Div(id="access-user-error"), html.Div(_users(), id="access-users")]
        parts.append(_section("person-circle", "users", users))
        parts.append(_section("shield-lock", "demand", rule_part()))
    if who.user_id is not None:
        parts.append(_section("shield-lock", "password", [_password_form(), html.Div(id="access-password-error")]))
        parts.append(_section("shield-lock", "factor", second_factor_part()))
        parts.append(_section("person-circle", "own_sessions", sessions_part()))
        parts.append(_section("person-circle", "data", [html.Div(_own_data(), id="access-data"), *_data_buttons()]))
    return named_page("access", [*parts, access_dialog()])


def _section(symbol: str, name: str, children: list[Any]) -> html.Section:
    title = html.H2([icon(symbol), t(f"access.{name}_title")], className="section-title access-title")
    purpose = html.P(t(f"access.{name}_purpose"), className="hint access-purpose") if name != "open" else None
    return html.Section([title, purpose, *children], className="card-plain access-card")


def _first_user() -> html.Section:
    """What is shown while nobody can sign in."""
    form = [user_form(is_first=True), html.P(t("access.password_hint"), className="field-hint")]
    return _section("shield-lock", "first", [*form, html.Div(id="access-user-error"), html.Div(id="access-users")])


def _password_form() -> html.Div:
    present = dbc.Input(
        id="access-password-present", type="password", maxLength=PASSWORD_CHARS, autocomplete="current-password"
    )
    fields = (
        ("access-password-present", t("access.present_password"), present),
        ("access-password-new", t("access.new_password"), new_password("access-password-new")),
    )
    shown = [
        html.Div([html.Label(label, htmlFor=name, className="form-label"), control], className="access-field")
        for name, label, control in fields
    ]
    button = html.Button(
        t("access.password_change"), id="access-password-change", type="button", className="btn btn-secondary"
    )
    return html.Div([*shown, button], className="access-form")


def _own_data() -> html.P:
    """What is kept of the person who asks, in numbers."""
    kept = kb().accounts.own_data.counts()
    counted = {each: number(getattr(kept, each)) for each in ("questions", "conversations", "jobs", "documents")}
    return html.P(t("access.data_counts", **counted))


def _data_buttons() -> list[Any]:
    export = html.A(
        [icon("download"), t("access.data_export")], href=links.OWN_DATA, className="btn btn-secondary", download=""
    )
    remove = dcc.ConfirmDialogProvider(
        html.Button(t("access.data_delete"), type="button", className="btn btn-danger"),
        id="access-data-delete",
        message=t("access.data_confirm"),
    )
    return [html.Div([export, remove], className="button-row"), html.Div(id="access-data-error")]


@callback(
    Output("access-data", "children"),
    Output("access-data-error", "children"),
    Input("access-data-delete", "submit_n_clicks"),
    prevent_initial_call=True,
)
def delete_own_data(clicks: int | None) -> tuple[Any, Any]:
    """Delete one's questions, conversations and ended jobs, once that was confirmed."""
    if not clicks:
        raise PreventUpdate
    try:
        kb().accounts.require_recent_password()
        kb().accounts.own_data.delete()
    except EvoRAGError as error:
        return no_update, error_line(error)
    notify("ok", t("access.data_deleted"))
    return _own_data(), None


def _keys_part() -> html.Div:
    return html.Div(_keys(), id="access-keys")


def _visible_keys() -> list[ApiKey]:
    return kb().accounts.keys()


def _keys() -> html.Div:
    keys = sorted(_visible_keys(), key=lambda key: (key.is_revoked, -key.created_at.timestamp()))
    return key_list(keys, of_everybody=principal().role is Role.ADMIN)


def _users() -> html.Div:
    return user_list(sorted(kb().accounts.users(), key=lambda user: user.name), principal().name)


@callback(
    Output("access-secret", "children"),
    Output("access-keys", "children"),
    Output("access-key-name", "value"),
    Output("access-key-error", "children"),
    Input("access-key-create", "n_clicks"),
    State("access-key-name", "value"),
    State("access-key-role", "value"),
    State("access-key-days", "value"),
    prevent_initial_call=True,
    running=[(Output("access-key-create", "className"), BUSY, READY)],
)
def create_key(clicks: int | None, name: str | None, role: str, days: str) -> tuple[Any, ...]:
    """Make a key and show its secret, this once."""
    if not clicks:
        raise PreventUpdate
    try:
        if not (name or "").strip():
            raise InvalidInput(t("access.key_without_name"), remedy=t("access.key_without_name_remedy"))
        lifetime = int(days) if days in {str(given) for given in LIFETIMES} else LIFETIMES[0]
        expires = datetime.now(UTC) + timedelta(days=lifetime) if lifetime else None
        key, secret = kb().accounts.create_key((name or "").strip(), role, expires)
    except EvoRAGError as error:
        return no_update, no_update, no_update, error_line(error)
    return secret_card(key, secret), _keys(), "", None


@callback(
    Output("access-users", "children"),
    Output("access-user-name", "value"),
    Output("access-user-password", "value"),
    Output("access-user-error", "children"),
    Input("access-user-add", "n_clicks"),
    State("access-user-name", "value"),
    State("access-user-password", "value"),
    State({"type": "access-new-role", "of": ALL}, "value"),
    prevent_initial_call=True,
    running=[(Output("access-user-add", "className"), BUSY, READY)],
)
def add_user(clicks: int | None, name: str | None, password: str | None, roles: list[str]) -> tuple[Any, ...]:
    """Add somebody; the first user closes an open server, and signs in."""
    if not clicks:
        raise PreventUpdate
    is_first = not kb().accounts.has_users()
    try:
        user = kb().accounts.create_user(name or "", password or "", Role.ADMIN if is_first else roles[0])
    except EvoRAGError as error:
        return no_update, no_update, no_update, error_line(error)
    if is_first:
        return dcc.Location(id="access-go", href=links.sign_in(links.ACCESS), refresh=True), "", "", None
    notify("ok", t("access.user_added", name=user.name))
    return _users(), "", "", None


@callback(Input({"type": "access-user-role", "user": ALL}, "value"), prevent_initial_call=True)
def change_role(_: list[str]) -> None:
    """Give somebody the role that was chosen for them."""
    chosen = ctx.triggered_id
    if not isinstance(chosen, dict):
        raise PreventUpdate
    name, role = str(chosen["user"]), ctx.triggered[0]["value"]
    if any(user.name == name and user.role.value == role for user in kb().accounts.users()):
        raise PreventUpdate
    try:
        kb().accounts.set_role(name, role)
        notify("ok", t("access.role_changed", name=name, role=t(f"access.role_{role}")))
    except EvoRAGError as error:
        report_callback_error(error)
    set_props("access-users", {"children": _users()})


@callback(
    Input({"type": "access-user-action", "user": ALL, "action": ALL}, "n_clicks"),
    Input({"type": "access-key-revoke", "key": ALL}, "n_clicks"),
    prevent_initial_call=True,
)
def act(_users_clicks: list[int | None], _keys_clicks: list[int | None]) -> None:
    """Do at once what can be undone, and ask about the rest."""
    chosen = ctx.triggered_id
    if not isinstance(chosen, dict) or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    if chosen["type"] == "access-key-revoke":
        found = next((key for key in _visible_keys() if key.id == chosen["key"]), None)
        if found is not None:
            _ask("revoke", found.name, found.id)
        return
    name, action = str(chosen["user"]), str(chosen["action"])
    if action in ("disable", "enable"):
        kb().accounts.disable(name, action == "disable")
        set_props("access-users", {"children": _users()})
        notify("ok", t(f"access.was_{action}d", name=name))
    elif action in ("remove", "password", "factor", "sessions"):
        _ask(action, name, name)


def _ask(question: str, name: str, about: str) -> None:
    set_props("access-asked", {"data": {"question": question, "about": about, "name": name}})
    set_props("access-question", {"children": access_question(question, name)})
    set_props("access-dialog-field", {"hidden": question != "password"})
    set_props("access-dialog-password", {"value": ""})
    set_props("access-dialog-error", {"children": None})
    look = READY if question == "password" else "btn btn-danger"
    set_props("access-dialog-confirm", {"children": t(f"access.confirm_{question}"), "className": look})
    set_props("access-dialog", {"is_open": True})


@callback(
    Output("access-dialog", "is_open"),
    Output("access-dialog-error", "children"),
    Input("access-dialog-confirm", "n_clicks"),
    Input("access-dialog-cancel", "n_clicks"),
    State("access-asked", "data"),
    State("access-dialog-password", "value"),
    prevent_initial_call=True,
)
def answer(_confirm: int | None, _cancel: int | None, asked: dict[str, str], password: str | None) -> tuple[Any, ...]:
    """Do what was asked about, or leave it."""
    if ctx.triggered_id != "access-dialog-confirm" or not asked:
        return False, None
    accounts, question, about = kb().accounts, asked["question"], asked["about"]
    try:
        if question == "revoke":
            accounts.revoke(about)
            set_props("access-secret", {"children": None})
        elif question == "remove":
            accounts.remove(about)
        elif question == "factor":
            accounts.second_factors.reset(about)
        elif question == "sessions":
            accounts.sessions.end_all(about)
        else:
            accounts.set_password(about, password or "")
    except EvoRAGError as error:
        return no_update, error_line(error)
    if question != "password":
        set_props("access-keys", {"children": _keys()})
    if question != "revoke":
        set_props("access-users", {"children": _users()})
    notify("ok", t(f"access.done_{question}", name=asked["name"]))
    return False, None


@callback(
    Output("access-password-present", "value"),
    Output("access-password-new", "value"),
    Output("access-password-error", "children"),
    Input("access-password-change", "n_clicks"),
    State("access-password-present", "value"),
    State("access-password-new", "value"),
    prevent_initial_call=True,
    running=[(Output("access-password-change", "className"), "btn btn-secondary is-working", "btn btn-secondary")],
)
def change_password(clicks: int | None, present: str | None, new: str | None) -> tuple[Any, ...]:
    """Set another password of one's own; the session of this browser goes on."""
    if not clicks:
        raise PreventUpdate
    token = cookie.token_of(flask.request) or ""
    try:
        change = partial(kb().accounts.set_password, principal().name, new or "", present=present or "")
        counted(lambda: change(keep_token=token), t("factor.often"))
    except EvoRAGError as error:
        return no_update, no_update, error_line(error)
    notify("ok", t("access.password_changed"))
    return "", "", None
