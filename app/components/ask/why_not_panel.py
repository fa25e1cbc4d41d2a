"""Why a passage was not found, or not higher: its place in each search, what it lacks, and what would bring it up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app.components.ask.why_not_advice import advice_list
from app.components.attributes import aria, dataset
from app.components.shared.filter_words import dropdown_words
from app.components.shared.icon import icon
from app.components.shared.links import document_href
from app.components.shared.states import badge, error_line
from app.components.shared.wording import engine_name, on_one_line
from app.i18n import has, t
from core.errors import EvoRAGError
from core.model import Document, LegPlace, Obstacle, WhyNot

EXCERPT_CHARS = 320
_FILTER = re.compile(r"(\A|, )(doc|tag|type|after|before): ")


def why_not_section(documents: Sequence[Document], found: WhyNot | None, problem: EvoRAGError | None) -> html.Section:
    """The picker of a document, and the account of the passage that the address names."""
    chosen = found.doc_key if found is not None else None
    picker = html.Div(
        [
            html.Label(t("whynot.document"), htmlFor="whynot-doc", className="form-label"),
            dcc.Dropdown(
                id="whynot-doc",
                options=[{"value": each.doc_key, "label": each.name} for each in documents],
                value=chosen,
                placeholder=t("whynot.choose"),
                clearable=False,
                labels=dropdown_words(),
            ),
        ],
        className="whynot-picker",
    )
    is_open = found is not None or problem is not None
    body = [html.P(t("whynot.explain"), className="hint"), picker]
    if problem is not None:
        body.append(error_line(problem))
    if found is not None:
        body.append(why_not_panel(found))
    summary = html.Summary([icon("question-circle"), t("whynot.summary")])
    shown = dcc.Store(id="whynot-shown", data=chosen or "")
    return html.Section(
        [html.Details([summary, *body], open=is_open, className="whynot"), shown],
        id="why-not",
        tabIndex=-1,
        **aria(label=t("whynot.title")),
        **dataset(open=is_open),
    )


def why_not_panel(found: WhyNot) -> html.Div:
    """The account of one passage for one question."""
    name = dcc.Link(
        t("whynot.passage", name=found.doc_key, version=found.version, position=found.position + 1),
        href=document_href(found.doc_key, found.version, found.position, reading=None),
        className="passage-name",
    )
    excerpt = on_one_line(found.text, EXCERPT_CHARS)
    parts: list[Any] = [
        html.P(name),
        html.Blockquote(excerpt, className="whynot-text user-text") if excerpt else None,
        html.Div([_obstacle_badge(found), *_detail(found)], className="whynot-obstacle"),
        _places(found),
        _terms("whynot.missing", found.missing_terms),
        _terms("whynot.present", found.present_terms),
        advice_list(found),
    ]
    return html.Div([part for part in parts if part is not None], className="whynot-panel")


def why_not_link(href: str) -> dcc.Link:
    """Asks of a passage of the trace why it stands where it does."""
    return dcc.Link(t("whynot.link"), href=href, className="whynot-link")


def _obstacle_badge(found: WhyNot) -> html.Span:
    meaning = "ok" if found.obstacle is Obstacle.NONE else "warning"
    return badge(meaning, t(f"whynot.obstacle.{found.obstacle}"))


def _detail(found: WhyNot) -> list[Component]:
    if not found.obstacle_detail:
        return []
    key = f"whynot.detail.{found.obstacle}"
    detail = _plainly(found)
    return [html.Span(t(key, detail=detail) if has(key) else detail, className="user-text")]


def _plainly(found: WhyNot) -> str:
    """The detail of an obstacle in the reader's language, as far as it names states, filters and engines."""
    detail = found.obstacle_detail
    if found.obstacle is Obstacle.TOO_DEEP:
        return engine_name(detail)
    if found.obstacle is Obstacle.NOT_SHOWN:
        action = f"audit.action.{detail}"
        return t(action) if has(action) else detail.replace("(draft)", f"({t('compare.state.draft')})")
    if found.obstacle is Obstacle.FILTERED:
        if detail == "syntax":
            return t("trace.analysis.syntax")
        return _FILTER.sub(lambda match: f"{match[1]}{t(f'whynot.filter.{match[2]}')}: ", detail)
    return detail


def _places(found: WhyNot) -> html.Div:
    heads = [t("whynot.where"), t("trace.rank"), t("whynot.score"), t("whynot.depth_needed")]
    rows = [
        _leg_row(t("trace.vector.title"), found.vector, t("whynot.l2")),
        _leg_row(t("trace.keyword.title"), found.keyword, t("whynot.bm25")),
        [t("trace.fusion.title"), _rank(found.fused_rank), "–", "–"],
        [t("whynot.final"), _rank(found.final_rank), "–", "–"],
    ]
    head = html.Tr([html.Th(text, scope="col", className="num" if i else None) for i, text in enumerate(heads)])
    body = [
        html.Tr([html.Th(row[0], scope="row"), *[html.Td(cell, className="num") for cell in row[1:]]]) for row in rows
    ]
    table = html.Table([html.Thead(head), html.Tbody(body)], className="trace-table whynot-table")
    label = t("whynot.table", depth=found.trace.query.depth)
    return html.Div(
        [table, html.P(label, className="hint")],
        className="trace-scroll",
        tabIndex=0,
        role="group",
        **aria(label=t("whynot.where")),
    )


def _leg_row(name: str, place: LegPlace, unit: str) -> list[str]:
    rank = t("whynot.rank_of", rank=place.rank, of=place.of) if place.rank is not None else t("trace.not_found")
    score = f"{unit} {place.score:.4f}" if place.score is not None else "–"
    return [name, rank, score, str(place.depth_needed) if place.depth_needed is not None else "–"]


def _rank(rank: int | None) -> str:
    return str(rank) if rank is not None else "–"


def _terms(key: str, terms: Sequence[str]) -> html.P | None:
    if not terms:
        return None
    chips = html.Span([html.Span(term, className="chip") for term in terms], className="chips")
    return html.P([html.Span(t(key), className="whynot-label"), chips], className="whynot-terms")
