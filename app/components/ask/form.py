"""The form of a question: its text, how many passages to show, and which documents may answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.ask.options import Offer, answer_fields, option_chips
from app.components.ask.scope import Offered, scope_chips, scope_fields
from app.components.shared.document_options import document_options
from app.components.shared.filter_words import dropdown_words
from app.components.shared.generator_choice import generator_line, writer
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.i18n import t
from core.model import Document, Query
from core.model.file_types import EXTENSIONS, KIND_OF, KINDS, kept_as

TYPES = kept_as(extension for extension in EXTENSIONS if KIND_OF[extension] != "code")
MAX_TOP_K = 50
NOTHING = Offer()


def ask_form(
    query: Query,
    documents: Sequence[Document],
    tags: Sequence[str],
    offered: Offered = (),
    offer: Offer = NOTHING,
    *,
    goes_on: bool = False,
) -> html.Div:
    """The form filled with ``query``, limited to ``documents``; ``offered`` are versions that can be asked.

    ``offer`` is what can be chosen about how it is answered. Where it ``goes_on`` from an answer, its box is empty:
    what is written there is asked on.
    """
    limits = _chips(query, documents)
    chips = [*limits, *option_chips(query, offer)]
    box = html.Div(
        [
            html.Label(
                t("ask.follow_up" if goes_on else "ask.question"), htmlFor="ask-question", className="visually-hidden"
            ),
            dbc.Textarea(
                id="ask-question",
                value="" if goes_on else query.text,
                placeholder=t("ask.follow_up_placeholder" if goes_on else "ask.placeholder"),
                rows=1 if goes_on else 2,
                maxLength=4_000,
                autofocus=not goes_on and not query.text,
            ),
            html.Button([icon("send"), t("ask.send")], id="ask-send", type="button", className="btn btn-primary"),
        ],
        className="ask-box",
    )
    options = html.Div(
        [
            html.Details(
                [
                    _summary(query, chips),
                    _fields(query, documents, tags),
                    scope_fields(query, offered),
                    answer_fields(query, offer),
                    _depth(query),
                ],
                className="filters",
            ),
        ],
        className="ask-options",
    )
    line = html.Div(
        generator_line(
            offer.generators,
            writer(query.generator or offer.generator, record=query.record),
            is_usual=not query.generator and not query.record,
        ),
        id="ask-generator-line",
        role="status",
    )
    hint: list[Any] = [html.P(t("ask.hint"), className="hint"), line]
    if goes_on:
        hint.insert(1, dcc.Link([icon("plus-lg"), t("ask.new_question")], href=links.ASK, className="ask-anew"))
    look = "ask-form ask-form-on" if goes_on else "ask-form"
    return html.Div([box, html.Div(hint, className="ask-hints"), options], className=look)


def waiting(has_question: bool) -> html.Div:
    """Says that the models are still loading, and what becomes of a question that was sent."""
    text = t("ask.waiting_question" if has_question else "ask.waiting")
    return html.Div([badge("working", t("ask.loading")), html.Span(text)], className="waiting")


def _chips(query: Query, documents: Sequence[Document]) -> list[html.Span]:
    chips = [html.Span(document.name, className="chip") for document in documents]
    chips += [html.Span([icon("tag"), tag], className="chip") for tag in query.filters.tags]
    chips += [html.Span(extension, className="chip") for extension in query.filters.extensions]
    return [*chips, *scope_chips(query.as_of, query.versions)]


def _summary(query: Query, chips: Sequence[html.Span]) -> html.Summary:
    is_filtered = bool(query.filters.doc_keys or query.filters.tags or query.filters.extensions)
    words = t("ask.filters") if is_filtered else t("ask.no_filters")
    if not chips:
        words = t("evidence.everything")
    return html.Summary([icon("funnel"), html.Span(words), html.Span(chips, className="chips")])


def _fields(query: Query, documents: Sequence[Document], tags: Sequence[str]) -> html.Div:
    tag_names = list(dict.fromkeys([*query.filters.tags, *tags]))
    present = {document.name.rpartition(".")[2].lower() for document in documents}
    code = [extension for extension in KINDS["code"] if extension in present]
    types = list(dict.fromkeys([*TYPES, *code, *query.filters.extensions]))
    return html.Div(
        [
            _field("doc", document_options(documents), [document.doc_key for document in documents]),
            _field("tag", tag_names, list(query.filters.tags)),
            _field("type", types, list(query.filters.extensions)),
        ],
        className="filter-fields",
    )


def _depth(query: Query) -> html.Div:
    """How many passages are shown."""
    count = dbc.Input(id="ask-k", type="number", min=1, max=MAX_TOP_K, step=1, value=query.top_k, size="sm")
    return html.Div([html.Label(t("ask.top_k"), htmlFor="ask-k"), count], className="top-k")


def _field(name: str, options: Any, value: list[str]) -> html.Div:
    return html.Div(
        [
            html.Label(t(f"ask.by_{name}"), htmlFor=f"ask-{name}"),
            dcc.Dropdown(
                id=f"ask-{name}",
                options=options,
                value=value,
                multi=True,
                placeholder=t("ask.any"),
                labels=dropdown_words(),
            ),
        ]
    )
