"""What a question was understood as: its standalone form, its intent, and the filters that were read from its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app.components.shared.icon import icon
from app.components.shared.links import ask_href
from app.components.shared.states import badge
from app.components.shared.times import bound
from app.components.shared.wording import sentence
from app.i18n import has, t
from core.model import Filters, Intent, ReadFilter, Trace

Names = Mapping[str, str]
"""Names of documents by key."""
_TIE = re.compile(r"(?:の間に|[のにで]|['’]s)$")


def understood(trace: Trace, names: Names | None = None) -> html.Div | None:
    """What is worth saying about how the question was understood; nothing where it was taken as it stands."""
    query, analysis = trace.query, trace.analysis
    rows: list[Component] = []
    if analysis.standalone and analysis.standalone != query.text:
        by = analysis.standalone_by
        title = t("ask.standalone_rules") if by in ("", "rules") else t("ask.standalone_by", name=by)
        rows.append(
            html.P(
                [t("ask.understood"), " ", html.Q(analysis.standalone, className="user-text")],
                className="understood-as",
                title=title,
            )
        )
    if analysis.standalone_other:
        rows.append(_other_reading(trace))
    if analysis.corrections:
        rows.append(html.Div(_corrections(trace), className="read-filters"))
    if analysis.read_filters or query.dismissed:
        rows.append(html.Div(_filters(trace, names or {}), className="read-filters"))
    return html.Div(rows, className="understood") if rows else None


def _other_reading(trace: Trace) -> html.P:
    """What else a follow-up question was searched as, with the way to that answer."""
    query, other = trace.query, trace.analysis.standalone_other
    # Asked for itself, so that it is not read as a follow-up again.
    asked = replace(query, text=other, conversation_id="", dismissed=())
    link = dcc.Link(html.Q(other, className="user-text"), href=ask_href(asked))
    return html.P([t("ask.also_searched"), " ", link], className="understood-as", title=t("ask.also_searched_why"))


def _corrections(trace: Trace) -> list[Component]:
    """The words that were read as others, each with the way to the answer without."""
    chips = []
    for each in trace.analysis.corrections:
        words = t("ask.corrected_drop", word=each.word)
        away = dcc.Link(
            [icon("x-lg"), html.Span(words, className="visually-hidden")],
            href=ask_href(replace(trace.query, dismissed=(*trace.query.dismissed, each.id))),
            className="chip-drop",
            title=words,
        )
        told = html.Span(t("ask.corrected", word=each.word, read_as=each.read_as), className="user-text")
        chip = html.Span([icon("type"), told, away], className="chip chip-removable", title=t("ask.corrected_why"))
        chips.append(html.Li(chip))
    return [html.Span(t("ask.corrected_words")), html.Ul(chips, className="chips")]


def intent_badge(intent: Intent) -> html.Span | None:
    """What a question is about, where that is not the documents."""
    if intent is Intent.DOCUMENTS:
        return None
    return badge("neutral", t(f"ask.intent.{intent}"), t(f"ask.intent_explain.{intent}"))


def _filters(trace: Trace, names: Names) -> list[Component]:
    query = trace.query
    parts: list[Component] = []
    if trace.analysis.read_filters:
        chips = [html.Li(_chip(trace, each, names)) for each in trace.analysis.read_filters]
        parts += [html.Span(t("ask.read_from")), html.Ul(chips, className="chips")]
    if query.dismissed:
        words = t("ask.read_again", count=len(query.dismissed))
        parts.append(dcc.Link([icon("arrow-counterclockwise"), words], href=ask_href(replace(query, dismissed=()))))
    return parts


def _chip(trace: Trace, each: ReadFilter, names: Names) -> html.Span:
    kind = f"ask.read.{each.kind}"
    words = read_words(each)
    label = t(kind, words=words) if has(kind) else words
    if not each.is_applied:
        return html.Span(t("ask.read_unused", words=words), className="read-unused")
    without = replace(trace.query, dismissed=(*trace.query.dismissed, each.id))
    away = dcc.Link(
        [icon("x-lg"), html.Span(t("ask.read_drop", words=words), className="visually-hidden")],
        href=ask_href(without),
        className="chip-drop",
        title=t("ask.read_drop", words=words),
    )
    return html.Span(
        [icon("funnel"), html.Span(label), away],
        className="chip chip-removable when-bounds",
        title=meaning_title(each, names),
    )


def read_words(each: ReadFilter) -> str:
    """The words that a filter was read from; those of a date without the particle that ties them to the question."""
    return _TIE.sub("", each.words) if each.kind == "updated" else each.words


def meaning(each: ReadFilter, names: Names) -> list[Any]:
    """What a filter lets through, in full."""
    parts: list[list[Any]] = [[name] for name in _named(each.filters, names)]
    parts += [sentence(key, day=bound(at)) for key, at in _bounds(each.filters)]
    return [piece for part in parts for piece in (t("list.joint"), *part)][1:]


def meaning_title(each: ReadFilter, names: Names) -> str:
    """What a filter lets through, as text: the browser rewrites the moments in titles of the class ``when-bounds``."""
    bounds = [t(key, day=at.isoformat()) for key, at in _bounds(each.filters)]
    return t("list.joint").join([*_named(each.filters, names), *bounds])


def _named(filters: Filters, names: Names) -> list[str]:
    documents = [names.get(key, key) for key in filters.doc_keys]
    return [*documents, *(f".{name}" for name in filters.extensions), *filters.tags]


def _bounds(filters: Filters) -> Iterator[tuple[str, datetime]]:
    for key, at in (("ask.read_after", filters.updated_after), ("ask.read_before", filters.updated_before)):
        if at is not None:
            yield key, at
