"""The one question that is asked before anything is removed for good; it names what is lost."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app.components.document.version_forms import NOTE_CHARS
from app.components.shared.icon import icon
from app.i18n import t
from core.model import Document, Version


def purge_dialog() -> html.Div:
    """The closed dialog; ``purge_question`` fills it when it opens. It traps the keyboard, and Escape closes it."""
    dialog = dbc.Modal(
        html.Div(
            [
                html.Div(id="purge-question"),
                html.Label(t("purge.reason"), htmlFor="purge-reason", className="form-label"),
                dbc.Input(id="purge-reason", maxLength=NOTE_CHARS, autocomplete="off"),
                html.P(t("purge.reason_hint"), className="field-hint"),
                html.Div(id="purge-error", role="alert"),
                html.Div(
                    [
                        html.Button(t("purge.cancel"), id="purge-cancel", type="button", className="btn btn-secondary"),
                        html.Button(
                            [icon("trash"), t("purge.confirm")],
                            id="purge-confirm",
                            type="button",
                            className="btn btn-danger",
                        ),
                    ],
                    className="button-row dialog-buttons",
                ),
            ],
            className="dialog-body",
        ),
        id="purge-dialog",
        is_open=False,
        fade=False,
        centered=True,
        labelledby="purge-title",
    )
    return html.Div([dialog, dcc.Store(id="purge-what", data=None)])


def purge_question(document: Document, version: Version | None) -> list[Any]:
    """What is lost with ``version``, or with the whole document."""
    if version is None:
        title = t("purge.title_all", name=document.name)
        text = t("purge.text_all", count=document.version_count)
    else:
        title = t("purge.title", number=version.number)
        text = t("purge.text", number=version.number, name=version.file_name)
    return [
        html.H2(title, id="purge-title", className="dialog-title"),
        html.P(text),
        html.P(t("purge.forever"), className="muted"),
    ]
