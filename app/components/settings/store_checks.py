"""What a check of the stores has found: a row a store, the versions that are wrong, and what was mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.settings.file_check import files_section
from app.components.shared.error_sentences import as_said
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import joined, left_of, when
from app.components.shared.wording import engine_name
from app.i18n import number, t
from core.model import Fault, Job, StoreAct, StoreCheck, StoreReport

COUNTED = ("expected", "stored", *(fault.value for fault in Fault), "waiting")
WRITE_ANEW = "stores-anew"


def report(found: StoreReport, job: Job) -> list[Any]:
    """The newest check, what came of it, and what can be done about what is wrong."""
    checks = found.after or found.before
    said = html.Div([_verdict(found, checks), when(job.finished_at or job.updated_at, "muted")], className="button-row")
    files = [] if found.files is None else [files_section(found.files)]
    return [said, store_table(checks), *_wrong_versions(checks), *files]


def _verdict(found: StoreReport, checks: Sequence[StoreCheck]) -> html.Div:
    faults = sum(check.faults for check in checks)
    if any(check.error for check in checks):
        return html.Div([badge("error", t("stores.not_read"))])
    if faults:
        if found.after:
            return html.Div(badge("warning", t("stores.left", count=faults)))
        return html.Div([badge("warning", t("stores.wrong", count=faults)), _mend(faults)], className="button-row")
    if found.act is not StoreAct.CHECK and found.mended:
        return html.Div(badge("ok", t("stores.mended", count=found.mended)))
    return html.Div(badge("ok", t("stores.sound")))


def _mend(faults: int) -> html.Button:
    words = t("stores.mend", count=faults)
    return html.Button([icon("check2"), words], id="stores-mend", type="button", className="btn btn-secondary")


def store_table(checks: Sequence[StoreCheck]) -> html.Div:
    """A row a store: what it should hold, what it holds, and what is wrong of that."""
    head = [html.Th(t(f"stores.column.{name}"), title=_explained(name)) for name in ("store", *COUNTED)]
    rows = [
        html.Tr([_cell("store", _named(check)), *(_cell(name, _count(check, name)) for name in COUNTED)])
        for check in checks
    ]
    table = html.Table(
        [html.Thead(html.Tr(head)), html.Tbody(rows)], className="access-table settings-table stores-table"
    )
    return html.Div(table, className="access-scroll")


def _named(check: StoreCheck) -> html.Div:
    words = [
        html.Strong(t(f"overview.store.name.{check.store}")),
        html.Br(),
        html.Span(engine_name(check.engine), className="muted"),
    ]
    return html.Div([*words, *([html.P(as_said(check.error), className="hint")] if check.error else [])])


def _count(check: StoreCheck, name: str) -> html.Span:
    count = getattr(check, name)
    if check.error and name != "expected":
        return html.Span("–", className="muted")
    is_fault = count and name in set(Fault)
    return html.Span(badge("warning", number(count)) if is_fault else number(count), className="numbers")


def _explained(name: str) -> str | None:
    return t(f"stores.explain.{name}") if name in (*Fault, "waiting") else None


def _cell(column: str, content: Any) -> html.Td:
    return html.Td(content, **dataset(column=t(f"stores.column.{column}")))


def _wrong_versions(checks: Sequence[StoreCheck]) -> list[Any]:
    columns = ("document", "store", "expected", "missing", "stale", "misplaced", "fingerprint")
    rows = []
    for check in checks:
        for each in check.versions:
            name = t("stores.version", name=each.doc_key, version=each.version)
            same = each.expected_fingerprint == each.stored_fingerprint
            marks = t("stores.same") if same else f"{each.expected_fingerprint[-8:]} ≠ {each.stored_fingerprint[-8:]}"
            cells = {
                "document": dcc.Link(name, href=links.document(each.doc_key, version=each.version)),
                "store": t(f"overview.store.name.{check.store}"),
                "expected": html.Span(number(each.rows), className="numbers"),
                **{
                    fault: html.Span(number(getattr(each, fault)), className="numbers")
                    for fault in ("missing", "stale", "misplaced")
                },
                "fingerprint": html.Span(marks, className="numbers"),
            }
            rows.append(html.Tr([_cell(column, cells[column]) for column in columns]))
    if not rows:
        return []
    more = sum(check.versions_wrong for check in checks) - len(rows)
    head = html.Thead(html.Tr([html.Th(t(f"stores.column.{column}")) for column in columns]))
    table = html.Table([head, html.Tbody(rows)], className="access-table settings-table stores-table")
    parts = [
        html.H2(t("stores.versions_title"), className="section-title"),
        html.P(t("stores.versions_text"), className="hint"),
        html.Div(table, className="access-scroll"),
        html.P(t("stores.more", count=more), className="hint") if more > 0 else None,
    ]
    return [html.Div(parts, className="stores-versions")]


def progress(job: Job, act: StoreAct) -> html.Div:
    """How far a job is; it goes on without the page."""
    title = t(f"stores.act.{act}")
    told = t("stores.progress", title=title, done=number(job.done), total=number(job.total)) if job.total else title
    told = joined(told, left_of(job.done, job.total, job.started_at))
    share = f"{100 * job.done / job.total:.1f}" if job.total else "0"
    bar = html.Div(
        html.Div(className="bar-fill", style={"width": f"{share}%"})
        if job.done
        else html.Div(className="bar-fill bar-unknown", style={"width": "100%"}),
        className="bar",
        role="progressbar",
        **aria(label=title, valuemin="0", valuemax="100", valuenow=share),
    )
    return html.Div([badge("working", told), bar, html.P(t("analyser.goes_on"), className="hint")])


def write_anew() -> html.Section:
    """Each store with the button that writes it anew."""
    buttons = [
        html.Button(
            [icon("arrow-repeat"), t(f"stores.anew.{store}")],
            id={"type": WRITE_ANEW, "store": store},
            type="button",
            className="btn btn-secondary",
        )
        for store in ("vector", "keyword")
    ]
    return html.Section(
        [
            html.H2(t("stores.anew_title"), className="section-title"),
            html.P(t("stores.anew_text"), className="hint"),
            html.Div(buttons, className="button-row"),
        ],
        className="card-plain",
    )
