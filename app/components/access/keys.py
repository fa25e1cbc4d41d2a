"""The keys of programs: a list, a form for a new one, and its secret, which is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria, dataset
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import on_day, when
from app.i18n import t
from core.model import ApiKey, Role

NAME_CHARS = 200
LIFETIMES = (30, 90, 365, 0)
"""Days that a key may work; 0 is for ever."""
USUAL_LIFETIME = 90


def key_form(most: Role) -> html.Div:
    """The form for a new key; nobody gives one a role beyond their own."""
    roles = [role for role in Role if most.includes(role)]
    return html.Div(
        [
            _field("access-key-name", t("access.key_name"), dbc.Input(id="access-key-name", maxLength=NAME_CHARS)),
            _field("access-key-role", t("access.role"), role_select("access-key-role", roles, Role.READER)),
            _field(
                "access-key-days",
                t("access.expires"),
                dbc.Select(
                    id="access-key-days",
                    options=[{"value": str(days), "label": _lifetime(days)} for days in LIFETIMES],
                    value=str(USUAL_LIFETIME),
                ),
            ),
            html.Button(
                [icon("plus-lg"), t("access.key_create")],
                id="access-key-create",
                type="button",
                className="btn btn-primary",
            ),
        ],
        className="access-form",
    )


def secret_card(key: ApiKey, secret: str) -> html.Div:
    """What is shown of a key only at the moment when it is made."""
    return html.Div(
        [
            html.P([html.Strong(t("access.secret_title", name=key.name)), " ", t("access.secret_text")]),
            html.Div(
                [
                    html.Code(secret, id="access-secret-text", className="access-secret"),
                    html.Button(
                        [icon("copy"), html.Span(t("access.copy"))],
                        type="button",
                        className="btn btn-secondary btn-sm",
                        **dataset(copy="access-secret-text", copied=t("access.copied")),
                    ),
                ],
                className="button-row",
            ),
        ],
        className="access-secret-card",
        role="status",
    )


def key_list(keys: Sequence[ApiKey], *, of_everybody: bool) -> html.Div:
    """Every key with what it may do, until when, and whether it was used."""
    if not keys:
        return html.Div(html.P(t("access.no_keys"), className="muted access-none"))
    columns = ["name", *(["user"] if of_everybody else []), "role", "made", "used", "expires", ""]
    head = html.Thead(
        html.Tr([html.Th(t(f"access.column_{name}") if name else _hidden("actions")) for name in columns])
    )
    rows = [_row(key, of_everybody) for key in keys]
    return html.Div(html.Table([head, html.Tbody(rows)], className="access-table"), className="access-scroll")


def role_select(component_id: Any, roles: Sequence[Role], chosen: Role) -> dbc.Select:
    """A choice among roles."""
    options = [{"value": role.value, "label": t(f"access.role_{role}")} for role in roles]
    return dbc.Select(id=component_id, options=options, value=chosen.value)


def _row(key: ApiKey, of_everybody: bool) -> html.Tr:
    now = datetime.now(UTC)
    has_expired = key.expires_at is not None and key.expires_at <= now
    is_over = key.is_revoked or has_expired
    name = [html.Span(key.name, className="user-text access-name"), html.Code(f"{key.prefix}…", className="muted")]
    cells: list[tuple[str, Any]] = [("name", html.Div(name, className="access-named"))]
    if of_everybody:
        cells.append(("user", key.user))
    if key.is_revoked:
        end: Any = badge("neutral", t("access.revoked"))
    elif has_expired:
        end = badge("neutral", t("access.expired"))
    else:
        end = on_day(key.expires_at) if key.expires_at else t("access.never")
    revoke = html.Button(
        t("access.revoke"),
        id={"type": "access-key-revoke", "key": key.id},
        type="button",
        className="btn btn-quiet btn-sm",
        **aria(label=t("access.revoke_named", name=key.name)),
    )
    cells += [
        ("role", t(f"access.role_{key.role}")),
        ("made", when(key.created_at)),
        ("used", when(key.last_used_at) if key.last_used_at else t("access.unused")),
        ("expires", end),
        ("", "" if is_over else revoke),
    ]
    return html.Tr(
        [html.Td(cell, **_named(column)) for column, cell in cells], className="access-over" if is_over else None
    )


def _named(column: str) -> dict[str, Any]:
    """What a narrow window writes before a cell whose column has no head there."""
    return dataset(column=t(f"access.column_{column}")) if column else {}


def _hidden(column: str) -> html.Span:
    return html.Span(t(f"access.column_{column}"), className="visually-hidden")


def _field(component_id: str, label: str, control: Any) -> html.Div:
    return html.Div(
        [html.Label(label, htmlFor=component_id, className="form-label"), control], className="access-field"
    )


def _lifetime(days: int) -> str:
    return t("access.days", count=days) if days else t("access.never")
