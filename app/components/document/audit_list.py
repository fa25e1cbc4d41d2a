"""Publications as rows of a table: what was done to which document, when, by whom, and what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.attributes import aria
from app.components.shared.document_options import document_options
from app.components.shared.filter_words import dropdown_words
from app.components.shared.icon import icon
from app.components.shared.links import document_href
from app.components.shared.times import when
from app.i18n import t
from core.model import Document, Publication

ACTIONS = {
    "publish": "check2",
    "rollback": "arrow-counterclockwise",
    "reread": "arrow-repeat",
    "unpublish": "eye-slash",
    "delete": "trash",
    "restore": "arrow-repeat",
    "purge": "x-lg",
}


def audit_table(rows: Sequence[html.Tr]) -> html.Table:
    """The table of the page; more rows are added to its body."""
    names = ("seq", "when", "action", "document", "change", "who", "note", "ask")
    head = html.Tr([html.Th(t(f"audit.{name}"), scope="col") for name in names])
    return html.Table(
        [
            html.Caption(t("audit.caption"), className="visually-hidden"),
            html.Thead(head),
            html.Tbody(list(rows), id="audit-rows"),
        ],
        className="audit-table",
    )


def audit_rows(publications: Sequence[Publication], replaced: Mapping[int, int | None]) -> list[html.Tr]:
    """One row a publication; ``replaced`` is what each document showed before, by sequence number."""
    return [_row(publication, replaced.get(publication.seq)) for publication in publications]


def audit_filters(documents: Sequence[Document], doc_key: str | None, action: str | None) -> html.Div:
    """Which document and which action are listed; the browser puts both into the address."""
    options = document_options(documents)
    if doc_key and all(option["value"] != doc_key for option in options):
        options.append({"value": doc_key, "label": doc_key})
    actions = [{"value": name, "label": t(f"audit.action.{name}")} for name in ACTIONS]
    return html.Div(
        [
            _filter("audit-document", t("audit.document"), options, doc_key, t("audit.any_document")),
            _filter("audit-action", t("audit.action"), actions, action, t("audit.any_action")),
            html.Div([_export("csv", doc_key, action), _export("json", doc_key, action)], className="button-row"),
        ],
        className="audit-filters",
    )


def _filter(component_id: str, label: str, options: list[Any], value: str | None, placeholder: str) -> html.Div:
    words = dropdown_words()
    field = dcc.Dropdown(id=component_id, options=options, value=value, placeholder=placeholder, labels=words)
    return html.Div([html.Label(label, htmlFor=component_id, className="form-label"), field], className="audit-filter")


def _export(kind: str, doc_key: str | None, action: str | None) -> html.A:
    return html.A(
        [icon("download"), kind.upper()],
        href=links.audit_export(kind, doc_key, action),
        className="btn btn-secondary",
        download=f"evorag-audit.{kind}",
        title=t("audit.export", kind=kind.upper()),
        **aria(label=t("audit.export", kind=kind.upper())),
    )


def _row(publication: Publication, before: int | None) -> html.Tr:
    key = publication.doc_key
    action = publication.action
    done = "purge_all" if action == "purge" and publication.subject is None else action
    said: list[Component | str] = [
        icon(ACTIONS.get(action, "dash-circle")),
        t(f"audit.did.{done}", number=publication.subject or 0),
    ]
    ask = dcc.Link(
        t("audit.ask_as_of"),
        href=links.ask_as_of(publication.seq),
        title=t("audit.ask_explain", number=publication.seq),
    )
    name = dcc.Link(key, href=document_href(key, publication.version), className="passage-name")
    cells: list[tuple[str, Any]] = [
        ("seq", html.Span(f"#{publication.seq}", className="numbers muted")),
        ("when", when(publication.at)),
        ("action", html.Span(said, className="audit-did")),
        ("document", name),
        ("change", _change(before, publication.version)),
        ("who", publication.actor or html.Span("—", className="audit-nobody")),
        ("note", html.Span(publication.note, className="user-text") if publication.note else ""),
        ("ask", ask),
    ]
    return html.Tr(
        [html.Td(cell, className=f"audit-{column}") for column, cell in cells], id=f"audit-{publication.seq}"
    )


def _change(before: int | None, now: int | None) -> html.Span:
    if before == now:
        return html.Span(_version(now), className="muted")
    return html.Span([_version(before), " → ", html.Strong(_version(now))], className="numbers")


def _version(number: int | None) -> str:
    return t("audit.nothing") if number is None else t("version.number", number=number)
