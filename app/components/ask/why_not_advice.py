"""What would bring a passage up: advice as links that ask again in another way, where an address can say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.shared.links import ask_href, document_href
from app.i18n import has, t
from core.model import Advice, Filters, Query, Trace, WhyNot, parse_as_of

Values = Mapping[str, str]
FILTERS = {
    "doc": "doc_keys",
    "tag": "tags",
    "type": "extensions",
    "after": "updated_after",
    "before": "updated_before",
}


def advice_list(found: WhyNot) -> html.Div | None:
    """Each advice with its link; nothing where there is none to give."""
    if not found.advice:
        return None
    items = [html.Li(_advice(found, each)) for each in found.advice]
    return html.Div([html.H3(t("whynot.advice"), className="whynot-label"), html.Ul(items)], className="whynot-advice")


def changed(trace: Trace, advice: Advice) -> Query | None:
    """The question as the advice would have it asked, None where it is nothing to ask."""
    change = _CHANGES.get(advice.code)
    return replace(change(trace, advice.values), fresh=False) if change is not None else None


def _advice(found: WhyNot, advice: Advice) -> list[str | Component]:
    key = f"whynot.advice.{advice.code}"
    values = {**advice.values}
    if "filter" in values:
        values["filter"] = t(f"whynot.filter.{values['filter']}")
    words = t(key, **values) if has(key) else advice.code.replace("_", " ")
    href = _href(found, advice)
    parts: list[str | Component] = [dcc.Link(words, href=href, className="advice") if href else words]
    if advice.values.get("rank"):
        parts.append(html.Small(t("whynot.then_rank", rank=advice.values["rank"])))
    return parts


def _href(found: WhyNot, advice: Advice) -> str | None:
    if advice.code in ("restore", "publish"):
        version = advice.values.get("version", "")
        return document_href(found.doc_key, int(version) if version.isdecimal() else None)
    if advice.code == "add_synonym":
        return links.ANALYSER
    query = changed(found.trace, advice)
    return ask_href(query) if query is not None else None


def _without_filter(trace: Trace, values: Values) -> Query:
    name = FILTERS.get(values.get("filter", ""))
    query = trace.query
    return replace(query, filters=replace(query.filters, **{name: getattr(Filters(), name)})) if name else query


def _dismissed(trace: Trace, values: Values) -> Query:
    read = [each.id for each in trace.analysis.read_filters if each.words == values.get("words")]
    return replace(trace.query, dismissed=(*trace.query.dismissed, *read))


_CHANGES: dict[str, Callable[[Trace, Values], Query]] = {
    "ask_now": lambda trace, _: replace(trace.query, as_of=None, versions="shown"),
    "ask_as_of": lambda trace, values: replace(trace.query, as_of=parse_as_of(values["as_of"]), versions="shown"),
    "ask_plainly": lambda trace, _: replace(trace.query, syntax="plain"),
    "ask_with_term": lambda trace, values: replace(trace.query, text=f"{trace.query.text} {values['term']}"),
    "dismiss_filter": _dismissed,
    "remove_filter": _without_filter,
    "raise_depth": lambda trace, values: replace(trace.query, depth=int(values["depth"])),
    "raise_per_document": lambda trace, values: replace(trace.query, per_document=int(values["per_document"])),
    "raise_top_k": lambda trace, values: replace(trace.query, top_k=int(values["top_k"])),
}
