"""The upload panel: a zone for files, what is said about them, and the place where the browser draws a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import dash_bootstrap_components as dbc
from dash import get_asset_url, html

from app.components.attributes import aria, dataset
from app.components.document.version_forms import LABEL_CHARS, NOTE_CHARS, moment_input
from app.components.shared import ids
from app.components.shared.icon import icon
from app.i18n import size, t
from core.model.file_types import ARCHIVES, KINDS

PICKED_ENDINGS = ("gz", "bz2", "xz")
"""What the browser's file dialog takes for the double endings of archives."""


def upload_panel(extensions: Sequence[str], max_bytes: int, part_bytes: int, *, private: bool) -> html.Div:
    """Return the panel for archives and files with one of ``extensions``, each of at most ``max_bytes``.

    They are sent in parts of ``part_bytes``; ``private`` offers to keep them to oneself.
    """
    zone = html.Div(
        [
            icon("cloud-upload", "state-icon"),
            html.P(t("upload.zone"), className="state-title"),
            html.P(t("upload.kinds", size=_most(max_bytes)), className="state-text"),
            html.Div(
                [
                    _pick("files", "plus-lg", t("upload.pick"), "btn btn-primary"),
                    _pick("folder", "folder2-open", t("upload.folder"), "btn btn-secondary"),
                ],
                className="state-action",
            ),
        ],
        className="state upload-zone",
        **dataset(upload_zone=True),
    )
    choices = [*_words(), _publishing(), *([_private()] if private else [])]
    return html.Div(
        [
            zone,
            _all_kinds(),
            html.Details(
                [html.Summary(t("upload.options")), html.Div(choices, className="upload-choice")],
                className="upload-options",
            ),
            html.P(t("upload.note"), className="field-hint upload-hint"),
            html.Div(**dataset(upload_rows=True)),
        ],
        className="upload-panel",
        **dataset(
            upload=True,
            accept=_endings(extensions),
            archives=_endings(ARCHIVES),
            picked=_endings([*extensions, *ARCHIVES, *PICKED_ENDINGS]),
            max_bytes=str(max_bytes),
            part_bytes=str(part_bytes),
            tus=get_asset_url("vendor/tus/tus.min.js"),
        ),
    )


def _most(max_bytes: int) -> str:
    """A limit as people write it: a whole number where it is one."""
    return size(max_bytes).replace(".0 ", " ")


def _all_kinds() -> html.Details:
    """Every type that is read, by kind."""
    rows = [
        [html.Dt(t(f"file_kind.{kind}")), html.Dd(" ".join(extensions), lang="zxx")]
        for kind, extensions in {**KINDS, "archive": ARCHIVES}.items()
    ]
    return html.Details(
        [html.Summary(t("upload.all_kinds")), html.Dl([part for row in rows for part in row], className="file-kinds")],
        className="upload-kinds",
    )


def _endings(extensions: Iterable[str]) -> str:
    return ",".join(f".{name}" for name in extensions)


def _words() -> list[html.Div]:
    """What is said about the files: tags of their documents, note and label of their versions."""
    return [
        _field("tags", ids.UPLOAD_TAGS, t("upload.tags"), 300, t("upload.tags.hint")),
        _field("label", "upload-label", t("upload.label"), LABEL_CHARS, t("upload.label.hint")),
        _field("note", "upload-note", t("upload.version_note"), NOTE_CHARS, t("upload.version_note.hint")),
    ]


def _field(name: str, component_id: str, label: str, limit_chars: int, hint: str) -> html.Div:
    return html.Div(
        [
            html.Label(label, htmlFor=component_id, className="form-label"),
            dbc.Input(id=component_id, type="text", maxlength=limit_chars, autocomplete="off"),
            html.P(hint, className="field-hint"),
        ],
        className="upload-field",
        **dataset(**{f"upload_{name}": True}),
    )


def _publishing() -> html.Div:
    """When questions see the files: by their words, once they are indexed, when someone says so, or at a set time."""
    named = ("now", "early", "whole", "draft", "at")
    choices = [{"value": choice, "label": t(f"upload.publish.{choice}")} for choice in named]
    return html.Div(
        [
            html.Div(t("upload.publish"), id="upload-publish-label", className="form-label"),
            html.Div(
                dbc.RadioItems(id="upload-publish", options=choices, value="now", input_class_name="choice"),
                role="radiogroup",
                **aria(labelledby="upload-publish-label"),
            ),
            html.Div(
                [
                    html.Label(t("version.moment"), htmlFor="upload-moment", className="visually-hidden"),
                    moment_input("upload-moment"),
                ],
                className="upload-moment",
            ),
        ],
        className="upload-field upload-publish",
        **dataset(upload_publish=True),
    )


def _private() -> html.Div:
    """Whether other people see the documents."""
    return html.Div(
        [
            dbc.Checkbox(id="upload-private", value=False, label=t("upload.private"), input_class_name="choice"),
            html.P(t("upload.private.hint"), className="field-hint"),
        ],
        className="upload-field upload-publish",
        **dataset(upload_private=True),
    )


def _pick(what: str, symbol: str, label: str, class_name: str) -> html.Button:
    return html.Button([icon(symbol), label], type="button", className=class_name, **dataset(upload_pick=what))
