"""How a question is answered: the fields for the generator, the order of passages, and what is read from its words."""

from __future__ import annotations

from dataclasses import dataclass

import dash_bootstrap_components as dbc
from dash import html

from app.components.shared.generator_choice import NONE, SPIKING, choice_of, generator_options
from app.components.shared.icon import icon
from app.components.shared.query_options import RERANKS, USUAL_DEPTH, USUAL_PER_DOCUMENT
from app.i18n import t
from core.model import GeneratorHealth, GeneratorState, Query


@dataclass(frozen=True, slots=True)
class Offer:
    """What a question can choose, and what it gets where it chooses nothing."""

    generators: tuple[GeneratorHealth, ...] = ()
    generator: str = NONE
    rerank: str = "none"
    recency: bool = False
    read_filters: bool = True
    has_cross: bool = False
    depth: int = USUAL_DEPTH

    @property
    def can_record(self) -> bool:
        """Whether there is a spiking model whose neurons can be recorded."""
        return any(each.name == SPIKING and each.state is not GeneratorState.UNAVAILABLE for each in self.generators)


def answer_fields(query: Query, offer: Offer) -> html.Fieldset:
    """The fields of how a question is answered, filled with ``query``."""
    chosen = choice_of(query.generator, offer.generator)
    rerank = query.rerank or offer.rerank
    offered = [name for name in RERANKS if name != "cross" or offer.has_cross or rerank == "cross"]
    recency = offer.recency if query.recency is None else query.recency
    read = offer.read_filters if query.read_filters is None else query.read_filters
    selects = [
        _field("generator", generator_options(offer.generators, chosen, offer.generator), chosen),
        _field("rerank", [{"value": name, "label": t(f"ask.rerank.{name}")} for name in offered], rerank),
    ]
    switches = [
        html.Div(_switch("record", query.record and offer.can_record), hidden=not offer.can_record),
        _switch("read", read),
        _switch("recency", recency),
        _switch("syntax", query.syntax == "advanced"),
    ]
    return html.Fieldset(
        [
            html.Legend(t("ask.how")),
            html.Div(selects, className="filter-fields"),
            html.Div(switches, className="option-switches"),
        ],
        className="scope-fields answer-fields",
    )


def option_chips(query: Query, offer: Offer) -> list[html.Span]:
    """What differs from how questions are usually answered."""
    chips = []
    if query.generator and (query.generator, offer.generator) != (NONE, NONE):
        name = t("ask.generator.none") if query.generator == NONE else query.generator
        chips.append(_chip("pencil", name))
    if query.record:
        chips.append(_chip("activity", t("ask.chip_record")))
    if query.rerank and query.rerank != offer.rerank:
        chips.append(_chip("sort-down", t(f"ask.rerank.{query.rerank}")))
    if query.recency is not None and query.recency != offer.recency:
        chips.append(_chip("clock-history", t("ask.chip_recency" if query.recency else "ask.chip_no_recency")))
    if query.read_filters is not None and query.read_filters != offer.read_filters:
        chips.append(_chip("funnel", t("ask.chip_read" if query.read_filters else "ask.chip_no_read")))
    if query.syntax == "advanced":
        chips.append(_chip("quote", t("ask.syntax")))
    if query.depth != offer.depth:
        chips.append(_chip("arrow-down", t("ask.chip_depth", depth=query.depth)))
    if query.per_document != USUAL_PER_DOCUMENT:
        key = "ask.chip_per" if query.per_document else "ask.chip_per_any"
        chips.append(_chip("files", t(key, count=query.per_document)))
    return chips


def _field(name: str, options: list[dict[str, str]], value: str) -> html.Div:
    return html.Div(
        [
            html.Label(t(f"ask.{name}"), htmlFor=f"ask-{name}"),
            dbc.Select(id=f"ask-{name}", options=options, value=value, size="sm"),
        ]
    )


def _switch(name: str, is_on: bool) -> html.Div:
    return html.Div(
        [
            dbc.Switch(id=f"ask-{name}", label=t(f"ask.{name}"), value=is_on),
            html.P(t(f"ask.{name}_hint"), className="field-hint"),
        ]
    )


def _chip(symbol: str, words: str) -> html.Span:
    return html.Span([icon(symbol), words], className="chip")
