"""What Home shows of the whole: the ask box, the counts, the stores, the last questions."""

from __future__ import annotations

from collections.abc import Sequence

import dash_bootstrap_components as dbc
from dash import dcc, html

from app import links
from app.components.attributes import aria, dataset
from app.components.shared import ids
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.components.shared.times import when
from app.i18n import has, number, size, t
from core.model import AnswerType, Counts, Health, StoreHealth, TraceSummary

STORE_MEANINGS = {"ok": "ok", "loading": "working", "waiting": "warning", "damaged": "error", "down": "error"}
ANSWER_MEANINGS = {
    AnswerType.EXTRACTIVE: "ok",
    AnswerType.GENERATIVE: "ok",
    AnswerType.HALLUCINATION_FALLBACK: "warning",
    AnswerType.INSUFFICIENT: "neutral",
}


def ask_box() -> html.Form:
    """Return the question field that leads to Ask."""
    return html.Form(
        [
            html.Label(t("home.ask"), htmlFor=ids.HOME_QUESTION, className="visually-hidden"),
            dbc.Input(
                id=ids.HOME_QUESTION,
                name="q",
                type="text",
                className="home-question",
                placeholder=t("home.ask.placeholder"),
                autocomplete="off",
                maxlength=4000,
            ),
            html.Button([icon("search"), t("home.ask.button")], type="submit", className="btn btn-primary"),
        ],
        action=links.ASK,
        method="GET",
        className="home-ask",
        role="search",
        **dataset(ask_box=True),
    )


def counts_strip(counts: Counts) -> html.Section:
    """Return how much the knowledge base holds."""
    figures = [
        _figure(number(counts.documents), t("home.documents", count=counts.documents), links.DOCUMENTS),
        _figure(number(counts.versions), t("home.versions", count=counts.versions)),
        _figure(number(counts.chunks), t("home.chunks", count=counts.chunks)),
        _figure(number(counts.questions), t("home.questions", count=counts.questions), links.HISTORY),
        _figure(size(counts.size_bytes), t("home.size")),
    ]
    return html.Section(figures, className="counts card-plain", **aria(label=t("home.counts")))


def stores_card(health: Health, *, may_check: bool = False) -> html.Section:
    """Return the state of each store and model in a word, and what waits."""
    notes = []
    if not health.models_ready:
        notes.append(html.P(t("home.models"), className="field-hint"))
    if health.outbox:
        notes.append(html.P(t("home.outbox", count=health.outbox), className="field-hint"))
    return html.Section(
        [
            html.H2(t("home.stores"), className="section-title"),
            html.Ul([_store(store) for store in health.stores], className="plain-list"),
            *notes,
            dcc.Link(t("stores.open"), href=links.STORES) if may_check else None,
        ],
        className="card-plain",
    )


def questions_card(history: Sequence[TraceSummary]) -> html.Section:
    """Return the last questions, each leading to the answer it got."""
    rows = [
        html.Li(
            [
                dcc.Link(summary.question, href=links.ask(trace=summary.id), className="line-link"),
                badge(ANSWER_MEANINGS[summary.answer_type], t(f"home.answer.{summary.answer_type}")),
                when(summary.asked_at, "muted"),
            ],
            className="line",
        )
        for summary in history
    ]
    content = (
        [html.Ul(rows, className="plain-list"), dcc.Link(t("home.questions.all"), href=links.HISTORY)]
        if rows
        else [html.P(t("home.questions.none"), className="muted")]
    )
    return html.Section(
        [html.H2(t("home.questions.title"), className="section-title"), *content], className="card-plain"
    )


def _figure(amount: str, word: str, href: str | None = None) -> html.Div:
    words = [html.Span(amount, className="count-number"), html.Span(word, className="count-word")]
    return html.Div(dcc.Link(words, href=href, className="count") if href else html.Div(words, className="count"))


def _store(store: StoreHealth) -> html.Li:
    rows = [] if store.rows is None else [html.Span(t("home.store.rows", count=store.rows), className="muted")]
    name = t(f"home.store.name.{store.name}") if has(f"home.store.name.{store.name}") else store.name
    return html.Li(
        [
            html.Span(
                [html.Span(name), html.Span(store.engine, className="muted store-engine")], className="line-link"
            ),
            *rows,
            badge(STORE_MEANINGS.get(store.state, "neutral"), t(f"home.store.{store.state}"), store.detail or None),
        ],
        className="line",
    )
