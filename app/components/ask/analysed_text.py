"""What the analyser makes of a text: marks in the text itself, a table of its tokens, and the terms of each engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag
from dash import html

from app.components.shared.icon import icon
from app.components.shared.reading_grid import reading_grid
from app.i18n import has, t
from core.model import AnalysedText, Token

MARKED_TOKENS = 400
SHOWN_TERMS = 200
SHORT_ROWS = 20
PARTS = {
    "名詞": "noun",
    "動詞": "verb",
    "形容詞": "adjective",
    "副詞": "adverb",
    "助詞": "particle",
    "助動詞": "auxiliary",
    "連体詞": "adnominal",
    "接続詞": "conjunction",
    "感動詞": "interjection",
    "接頭詞": "prefix",
    "記号": "symbol",
    "user_word": "user_word",
}
"""The dictionary's parts of speech, which it writes in Japanese, by the names of their translations."""
MAYBE = ("reading", "part_of_speech", "synonyms")
"""Columns that are left out where they would be empty: English has neither readings nor parts of speech here."""
MARKS = ("indexed", "unasked", "stopped")


def analysed_text(found: AnalysedText) -> list[Any]:
    """The account of one text."""
    indexed = sum(1 for token in found.tokens if token.terms)
    language = f"language.{found.language}"
    facts = [
        t("analyser.tokens", count=len(found.tokens)),
        t("analyser.indexed_count", count=indexed),
        t("analyser.language", name=t(language) if has(language) else found.language),
    ]
    return [
        html.Section(
            [
                html.H2(t("analyser.text_title"), className="section-title"),
                html.P(" · ".join(facts), className="hint", role="status"),
                html.P(_marks(found), className="token-marks", lang=found.language),
                html.P(_legend(), className="token-legend"),
                _cut(found),
            ],
            className="card-plain",
        ),
        html.Section(
            [
                html.H2(t("analyser.tokens_title"), className="section-title"),
                token_grid(found.tokens),
            ],
            className="card-plain",
        ),
        html.Section([*_engines(found)], className="card-plain"),
    ]


def token_grid(tokens: Sequence[Token]) -> dag.AgGrid:
    """Every token with its reading, part of speech and terms, or why it has none."""
    is_short = len(tokens) <= SHORT_ROWS
    names = (
        ("surface", 110),
        ("terms", 140),
        ("reading", 110),
        ("part_of_speech", 150),
        ("stopped", 220),
        ("synonyms", 120),
    )
    columns: list[dict[str, Any]] = [
        {"field": name, "headerName": t(f"analyser.{name}"), "flex": 1, "minWidth": width, "tooltipField": name}
        for name, width in names
        if name not in MAYBE or any(getattr(token, name) for token in tokens)
    ]
    rows = [
        {
            "id": str(index),
            "surface": token.surface,
            "terms": ", ".join(token.terms),
            "reading": token.reading,
            "part_of_speech": _part(token.part_of_speech),
            "stopped": why_stopped(token),
            "synonyms": ", ".join(token.synonyms),
        }
        for index, token in enumerate(tokens)
    ]
    return reading_grid("analyser-tokens", columns, rows, row_height=36, is_short=is_short)


def why_stopped(token: Token) -> str:
    """Return why a token is not indexed, in words; empty where it is."""
    if not token.stopped:
        return ""
    key = f"analyser.stopped_{token.stopped}"
    reason = t(key) if has(key) else token.stopped
    return t("analyser.only_indexed", reason=reason) if token.terms else reason


def _part(name: str) -> str:
    main = name.partition("・")[0]
    if main not in PARTS:
        return name
    word = t(f"analyser.part_{PARTS[main]}")
    return word if main == "user_word" else name if name.startswith(word) else f"{word} ({name})"


def _marks(found: AnalysedText) -> list[Any]:
    marks: list[Any] = []
    at = 0
    for token in found.tokens[:MARKED_TOKENS]:
        if token.start < at:
            continue  # A part of a whole word that is marked already.
        if token.start > at:
            marks.append(found.text[at : token.start])
        said = " · ".join(
            part for part in (token.reading, _part(token.part_of_speech), why_stopped(token), *token.terms) if part
        )
        kind = f"token token-{_mark(token)}"
        marks.append(html.Span(found.text[token.start : token.end], className=kind, title=said))
        at = token.end
    return marks


def _mark(token: Token) -> str:
    return "indexed" if not token.stopped else "unasked" if token.terms else "stopped"


def _legend() -> list[html.Span]:
    return [html.Span(t(f"analyser.mark_{name}"), className=f"token token-{name}") for name in MARKS]


def _cut(found: AnalysedText) -> html.P | None:
    if len(found.tokens) <= MARKED_TOKENS:
        return None
    return html.P(t("analyser.marks_cut", count=MARKED_TOKENS, total=len(found.tokens)), className="hint")


def _engines(found: AnalysedText) -> list[Any]:
    parts: list[Any] = [html.H2(t("analyser.engines_title"), className="section-title")]
    for index, (engine, terms) in enumerate(found.engines.items()):
        serves = [html.Span([icon("check2"), t("analyser.serves")], className="engine-serves")] if index == 0 else []
        parts.append(_terms([engine, *serves], terms))
    if not found.engines:
        parts.append(_terms([t("analyser.as_passage")], found.indexed))
    parts.append(_terms([t("analyser.as_question")], found.asked))
    return parts


def _terms(title: list[Any], terms: Sequence[str]) -> html.Div:
    shown: list[Any] = [html.Code(term, className="term") for term in terms[:SHOWN_TERMS]]
    if len(terms) > SHOWN_TERMS:
        shown.append(html.Span(t("analyser.more_terms", count=len(terms) - SHOWN_TERMS), className="muted"))
    if not shown:
        shown = [html.Span(t("analyser.no_terms"), className="muted")]
    heading = html.H3([*title, html.Span(str(len(terms)), className="muted numbers")], className="terms-title")
    return html.Div([heading, html.Div(shown, className="terms")], className="engine")
