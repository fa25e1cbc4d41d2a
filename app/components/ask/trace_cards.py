"""The account of one question: five cards that draw a ``Trace`` and compute nothing that it does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from app import links
from app.components.ask import figures
from app.components.ask.rank_chart import rank_chart
from app.components.ask.trace_facts import (
    Fact,
    generation_facts,
    named,
    prompt_words,
    reranking_words,
    understanding_facts,
)
from app.components.ask.trace_tables import (
    FIRST_ROWS,
    cosine,
    fusion_table,
    keyword_table,
    leading_terms,
    names_of,
    row_label,
    rrf_k,
    vector_table,
)
from app.components.ask.waterfall import spans, waterfall
from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.states import error_line
from app.components.shared.wording import engine_name
from app.i18n import t
from core.model import Leg, TermScore, Trace

PLOT_ROWS = 10
PROMPT_CHARS = 1_500


def trace_cards(trace: Trace) -> html.Div:
    """The five cards in the order of the flow."""
    cards = [
        _analysis_card(trace),
        _vector_card(trace),
        _keyword_card(trace),
        _fusion_card(trace),
        _generation_card(trace),
    ]
    download = html.A(
        [icon("download"), t("trace.download")],
        href=links.trace_json(trace.id),
        download=f"trace-{trace.id}.json",
        className="btn btn-secondary",
    )
    return html.Div([html.Div([html.P(t("trace.purpose")), download], className="trace-head"), *cards])


def _analysis_card(trace: Trace) -> html.Section:
    analysis = trace.analysis
    keywords = [html.Span(word, className="chip") for word in analysis.keywords] or t("trace.analysis.no_keywords")
    facts = [
        (t("trace.analysis.language"), named("language", analysis.language)),
        (t("trace.analysis.normalised"), html.Span(analysis.normalised, className="user-text")),
        (t("trace.analysis.keywords"), html.Span(keywords, className="chips")),
        (t("trace.analysis.prompt_type"), prompt_words(analysis.prompt_type)),
        (t("trace.analysis.sequence"), t("trace.analysis.sequence_value", number=trace.sequence)),
    ]
    facts += understanding_facts(trace)
    explain = "trace.analysis.explain" if analysis.syntax is None else "trace.analysis.explain_advanced"
    return _card("analysis", "translate", t(explain), [_facts(facts)])


def _vector_card(trace: Trace) -> html.Section:
    leg = trace.vector
    if leg.error:
        return _failed_card("vector", "diagram-3", leg)
    names = names_of(trace)
    best = leg.hits[:PLOT_ROWS]
    plot = figures.graph(
        figures.dots(
            [row_label(rank, hit.chunk_id, names) for rank, hit in enumerate(best, 1)],
            [cosine(hit.score) for hit in best],
            t("trace.cosine_axis"),
        ),
        t("trace.vector.plot"),
    )
    content = _leg_content("vector", leg, vector_table(trace), plot)
    return _card("vector", "diagram-3", t("trace.vector.explain"), content, _leg_note(leg))


def _keyword_card(trace: Trace) -> html.Section:
    leg = trace.keyword
    if leg.error:
        return _failed_card("keyword", "type", leg)
    names = names_of(trace)
    order = [*(term.term for term in leading_terms(leg.hits)), t("trace.other_terms")]
    bars = [
        figures.Bar(row_label(rank, hit.chunk_id, names), _parts(hit.terms, order))
        for rank, hit in enumerate(leg.hits[:PLOT_ROWS], 1)
    ]
    plot = figures.graph(figures.stacked(bars, t("trace.bm25_axis"), order), t("trace.keyword.plot"))
    content = _leg_content("keyword", leg, keyword_table(trace), plot)
    return _card("keyword", "type", t("trace.keyword.explain"), content, _leg_note(leg))


def _fusion_card(trace: Trace) -> html.Section:
    explain = t("trace.fusion.explain_mix", alpha=trace.query.alpha)
    if trace.query.fusion == "rrf":
        explain = t("trace.fusion.explain", k=rrf_k(trace))
    if not trace.candidates:
        return _card("fusion", "intersect", explain, [html.P(t("trace.fusion.empty"))])
    table = html.Div(fusion_table(trace), id={"type": "trace-rows", "card": "fusion"})
    rows = html.Div([table, _more("fusion", len(trace.candidates))])
    content = [*reranking_words(trace), rank_chart(trace), rows]
    merged = sum(len(hit.merged) for hit in trace.candidates)
    note = t("trace.fusion.merged", count=merged) if merged else t("trace.fusion.none_merged")
    return _card("fusion", "intersect", explain, content, note)


def _generation_card(trace: Trace) -> html.Section:
    facts = generation_facts(trace)
    plot = figures.graph(waterfall(trace.timings_ms), t("trace.generation.plot"))
    left = html.Div(
        [
            _facts(facts),
            _preview(t("trace.generation.template"), str(trace.generation.get("template", ""))),
            _preview(t("trace.generation.preview"), trace.prompt),
        ]
    )
    pair = html.Div([left, plot], className="trace-pair")
    note = t("trace.took", ms=f"{spans(trace.timings_ms)[-1].took:.1f}")
    return _card("generation", "card-text", t("trace.generation.explain"), [pair], note)


def _preview(title: str, text: str) -> html.Details | None:
    if not text:
        return None
    shown = text[:PROMPT_CHARS] + ("…" if len(text) > PROMPT_CHARS else "")
    return html.Details([html.Summary(title), html.Pre(shown, className="prompt-preview", tabIndex=0)])


def _card(name: str, symbol: str, explain: str, content: Sequence[Component], note: str = "") -> html.Section:
    title = html.H3([icon(symbol), t(f"trace.{name}.title")], id=f"trace-{name}-title")
    head = html.Header([title, html.Span(note, className="trace-note")])
    return html.Section(
        [head, html.P(explain, className="trace-explain"), *content],
        className="trace-card",
        id=f"trace-{name}",
        **aria(labelledby=f"trace-{name}-title"),
    )


def _failed_card(name: str, symbol: str, leg: Leg) -> html.Section:
    content = [error_line(leg.error or {})]
    return _card(name, symbol, t(f"trace.{name}.explain"), content, _leg_note(leg))


def _leg_content(name: str, leg: Leg, table: html.Div, plot: html.Figure) -> list[Component]:
    if not leg.hits:
        return [html.P(t(f"trace.{name}.empty"))]
    left = html.Div([html.Div(table, id={"type": "trace-rows", "card": name}), _more(name, len(leg.hits))])
    return [html.Div([left, plot], className="trace-pair")]


def _leg_note(leg: Leg) -> str:
    note = t("trace.leg_note", engine=engine_name(leg.engine), ms=f"{leg.duration_ms:.1f}", count=len(leg.hits))
    return note + (" · " + t("trace.hidden", count=leg.hidden) if leg.hidden else "")


def _more(name: str, count: int) -> Component:
    if count <= FIRST_ROWS:
        return html.Span()
    return html.Button(
        t("trace.show_all", count=count),
        id={"type": "trace-more", "card": name},
        className="btn btn-link btn-sm",
        n_clicks=0,
    )


def _facts(facts: Sequence[Fact]) -> html.Dl:
    return html.Dl([part for name, value in facts for part in (html.Dt(name), html.Dd(value))], className="facts")


def _parts(terms: Sequence[TermScore], shown: Sequence[str]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for term in terms:
        name = term.term if term.term in shown else t("trace.other_terms")
        parts[name] = parts.get(name, 0.0) + term.score
    return parts
