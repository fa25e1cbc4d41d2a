"""What a check has found of the files: originals that are missing or damaged, and files that nothing names."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import dataset
from app.components.shared.error_sentences import as_said
from app.components.shared.filter_words import dropdown_words
from app.components.shared.states import badge
from app.i18n import size, t
from core.model import FilesCheck


def files_section(found: FilesCheck) -> html.Section:
    """Whether every original is there, and the files that no row of the catalogue names."""
    return html.Section(
        [
            html.H2(t("stores.files_title"), className="section-title"),
            *_verdict(found),
            *_missing(found),
            *_damaged(found),
            *_unnamed(found),
        ],
        className="stores-versions",
    )


def _verdict(found: FilesCheck) -> list[Any]:
    if found.error:
        return [badge("error", t("stores.files_not_read")), html.P(as_said(found.error), className="hint")]
    if found.missing or found.unnamed or found.damaged:
        return []
    read = t("stores.files_verified", count=found.verified) if found.verified else t("stores.files_sound")
    return [badge("ok", read)]


def _version(doc_key: str, version: int) -> dcc.Link:
    name = t("stores.version", name=doc_key, version=version)
    return dcc.Link(name, href=links.document(doc_key, version=version))


def _missing(found: FilesCheck) -> list[Any]:
    if not found.missing:
        return []
    rows = [
        {
            "document": _version(each.doc_key, each.version),
            "original": _hash(each.sha256),
        }
        for each in found.missing_files
    ]
    verdict = badge("error", t("stores.files_missing", count=found.missing))
    return [_part(verdict, t("stores.files_missing_text"), rows, found.missing)]


def _damaged(found: FilesCheck) -> list[Any]:
    if not found.damaged:
        return []
    rows = [
        {
            "document": _version(each.doc_key, each.version),
            "kind": t(f"stores.file_kind.{each.kind}"),
            "fault": t(f"stores.file_fault.{each.fault}"),
            "size": html.Span("–" if each.size_bytes is None else size(each.size_bytes), className="numbers"),
            "original": _hash(each.name),
        }
        for each in found.damaged_files
    ]
    verdict = badge("error", t("stores.files_damaged", count=found.damaged))
    return [_part(verdict, t("stores.files_damaged_text"), rows, found.damaged)]


def _unnamed(found: FilesCheck) -> list[Any]:
    if not found.unnamed:
        return []
    rows = [
        {
            "file": _hash(each.name),
            "kind": t(f"stores.file_kind.{each.kind}"),
            "size": html.Span("–" if each.size_bytes is None else size(each.size_bytes), className="numbers"),
        }
        for each in found.unnamed_files
    ]
    verdict = badge("warning", t("stores.files_unnamed", count=found.unnamed))
    return [_part(verdict, t("stores.files_unnamed_text"), rows, found.unnamed), _quarantine(found)]


def _quarantine(found: FilesCheck) -> html.Div:
    """The form that takes an original back, and the button that removes all that nothing names."""
    originals = [each.name for each in found.unnamed_files if each.kind == "blob"]
    chosen, name = "stores-quarantine-file", "stores-quarantine-name"
    choice = dcc.Dropdown(
        id=chosen, options=originals, value=originals[0] if originals else None, labels=dropdown_words()
    )
    named = dbc.Input(id=name, type="text", placeholder="report.pdf")
    fields = ((chosen, t("stores.quarantine_file"), choice), (name, t("stores.quarantine_name"), named))
    restore = html.Div(
        [
            *(
                html.Div([html.Label(words, htmlFor=of, className="form-label"), control], className="access-field")
                for of, words, control in fields
            ),
            html.Button(
                t("stores.quarantine_restore"), id="stores-restore", type="button", className="btn btn-secondary"
            ),
        ],
        className="access-form my-3",
        hidden=not originals,
    )
    empty = dcc.ConfirmDialogProvider(
        html.Button(t("stores.quarantine_empty"), type="button", className="btn btn-danger"),
        id="stores-empty",
        message=t("stores.quarantine_confirm", count=found.unnamed),
    )
    return html.Div([restore, empty], className="stores-quarantine")


def _part(verdict: Any, words: str, rows: list[dict[str, Any]], count: int) -> html.Div:
    return html.Div([verdict, html.P(words, className="hint"), *_listed(rows, count)], className="stores-files")


def _listed(rows: list[dict[str, Any]], count: int) -> list[Any]:
    if not rows:
        return []
    head = html.Thead(html.Tr([html.Th(t(f"stores.column.{column}")) for column in rows[0]]))
    body = [
        html.Tr([html.Td(cell, **dataset(column=t(f"stores.column.{column}"))) for column, cell in row.items()])
        for row in rows
    ]
    table = html.Table([head, html.Tbody(body)], className="access-table settings-table stores-table")
    more = count - len(rows)
    return [
        html.Div(table, className="access-scroll"),
        *([html.P(t("stores.files_more", count=more), className="hint")] if more > 0 else []),
    ]


def _hash(name: str) -> html.Code:
    return html.Code(name, className="stores-file-name")
