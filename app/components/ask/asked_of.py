"""What an answer was looked for in, as chips: each chosen filter with the way to the answer without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dash import dcc, html

from app.components.ask.scope import scope_chips
from app.components.attributes import aria
from app.components.shared.chips import Names, meaning_title, read_words
from app.components.shared.icon import icon
from app.components.shared.links import ask_href
from app.i18n import has, t
from core.model import Query, Trace


def filter_chips(trace: Trace, names: Names) -> html.Ul:
    """The filters that were chosen and those read from the question, and the moment; or that there were none."""
    query = trace.query
    chips = [_chip(symbol, label, without) for symbol, label, without in _chosen(query, names)]
    for each in trace.analysis.read_filters:
        if each.is_applied:
            # The answer offers to take these away, beside what else was read from the question.
            kind = f"ask.read.{each.kind}"
            label = t(kind, words=read_words(each)) if has(kind) else read_words(each)
            parts = [icon("funnel"), html.Span(label, className="user-text")]
            chips.append(html.Span(parts, className="chip when-bounds", title=meaning_title(each, names)))
    chips += scope_chips(query.as_of, query.versions)
    if not chips:
        chips = [html.Span([icon("files"), t("evidence.everything")], className="chip")]
    return html.Ul(
        [html.Li(chip) for chip in chips], className="chips evidence-filters", **aria(label=t("evidence.filters"))
    )


def _chosen(query: Query, names: Names) -> Iterator[tuple[str, str, Query]]:
    """Each chosen filter: its icon, its words, and the question without it."""
    limits = query.filters
    for key in limits.doc_keys:
        left = replace(limits, doc_keys=_but(limits.doc_keys, key))
        yield "file-earmark-text", names.get(key, key), replace(query, filters=left)
    for tag in limits.tags:
        yield "tag", tag, replace(query, filters=replace(limits, tags=_but(limits.tags, tag)))
    for extension in limits.extensions:
        left = replace(limits, extensions=_but(limits.extensions, extension))
        yield "files", f".{extension}", replace(query, filters=left)


def _but(values: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(each for each in values if each != gone)


def _chip(symbol: str, label: str, without: Query) -> html.Span:
    words = t("ask.read_drop", words=label)
    away = dcc.Link(
        [icon("x-lg"), html.Span(words, className="visually-hidden")],
        href=ask_href(without),
        className="chip-drop",
        title=words,
    )
    parts = [icon(symbol), html.Span(label, className="user-text"), away]
    return html.Span(parts, className="chip chip-removable")
