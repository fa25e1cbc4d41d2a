"""What publishing a draft would do to the results of the sets that gate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from app import links
from app.components.evaluate.run_comparison import difference_tables
from app.components.shared.links import ask_href
from app.components.shared.states import badge
from app.i18n import t
from core.model import GateVerdict, Query, VersionRef

MOST_QUESTIONS = 20
Texts = Mapping[str, str]


def verdicts(found: Sequence[GateVerdict], texts: Mapping[str, Texts]) -> list[html.Section]:
    """One card a set, those that warn first; ``texts`` holds the questions of each set by their ids."""
    return [_verdict(each, texts[each.set_id]) for each in sorted(found, key=lambda each: not each.warns)]


def _verdict(verdict: GateVerdict, texts: Texts) -> html.Section:
    comparison = verdict.comparison
    word = "warns" if verdict.warns else "passes"
    head = html.Header(
        [
            html.H2(dcc.Link(comparison.new.set_name, href=links.evaluate(verdict.set_id)), className="section-title"),
            badge("warning" if verdict.warns else "ok", t(f"evaluate.gate_{word}")),
        ],
        className="verdict-head",
    )
    ref = VersionRef(verdict.doc_key, verdict.version)
    return html.Section(
        [
            head,
            *_questions("worse", comparison.worse, texts, ref),
            *_questions("better", comparison.better, texts, ref),
            difference_tables(comparison.differences),
        ],
        className="verdict",
    )


def _questions(which: str, ids: Sequence[str], texts: Texts, ref: VersionRef) -> list[Any]:
    """The questions that change, each with the way to its answer as it would be."""
    if not ids:
        return []
    known = [texts[name] for name in ids[:MOST_QUESTIONS] if name in texts]
    items = [html.Li(dcc.Link(text, href=ask_href(Query(text, as_of=ref)))) for text in known]
    return [html.H3(t(f"evaluate.gate_{which}", count=len(ids)), className="figure-title"), html.Ul(items)]
