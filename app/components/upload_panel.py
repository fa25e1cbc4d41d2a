"""The upload panel: a zone for files, a field for tags, and the place where ``assets/upload.js`` draws a row a file."""

from __future__ import annotations

from collections.abc import Sequence

import dash_bootstrap_components as dbc
from dash import html

from app import ids
from app.components.icon import icon
from app.i18n import size, t

EXTENSIONS = (
    "pdf", "docx", "doc", "xlsx", "xls", "pptx", "ppt", "html", "htm", "md", "markdown", "txt", "csv", "gdoc",
)  # fmt: skip


def upload_panel(extensions: Sequence[str], max_bytes: int) -> html.Div:
    """Return the panel for files with one of ``extensions`` of at most ``max_bytes`` each."""
    zone = html.Div(
        [
            icon("cloud-upload", "state-icon"),
            html.P(t("upload.zone"), className="state-title"),
            html.P(t("upload.kinds", size=size(max_bytes)), className="state-text"),
            html.Div(
                [
                    _pick("files", "plus-lg", t("upload.pick"), "btn btn-primary"),
                    _pick("folder", "folder2-open", t("upload.folder"), "btn btn-secondary"),
                ],
                className="state-action",
            ),
        ],
        className="state upload-zone",
        **{"data-upload-zone": "true"},
    )
    tags = html.Div(
        [
            html.Label(t("upload.tags"), htmlFor=ids.UPLOAD_TAGS, className="form-label"),
            dbc.Input(id=ids.UPLOAD_TAGS, type="text", maxlength=300, autocomplete="off"),
            html.P(t("upload.tags.hint"), className="field-hint"),
        ],
        className="upload-tags",
        **{"data-upload-tags": "true"},
    )
    return html.Div(
        [
            zone,
            html.Div([tags, html.P(t("upload.note"), className="field-hint")], className="upload-choice"),
            html.Div(**{"data-upload-rows": "true"}),
        ],
        className="upload-panel",
        **{
            "data-upload": "true",
            "data-accept": ",".join(f".{name}" for name in extensions),
            "data-max-bytes": str(max_bytes),
        },
    )


def _pick(what: str, symbol: str, label: str, class_name: str) -> html.Button:
    return html.Button([icon(symbol), label], type="button", className=class_name, **{"data-upload-pick": what})
