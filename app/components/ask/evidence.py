"""The evidence of the shown answer, beside it or, on narrow windows, in a sheet: what was searched, and the passages.

``assets/modules/ask/evidence.js`` draws the page of a cited passage with its words marked, and opens and closes the
sheet.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from urllib.parse import quote

from dash import dcc, html
from dash.development.base_component import Component

from app.components.ask.asked_of import filter_chips
from app.components.ask.citation_notes import anchor
from app.components.ask.trace_tables import score_parts
from app.components.ask.wrong_answer import point_button
from app.components.attributes import aria, dataset
from app.components.shared.chips import Names
from app.components.shared.freshness import Shown, holders, standing_badge
from app.components.shared.icon import icon
from app.components.shared.links import Span, passage_href
from app.components.shared.passage import locator_text, passage
from app.components.shared.states import badge
from app.components.shared.wording import in_part_words, on_one_line, sentence
from app.i18n import t
from core.model import Citation, Hit, LegRank, PlacedChunk, Trace

EXCERPT_CHARS = 160
SOUGHT_CHARS = 60
WORDS = ("wait", "failed", "title")
"""What the script says about a page: ``evidence.page.…``."""


def evidence_pane(
    trace: Trace, shown: Shown | None = None, paged: Collection[tuple[str, int]] = (), names: Names | None = None
) -> html.Aside:
    """The passages that were found, in their final order; cited ones show their number and are open.

    With ``shown`` each says how it stands to what is shown now. ``paged`` are the versions that can be seen as pages.
    """
    cited: dict[int, list[Citation]] = {}
    for citation in trace.answer.citations:
        cited.setdefault(citation.chunk_id, []).append(citation)
    key = "answer.score" if trace.query.fusion == "rrf" else "answer.score_mix"
    items = []
    for hit in trace.hits:
        has_pages = (hit.placed.doc_key, hit.placed.version) in paged
        score = t(key, score=f"{hit.score:.5f}")
        items.append(_passage(hit, cited.get(hit.placed.id, []), score, shown, has_pages=has_pages))
    close = html.Button(
        [icon("x-lg"), html.Span(t("evidence.close"), className="visually-hidden")],
        type="button",
        className="btn btn-quiet btn-sm evidence-close",
        title=t("evidence.close"),
        **dataset(evidence_act="close"),
    )
    title = html.H2(
        t("answer.evidence_in_order", count=len(items)), id="evidence-title", className="section-title", tabIndex=-1
    )
    head = html.Div([title, close], className="evidence-bar")
    content = [
        filter_chips(trace, names or {}),
        html.Ol(items, className="evidence"),
    ]
    body = html.Div(content, className="evidence-body", tabIndex=0, role="group", **aria(labelledby="evidence-title"))
    return html.Aside([head, body], id="ask-evidence", className="ask-evidence", **aria(labelledby="evidence-title"))


def evidence_button(count: int) -> html.Button:
    """Opens the sheet of the evidence where it does not stand beside the answer."""
    return html.Button(
        [icon("journal-text"), t("answer.evidence", count=count)],
        id="evidence-open",
        type="button",
        className="btn btn-secondary evidence-open",
        **aria(haspopup="dialog"),
        **dataset(evidence_act="open"),
    )


def _passage(hit: Hit, citations: Sequence[Citation], score: str, shown: Shown | None, *, has_pages: bool) -> html.Li:
    placed, chunk = hit.placed, hit.placed.chunk
    spans = [(citation.start, citation.end) for citation in citations]
    numbers = [html.Span(f"[{each.number}]", className="citation", id=anchor(each.number)) for each in citations]
    place = " · ".join(part for part in (f"v{placed.version}", locator_text(chunk.locator)) if part)
    about: list[Component] = [html.Small(place)]
    if len(placed.versions) > 1:
        about.append(html.Small(t("answer.held_by", versions=holders(placed.versions))))
    if placed.in_part:
        about.append(badge("warning", in_part_words(placed.in_part), t("version.in_part_explain")))
    if shown is not None:
        about.append(standing_badge(placed, shown))
    name = html.Span(placed.name, className="passage-name user-text")
    head = html.Div(
        [html.Div([*numbers, name]), *about, html.Span(t("evidence.rank", rank=hit.rank), className="rank")],
        className="evidence-head",
    )
    text = html.Details(
        [html.Summary(_excerpt(chunk.text, bool(citations))), passage(chunk, spans)],
        open=bool(citations),
        className="evidence-text",
    )
    parts: list[Component] = [head]
    if citations and has_pages:
        parts.append(_page(placed, citations[0]))
    parts += [
        text,
        html.Div(
            [*_ways(placed, citations), point_button(placed.id), _why_this_order(hit, score)], className="evidence-foot"
        ),
    ]
    return html.Li(parts, className="evidence-item", tabIndex=-1, **dataset(passage=str(placed.id)))


def _page(placed: PlacedChunk, citation: Citation) -> html.Div:
    """Where the script draws the page that holds the cited sentence; a page that nobody knows is found by its words."""
    locator = placed.chunk.locator
    place: dict[str, str | int] = {
        "evidence_page": f"/api/v1/documents/{quote(placed.doc_key, safe='')}/versions/{placed.version}",
        "start": citation.start,
        "end": citation.end,
        "reading": citation.reading,
        "sought": " ".join(citation.text.split())[:SOUGHT_CHARS],
        "words": json.dumps({word: t(f"evidence.page.{word}") for word in WORDS}, ensure_ascii=False),
    }
    page = locator.page or locator.slide
    if page is not None:
        place |= {"first": page, "last": locator.page_end or page}
    return html.Div(className="evidence-page", **dataset(**place))


def _ways(placed: PlacedChunk, citations: Sequence[Citation]) -> list[Component]:
    """The ways to the page of the document, one for each cited sentence."""
    spans: list[tuple[str, Span | None]] = [("", None)]
    if len(citations) == 1:
        spans = [("", (citations[0].start, citations[0].end))]
    elif citations:
        spans = [(f"[{each.number}]", (each.start, each.end)) for each in citations]
    return [
        dcc.Link(
            [icon("box-arrow-up-right"), t("evidence.open_document"), *([" ", number] if number else [])],
            href=passage_href(placed, span),
            className="evidence-way",
        )
        for number, span in spans
    ]


def _why_this_order(hit: Hit, score: str) -> html.Details:
    """The account of a rank: its places in both searches, and what was made of them."""
    rows = [
        html.Li(_leg_text("vector", hit.vector), title=t("answer.leg_explain.vector")),
        html.Li(_leg_text("keyword", hit.keyword), title=t("answer.leg_explain.keyword")),
        html.Li(score, title=t("answer.score_explain")),
    ]
    if hit.rerank is not None and hit.rerank.fused_rank != hit.rank:
        rows.append(html.Li(t("answer.reranked", rank=hit.rerank.fused_rank), title=t("answer.reranked_explain")))
    if hit.rerank is not None and (parts := score_parts(hit.rerank)):
        made_of = sentence("answer.made_of", score=f"{hit.rerank.score:.4f}", parts=html.Span(parts))
        rows.append(html.Li(made_of, title=t("answer.made_of_explain")))
    if hit.merged:
        rows.append(html.Li(t("answer.merged", count=len(hit.merged))))
    explained = html.P(t("evidence.scores"), className="hint")
    return html.Details(
        [html.Summary(t("evidence.why_order")), html.Ul(rows, className="evidence-ranks"), explained],
        className="why-order",
    )


def _leg_text(name: str, leg: LegRank | None) -> str:
    if leg is None:
        return t(f"answer.not_in.{name}")
    return t(f"answer.leg.{name}", rank=leg.rank, score=f"{leg.score:.3f}")


def _excerpt(text: str, cited: bool) -> str:
    if cited:
        return t("answer.passage")
    return on_one_line(text, EXCERPT_CHARS)
