"""The tables of the trace cards: what each leg found, what each term gave, and how both became one ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app.components.ask.why_not_panel import why_not_link
from app.components.attributes import aria
from app.components.shared.links import ask_href, passage_href
from app.components.shared.passage import locator_text
from app.components.shared.wording import unbroken
from app.i18n import has, t
from core.model import Hit, IndexHit, Leg, LegRank, RerankScore, TermScore, Trace

FIRST_ROWS = 10
TERM_COLUMNS = 6
DEFAULT_RRF_K = 60

Names = Mapping[int, Hit]


def vector_table(trace: Trace, rows: int = FIRST_ROWS) -> html.Div:
    names = names_of(trace)
    heads = [t("trace.rank"), t("trace.passage"), t("trace.l2"), t("trace.cosine")]
    body = [
        [str(rank), _passage_cell(hit.chunk_id, names), f"{hit.score:.4f}", f"{cosine(hit.score):.4f}"]
        for rank, hit in _ranked(trace.vector, rows)
    ]
    return _table(heads, body, t("trace.vector.table"), numeric=(0, 2, 3))


def keyword_table(trace: Trace, rows: int = FIRST_ROWS) -> html.Div:
    names = names_of(trace)
    terms = leading_terms(trace.keyword.hits)
    shown = {term.term for term in terms}
    has_others = any(part.term not in shown for _, hit in _ranked(trace.keyword, rows) for part in hit.terms)
    heads: list[Any] = [t("trace.rank"), t("trace.passage"), t("trace.bm25"), *map(_term_head, terms)]
    heads += [t("trace.other_terms")] if has_others else []
    body = []
    for rank, hit in _ranked(trace.keyword, rows):
        parts = {part.term: part for part in hit.terms}
        cells = [_term_cell(parts.get(term.term)) for term in terms]
        if has_others:
            cells.append(f"{sum(part.score for part in hit.terms if part.term not in shown):.3f}")
        body.append([str(rank), _passage_cell(hit.chunk_id, names), f"{hit.score:.3f}", *cells])
    return _table(heads, body, t("trace.keyword.table"), numeric=(0, *range(2, len(heads))))


def fusion_table(trace: Trace, rows: int = FIRST_ROWS) -> html.Div:
    """The candidates in their final order; reranked ones with the rank and share that fusion gave them, and why."""
    is_reranked = any(hit.rerank for hit in trace.candidates)
    heads = [t("trace.rank"), t("trace.passage"), t("trace.vector.title"), t("trace.keyword.title"), t("trace.sum")]
    heads += [t("trace.rerank.parts"), t("trace.rerank.final")] if is_reranked else []
    chosen = {hit.placed.id for hit in trace.hits}
    body = []
    for hit in trace.candidates[:rows]:
        row = [str(hit.rank), _candidate_cell(hit, trace, chosen)]
        row += [_leg_cell(hit.vector, trace), _leg_cell(hit.keyword, trace), _sum_cell(hit)]
        if is_reranked:
            row += _rerank_cells(hit, has_recency=trace.rerank is not None and trace.rerank.recency)
        body.append(row)
    return _table(heads, body, t("trace.fusion.table"), numeric=(0, 2, 3, 4, 6))


def part_name(name: str) -> str:
    """The name of a part of a reranked score, as the pages say it where they know it."""
    return t(f"trace.rerank.part.{name}") if has(f"trace.rerank.part.{name}") else name.replace("_", " ")


def score_parts(rerank: RerankScore) -> list[Any]:
    """The parts that a reranked score is the sum of, the most first."""
    most_first = sorted(rerank.parts.items(), key=lambda part: -abs(part[1]))
    return unbroken([f"{part_name(name)} {value:.4f}" for name, value in most_first if value], " +")


def rrf_k(trace: Trace) -> int:
    """The constant of reciprocal rank fusion that the trace was made with."""
    return int(trace.generation.get("rrf_k", DEFAULT_RRF_K))


def names_of(trace: Trace) -> Names:
    """The hit behind every chunk id that the trace speaks of; a merged chunk is found under the hit it went into."""
    names = {}
    for hit in trace.candidates or trace.hits:
        names[hit.placed.id] = hit
        names.update(dict.fromkeys(hit.merged, hit))
    return names


def _ranked(leg: Leg, rows: int) -> list[tuple[int, IndexHit]]:
    return list(enumerate(leg.hits[:rows], 1))


def row_label(rank: int, chunk_id: int, names: Names) -> str:
    """``3. handbook.pdf``, as the plots name a row."""
    hit = names.get(chunk_id)
    return f"{rank}. {hit.placed.name if hit else t('trace.chunk', id=chunk_id)}"


def _passage_cell(chunk_id: int, names: Names) -> Any:
    hit = names.get(chunk_id)
    return _hit_cell(hit) if hit else t("trace.chunk", id=chunk_id)


def _hit_cell(hit: Hit) -> list[Component]:
    place = [f"v{hit.placed.version}", locator_text(hit.placed.chunk.locator, headings=False)]
    if hit.merged:
        place.append(t("trace.merged_into", count=len(hit.merged)))
    return [
        dcc.Link(hit.placed.name, href=passage_href(hit.placed), className="passage-name"),
        html.Small(" · ".join(part for part in place if part)),
    ]


def _candidate_cell(hit: Hit, trace: Trace, chosen: Collection[int]) -> list[Component]:
    """The passage, with the question why it is not among the first where it is not."""
    cell = _hit_cell(hit)
    if hit.placed.id in chosen:
        return cell
    place = (hit.placed.doc_key, hit.placed.chunk.position, hit.placed.version)
    return [*cell, why_not_link(ask_href(trace.query, trace.id, place))]


def _sum_cell(hit: Hit) -> Any:
    if hit.rerank is None:
        return f"{hit.score:.5f}"
    return [f"{hit.score:.5f}", html.Small(t("trace.at_rank", rank=hit.rerank.fused_rank))]


def _rerank_cells(hit: Hit, *, has_recency: bool) -> list[Any]:
    """What the reranked score is made of, the most first, and their sum; dashes for one that was not ordered anew."""
    if hit.rerank is None:
        return ["–", "–"]
    parts = score_parts(hit.rerank)
    recency = f" × {t('trace.rerank.recency')}\u00a0{hit.rerank.recency:.2f}" if has_recency else ""
    return [html.Small([*parts, recency] if parts else "0"), f"{hit.rerank.score:.4f}"]


def _leg_cell(leg: LegRank | None, trace: Trace) -> Any:
    """A leg's share of the fused score, with the rank and the fraction that it comes from."""
    if leg is None:
        return ["0", html.Small(t("trace.not_found"))]
    origin = t("trace.at_rank", rank=leg.rank)
    if trace.query.fusion == "rrf":
        k = rrf_k(trace)
        weight = leg.contribution * (k + leg.rank)
        numerator = "1" if math.isclose(weight, 1.0, rel_tol=1e-6) else f"{weight:g}"
        origin += f" · {numerator}/({k}+{leg.rank})"
    return [f"{leg.contribution:.5f}", html.Small(origin)]


def cosine(distance: float) -> float:
    """The cosine of two unit vectors that are ``distance`` apart."""
    return 1.0 - distance * distance / 2.0


def leading_terms(hits: Sequence[IndexHit]) -> list[TermScore]:
    """The terms that added most over the hits shown, each once, with its statistics."""
    totals: dict[str, float] = {}
    known: dict[str, TermScore] = {}
    for hit in hits[:FIRST_ROWS]:
        for term in hit.terms:
            totals[term.term] = totals.get(term.term, 0.0) + term.score
            known.setdefault(term.term, term)
    return [known[term] for term in sorted(totals, key=lambda term: -totals[term])[:TERM_COLUMNS]]


def _term_head(term: TermScore) -> list[Component]:
    is_told = term.document_frequency > 0
    rarity, count = (f"{term.idf:.2f}", term.document_frequency) if is_told else ("–", "–")
    origin = [html.Small(t("trace.stands_for", word=term.stands_for))] if term.stands_for else []
    details = [
        html.Small(t("trace.rarity", rarity=rarity), title="idf"),
        html.Small(t("trace.held_by", count=count), title="df"),
    ]
    return [html.Span(term.term, className="user-text"), *origin, *details]


def _term_cell(term: TermScore | None) -> Any:
    if term is None:
        return "–"
    factor = f"{term.score / term.idf:.3f}" if term.idf else "–"
    return [f"{term.score:.3f}", html.Small(t("trace.factor", factor=factor), title="tf")]


def _table(heads: Sequence[Any], rows: Sequence[Sequence[Any]], label: str, numeric: Sequence[int]) -> html.Div:
    numbers = dict.fromkeys(numeric, "num")
    head = html.Tr([html.Th(text, scope="col", className=numbers.get(index)) for index, text in enumerate(heads)])
    body = [html.Tr([html.Td(cell, className=numbers.get(i)) for i, cell in enumerate(row)]) for row in rows]
    table = html.Table([html.Caption(label), html.Thead(head), html.Tbody(body)], className="trace-table")
    return html.Div(table, className="trace-scroll", tabIndex=0, role="group", **aria(label=label))
