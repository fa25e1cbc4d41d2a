"""The one dialog of the page Access: it asks before a key or a user goes, and for the new password of somebody."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.access.users import new_password
from app.i18n import t

QUESTIONS = ("revoke", "remove", "password", "factor", "sessions")


def access_dialog() -> html.Div:
    """The closed dialog; ``access_question`` fills it when it opens. It traps the keyboard, and Escape closes it."""
    dialog = dbc.Modal(
        html.Div(
            [
                html.Div(id="access-question"),
                html.Div(
                    [
                        html.Label(t("access.new_password"), htmlFor="access-dialog-password", className="form-label"),
                        new_password("access-dialog-password"),
                        html.P(t("access.password_hint"), className="field-hint"),
                    ],
                    id="access-dialog-field",
                    hidden=True,
                ),
                html.Div(id="access-dialog-error", role="alert"),
                html.Div(
                    [
                        html.Button(
                            t("access.cancel"), id="access-dialog-cancel", type="button", className="btn btn-secondary"
                        ),
                        html.Button("", id="access-dialog-confirm", type="button", className="btn btn-danger"),
                    ],
                    className="button-row dialog-buttons",
                ),
            ],
            className="dialog-body",
        ),
        id="access-dialog",
        is_open=False,
        fade=False,
        centered=True,
        labelledby="access-dialog-title",
    )
    return html.Div([dialog, dcc.Store(id="access-asked", data={})])


def access_question(question: str, name: str) -> list[Any]:
    """What is asked about a key or a user called ``name``."""
    return [
        html.H2(t(f"access.ask_{question}", name=name), id="access-dialog-title", className="dialog-title"),
        html.P(t(f"access.ask_{question}_text")),
    ]
