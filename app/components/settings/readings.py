"""Documents that an earlier EvoRAG has read: how many, what reading them anew gains and loses, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.links import document_href
from app.components.shared.states import badge
from app.i18n import number, t
from core.model import Differences, Reading, ReadingReport

ACT = "readings-act"


def readings_card(content: Sequence[Any]) -> html.Section:
    """The part of the page that ``readings_of`` fills."""
    return html.Section(
        [
            html.H2(t("readings.title"), className="section-title", id="readings-title"),
            html.Div(list(content), id="readings-body", role="status"),
        ],
        className="card-plain",
        **aria(labelledby="readings-title"),
    )


def readings_of(report: ReadingReport, waiting: Sequence[Reading], at_work: str = "") -> list[Any]:
    """How the documents stand, and what can be done; ``at_work`` is what is being done with them now, if anything."""
    parts: list[Any] = []
    if at_work:
        left = report.usable if at_work == "show" else report.replaced
        parts.append(_line("working", t(f"readings.at_work.{at_work}", count=left)))
    if report.reading:
        parts.append(_line("working", t("readings.reading", count=report.reading), _jobs()))
    if report.outdated:
        said = t("readings.outdated", count=report.outdated)
        parts.append(_line("warning", said, _button("begin", "arrow-repeat", report.outdated, "primary")))
        parts.append(html.P(t("readings.explained"), className="hint"))
    if report.waiting and not at_work:
        buttons = _button("show", "check2", report.waiting, "primary"), _button("drop", "x-lg", report.waiting)
        parts.append(_line("ok", t("readings.waiting", count=report.waiting), *buttons))
        parts.append(html.P(t("readings.stays"), className="hint"))
        parts.append(html.Ul([_item(each) for each in waiting], className="plain-list rereading-list"))
        if report.waiting > len(waiting):
            parts.append(html.P(t("readings.more", count=report.waiting - len(waiting)), className="muted"))
    if report.withdrawn and not at_work:
        again = () if report.waiting else (_button("show", "check2", report.withdrawn),)
        parts.append(_line("neutral", t("readings.withdrawn", count=report.withdrawn), *again))
    if report.failed:
        parts.append(
            _line("error", t("readings.failed", count=report.failed), dcc.Link(t("readings.jobs"), href=links.JOBS))
        )
    if report.replaced and not at_work:
        button = _button("undo", "arrow-counterclockwise", report.replaced)
        parts.append(_line("ok", t("readings.replaced", count=report.replaced), button))
    return parts or [html.P(t("readings.none"), className="muted")]


def _jobs() -> dcc.Link:
    return dcc.Link(t("readings.jobs"), href=links.JOBS)


def _line(meaning: str, words: str, *more: Any) -> html.Div:
    return html.Div([badge(meaning, words), *more], className="button-row")


def _button(act: str, symbol: str, count: int, kind: str = "secondary") -> html.Button:
    return html.Button(
        [icon(symbol), t(f"readings.do.{act}", count=count)],
        id={"type": ACT, "act": act},
        type="button",
        className=f"btn btn-{kind}",
    )


def _item(found: Reading) -> html.Li:
    facts = [t("readings.chunks", old=number(found.present_chunk_count), new=number(found.chunk_count))]
    differences = found.differences
    if differences == Differences():
        facts.append(t("readings.same"))
    elif differences is not None:
        facts.append(t("readings.words", gained=number(differences.gained), lost=number(differences.lost)))
    name = dcc.Link(found.name, href=document_href(found.doc_key, found.version), className="passage-name")
    head: list[Any] = [name, " ", html.Span(" · ".join(facts), className="muted")]
    return html.Li([*head, *(_lines(differences) if differences is not None else ())])


def _lines(found: Differences) -> list[Any]:
    rows = [
        html.Li(
            [html.Span(t(f"readings.{which}"), className="visually-hidden"), sign, html.Span(line)], className=which
        )
        for which, sign, lines in (("gained", "+ ", found.gained_lines), ("lost", "− ", found.lost_lines))
        for line in lines
    ]
    if not rows:
        return []
    return [html.Details([html.Summary(t("readings.lines")), html.Ul(rows, className="plain-list rereading-lines")])]
