"""How an answer and its passages stand to what is shown now: nothing old may look current."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.shared.icon import icon
from app.components.shared.links import ask_href, document_href
from app.components.shared.states import badge
from app.components.shared.times import exactly, when
from app.components.shared.wording import sentence
from app.i18n import t
from core.model import PlacedChunk, Query, Trace, VersionRef

Shown = Mapping[str, int | None]
"""The version that each document shows now, None where it shows nothing."""


def is_of_now(trace: Trace, shown: Shown) -> bool:
    """Whether the question was asked of what was shown, and all that was found is still shown."""
    asked_of_now = trace.query.as_of is None and trace.query.versions == "shown"
    return asked_of_now and all(freshness_of(hit.placed, shown) == "current" for hit in trace.hits)


def scope_notice(trace: Trace, shown: Shown, at: datetime | None) -> html.Div | None:
    """Say that an answer is not of now, and offer to ask of now; ``at`` is the moment of its sequence number."""
    query = trace.query
    if is_of_now(trace, shown):
        return None
    if query.as_of is None and query.versions == "shown":
        stale = [hit for hit in trace.hits if freshness_of(hit.placed, shown) != "current"]
        words = sentence("ask.scope.old", when=when(trace.asked_at), count=len(stale))
        return _notice("clock-history", words, [_again(query, "ask.scope.again")])
    actions: list[Component] = [_again(query, "ask.scope.now")]
    if isinstance(query.as_of, VersionRef):
        present = shown.get(query.as_of.doc_key)
        name = dcc.Link(query.as_of.doc_key, href=document_href(query.as_of.doc_key, query.as_of.version))
        key = "ask.scope.version_now" if present == query.as_of.version else "ask.scope.version"
        words = sentence(key, name=name, version=query.as_of.version)
        if present not in (None, query.as_of.version):
            actions.append(_compare(query.as_of, present))
    elif query.as_of is None:
        words = sentence("ask.scope.all_now")
    else:
        key = "ask.scope.all" if query.versions == "all" else "ask.scope.then"
        words = sentence(key, moment=_moment(query, at))
    return _notice("layers" if query.versions == "all" else "clock-history", words, actions)


def freshness_of(placed: PlacedChunk, shown: Shown) -> str:
    """Return how a passage stands to what is shown now: ``current``, ``earlier``, ``hidden`` or ``gone``."""
    present = shown.get(placed.doc_key)
    if present is None:
        return "gone"
    if present == placed.version or present in placed.versions:
        return "current"
    return "earlier" if placed.version < present else "hidden"


def standing_badge(placed: PlacedChunk, shown: Shown) -> html.Span:
    """How a passage stands to what is shown now, as an icon and a word."""
    word = freshness_of(placed, shown)
    return badge("ok" if word == "current" else "warning", t(f"ask.standing.{word}"), t(f"ask.standing_explain.{word}"))


def holders(versions: Sequence[int]) -> str:
    """Return the versions that hold a passage, runs of them together: ``v1–v3, v5``."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(versions), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"v{run[0]}" if len(run) == 1 else f"v{run[0]}–v{run[-1]}" for run in runs)


def _moment(query: Query, at: datetime | None) -> Any:
    if isinstance(query.as_of, datetime):
        return exactly(query.as_of)
    if at is None:
        return t("ask.scope.beginning")
    return html.Span(sentence("ask.scope.publication", number=query.as_of, moment=exactly(at)))


def _compare(asked: VersionRef, present: int) -> dcc.Link:
    old, new = sorted((asked.version, present))
    words = t("ask.scope.compare", old=old, new=new)
    return dcc.Link([icon("file-diff"), words], href=links.compare(asked.doc_key, old, new))


def _again(query: Query, key: str) -> dcc.Link:
    plain = Query(query.text, top_k=query.top_k, filters=query.filters)
    return dcc.Link([icon("arrow-repeat"), t(key)], href=ask_href(plain))


def _notice(symbol: str, words: list[Any], actions: list[Component]) -> html.Div:
    return html.Div(
        [icon(symbol), html.P(words), html.Div(actions, className="scope-actions")],
        className="scope-notice",
        role="note",
    )
