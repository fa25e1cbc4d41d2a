"""The forms that open inside a version of the timeline: its note and label, or the moment when it is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria, dataset
from app.i18n import t
from core.model import Version

LABEL_CHARS = 200
NOTE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Form:
    """Which form is open: ``note`` or ``schedule``, of which version."""

    name: str
    number: int


def version_form(version: Version, form: Form) -> html.Div:
    """The open form; the browser puts the keyboard into its first field (``data-opened``)."""
    fields = _note(version) if form.name == "note" else _schedule()
    return html.Div(
        fields,
        className="version-form",
        role="group",
        **aria(label=t(f"version.form.{form.name}", number=version.number)),
        **dataset(opened=f"{form.name}"),
    )


def _note(version: Version) -> list[Any]:
    return [
        html.Label(t("version.label"), htmlFor="version-label", className="form-label"),
        dbc.Input(id="version-label", value=version.label, maxLength=LABEL_CHARS, size="sm", autocomplete="off"),
        html.Label(t("version.note"), htmlFor="version-note", className="form-label"),
        dbc.Textarea(id="version-note", value=version.note, maxLength=NOTE_CHARS, rows=3, size="sm"),
        _buttons("version-keep", t("version.keep")),
    ]


def _schedule() -> list[Any]:
    return [
        html.Label(t("version.moment"), htmlFor="version-moment", className="form-label"),
        moment_input("version-moment"),
        _buttons("version-schedule", t("version.schedule")),
    ]


def moment_input(component_id: str) -> html.Div:
    """A date and a time in the zone of the browser, which writes the zone's name under the field."""
    return html.Div(
        [
            dbc.Input(id=component_id, type="datetime-local", size="sm", className="moment-input"),
            html.P(t("version.zone"), className="field-hint", **dataset(zone=True)),
        ]
    )


def _buttons(component_id: str, words: str) -> html.Div:
    return html.Div(
        [
            html.Button(words, id=component_id, type="button", className="btn btn-primary btn-sm"),
            html.Button(t("version.close"), id="version-close", type="button", className="btn btn-secondary btn-sm"),
        ],
        className="button-row",
    )
