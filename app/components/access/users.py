"""The people who can sign in: a list with their roles, and a form for one more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.access.keys import role_select
from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import t
from core.model import Role, User

NAME_CHARS = 64
PASSWORD_CHARS = 1024


def user_form(*, is_first: bool) -> html.Div:
    """The form for one more user; the first is an administrator."""
    role = [] if is_first else [_field(None, t("access.role"), _roles())]
    return html.Div(
        [
            _field("access-user-name", t("sign_in.name"), _name()),
            _field("access-user-password", t("sign_in.password"), new_password("access-user-password")),
            *role,
            html.Button(
                [icon("person-plus"), t("access.user_first" if is_first else "access.user_add")],
                id="access-user-add",
                type="button",
                className="btn btn-primary",
            ),
        ],
        className="access-form",
    )


def new_password(component_id: str) -> dbc.Input:
    """A field for a password that nobody has yet."""
    return dbc.Input(id=component_id, type="password", maxLength=PASSWORD_CHARS, autocomplete="new-password")


def user_list(users: Sequence[User], own_name: str) -> html.Div:
    """Everybody with their role and what can be done to them."""
    columns = ("user", "role", "made", "seen", "state")
    head = [html.Th(t(f"access.column_{name}")) for name in columns]
    head.append(html.Th(html.Span(t("access.column_actions"), className="visually-hidden")))
    rows = [_row(user, user.name == own_name) for user in users]
    table = html.Table([html.Thead(html.Tr(head)), html.Tbody(rows)], className="access-table")
    return html.Div(table, className="access-scroll")


def _row(user: User, is_own: bool) -> html.Tr:
    name: list[Any] = [html.Span(user.name, className="access-name")]
    if is_own:
        name.append(html.Span(t("access.you"), className="muted"))
    choice = role_select({"type": "access-user-role", "user": user.name}, list(Role), user.role)
    role = html.Label([html.Span(t("access.role_of", name=user.name), className="visually-hidden"), choice])
    state = badge("neutral", t("access.disabled")) if user.is_disabled else badge("ok", t("access.enabled"))
    actions = [
        _action("password", "access.new_password", user),
        _action(
            "enable" if user.is_disabled else "disable", "access.enable" if user.is_disabled else "access.disable", user
        ),
        *([_action("factor", "access.reset_factor", user)] if user.has_second_factor else []),
        _action("sessions", "access.sessions", user),
        _action("remove", "access.remove", user),
    ]
    cells: list[tuple[str, Any]] = [
        ("user", html.Div(name, className="access-named")),
        ("role", role),
        ("made", when(user.created_at)),
        ("seen", when(user.last_seen_at) if user.last_seen_at else t("access.unseen")),
        ("state", state),
    ]
    shown = [html.Td(cell, **dataset(column=t(f"access.column_{column}"))) for column, cell in cells]
    return html.Tr([*shown, html.Td(html.Div([] if is_own else actions, className="button-row access-actions"))])


def _action(name: str, key: str, user: User) -> html.Button:
    return html.Button(
        t(key),
        id={"type": "access-user-action", "user": user.name, "action": name},
        type="button",
        className="btn btn-quiet btn-sm",
        **aria(label=f"{t(key)}: {user.name}"),
    )


def _roles() -> dbc.Select:
    # One of a family, because the form of the first user has none.
    return role_select({"type": "access-new-role", "of": "new"}, list(Role), Role.READER)


def _name() -> dbc.Input:
    return dbc.Input(id="access-user-name", maxLength=NAME_CHARS, autocomplete="off")


def _field(component_id: str | None, label: str, control: Any) -> html.Div | html.Label:
    if component_id is None:
        return html.Label([html.Span(label, className="form-label"), control], className="access-field")
    return html.Div(
        [html.Label(label, htmlFor=component_id, className="form-label"), control], className="access-field"
    )
