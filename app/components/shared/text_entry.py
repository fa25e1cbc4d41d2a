"""The form for a text entry: its name, its text, and how many characters are left."""

from __future__ import annotations

import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria, dataset
from app.components.document.version_forms import NOTE_CHARS
from app.i18n import t


def text_entry(name: str, text: str, limit_chars: int, *, is_open: bool, is_new: bool) -> html.Section:
    """The form, hidden unless ``is_open``; the name of an existing entry cannot be changed, for it is its key."""
    title = html.H2(t("documents.new_entry" if is_new else "documents.edit_entry"), id="documents-entry-title")
    counter = html.Span(id="documents-entry-counter", className="counter", **dataset(limit=limit_chars))
    return html.Section(
        [
            title,
            html.Label(t("documents.entry_name"), htmlFor="documents-entry-name", className="form-label"),
            dbc.Input(
                id="documents-entry-name",
                value=name,
                disabled=not is_new,
                maxLength=200,
                placeholder=t("documents.entry_name_example"),
            ),
            html.Div(
                [
                    html.Label(t("documents.entry_text"), htmlFor="documents-entry-text", className="form-label"),
                    counter,
                ],
                className="label-row",
            ),
            dbc.Textarea(id="documents-entry-text", value=text, rows=10, className="entry-text"),
            html.Label(t("documents.entry_note"), htmlFor="documents-entry-note", className="form-label"),
            dbc.Input(
                id="documents-entry-note",
                maxLength=NOTE_CHARS,
                autocomplete="off",
                placeholder=t("documents.entry_note_example"),
            ),
            html.Div(id="documents-entry-error", role="alert"),
            html.Div(
                [
                    html.Button(
                        t("documents.save"), id="documents-entry-save", type="button", className="btn btn-primary"
                    ),
                    html.Button(
                        t("documents.save_draft"),
                        id="documents-entry-draft",
                        type="button",
                        className="btn btn-secondary",
                        title=t("documents.draft_explain"),
                    ),
                    html.Button(
                        t("documents.cancel"), id="documents-entry-cancel", type="button", className="btn btn-secondary"
                    ),
                    html.Span(t("documents.entry_hint"), className="hint"),
                ],
                className="button-row",
            ),
        ],
        id="documents-entry",
        className="panel entry",
        hidden=not is_open,
        **aria(labelledby="documents-entry-title"),
    )
