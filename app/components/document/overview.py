"""The whole at a glance, for those who look after it: what is kept, and how the stores and models are."""

from __future__ import annotations

from dash import dcc, html

from app import links
from app.components.attributes import aria
from app.components.shared.error_sentences import as_said
from app.components.shared.states import badge
from app.components.shared.wording import engine_name
from app.i18n import has, number, size, t
from core.model import Counts, Health, StoreHealth

STORE_MEANINGS = {
    "ok": "ok",
    "loading": "working",
    "waiting": "warning",
    "earlier": "error",
    "low": "warning",
    "open": "warning",
    "full": "error",
    "damaged": "error",
    "down": "error",
}


def counts_strip(counts: Counts) -> html.Section:
    """Return how much the knowledge base holds."""
    figures = [
        _figure(number(counts.documents), t("overview.documents", count=counts.documents), links.DOCUMENTS),
        _figure(number(counts.versions), t("overview.versions", count=counts.versions)),
        _figure(number(counts.chunks), t("overview.chunks", count=counts.chunks)),
        _figure(number(counts.questions), t("overview.questions", count=counts.questions), links.HISTORY),
        _figure(size(counts.size_bytes), t("overview.size")),
    ]
    return html.Section(figures, className="counts card-plain", **aria(label=t("overview.counts")))


def stores_card(health: Health) -> html.Section:
    """Return the state of each store and model in a word, and what waits."""
    notes = []
    if not health.models_ready:
        notes.append(html.P(t("overview.models"), className="field-hint"))
    if health.outbox:
        notes.append(html.P(t("overview.outbox", count=health.outbox), className="field-hint"))
    return html.Section(
        [
            html.H2(t("overview.stores"), className="section-title"),
            html.Ul([_store(store) for store in health.stores], className="plain-list"),
            *notes,
        ],
        className="card-plain",
    )


def _figure(amount: str, word: str, href: str | None = None) -> html.Div:
    words = [html.Span(amount, className="count-number"), html.Span(word, className="count-word")]
    return html.Div(dcc.Link(words, href=href, className="count") if href else html.Div(words, className="count"))


def _store(store: StoreHealth) -> html.Li:
    rows = [] if store.rows is None else [html.Span(t("overview.store.rows", count=store.rows), className="muted")]
    name = t(f"overview.store.name.{store.name}") if has(f"overview.store.name.{store.name}") else store.name
    return html.Li(
        [
            html.Span(
                [html.Span(name), html.Span(engine_name(store.engine), className="muted store-engine")],
                className="line-link",
            ),
            *rows,
            badge(
                STORE_MEANINGS.get(store.state, "neutral"),
                t(f"overview.store.{store.state}"),
                as_said(store.detail or "") or None,
            ),
        ],
        className="line",
    )
