"""The words of a knowledge base's own and its synonyms, as lines to edit, and whether they are in effect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import dash_bootstrap_components as dbc
from dash import html

from app.components.attributes import aria
from app.components.shared.icon import icon
from app.components.shared.states import badge
from app.i18n import t
from core.model import Job, Vocabulary

BETWEEN = re.compile(r"[\t,、，=＝]")
"""What stands between the words of a line: comma, tab or equals sign, as spreadsheets and people write them."""


def vocabulary_form(vocabulary: Vocabulary, *, may_change: bool) -> html.Div:
    """Both lists, one entry a line."""
    fields = html.Div(
        [
            _field("analyser-words", "words", word_lines(vocabulary), may_change),
            _field("analyser-synonyms", "synonyms", synonym_lines(vocabulary), may_change),
        ],
        className="vocabulary-fields",
    )
    save = html.Button(
        [icon("check2"), t("analyser.save")], id="analyser-save", type="button", className="btn btn-primary"
    )
    return html.Div([fields, html.Div(id="analyser-save-error"), html.Div(save) if may_change else None])


def effect(vocabulary: Vocabulary, job: Job | None, *, may_reindex: bool) -> list[Any]:
    """Say whether what is saved is what the index was built with; a job says how far the building is."""
    if job is not None:
        return [_progress(job)]
    if vocabulary.number == vocabulary.indexed_number:
        return [badge("ok", t("analyser.in_effect"))]
    parts: list[Any] = [badge("warning", t("analyser.not_in_effect")), html.P(t("analyser.not_in_effect_text"))]
    if may_reindex:
        parts.append(
            html.Button(
                [icon("arrow-repeat"), t("analyser.reindex")],
                id="analyser-reindex",
                type="button",
                className="btn btn-secondary",
            )
        )
    else:
        parts.append(html.P(t("analyser.reindex_needs"), className="hint"))
    return parts


def word_lines(vocabulary: Vocabulary) -> str:
    return "\n".join(", ".join(part for part in word if part) for word in vocabulary.words)


def synonym_lines(vocabulary: Vocabulary) -> str:
    return "\n".join(", ".join(group) for group in vocabulary.synonyms)


def words_of(lines: str) -> list[tuple[str, str]]:
    """Return the words and readings that ``lines`` name; a word may stand without its reading."""
    return [(parts[0], parts[1] if len(parts) > 1 else "") for parts in _parts(lines)]


def synonyms_of(lines: str) -> list[tuple[str, ...]]:
    """Return the groups that ``lines`` name, one a line."""
    return [tuple(parts) for parts in _parts(lines)]


def _parts(lines: str) -> Iterable[list[str]]:
    for line in lines.splitlines():
        parts = [part.strip() for part in BETWEEN.split(line)]
        if any(parts):
            yield [part for part in parts if part]


def _field(component_id: str, name: str, value: str, may_change: bool) -> html.Div:
    return html.Div(
        [
            html.Label(t(f"analyser.{name}_title"), htmlFor=component_id, className="form-label"),
            dbc.Textarea(
                id=component_id,
                value=value,
                rows=8,
                readonly=not may_change,
                className="plain-lines",
                placeholder=t(f"analyser.{name}_example"),
            ),
            html.P(t(f"analyser.{name}_explain"), className="hint"),
        ]
    )


def _progress(job: Job) -> html.Div:
    share = job.done / job.total if job.total else 0.0
    told = t("analyser.indexing_of", done=job.done, total=job.total) if job.total else t("analyser.indexing")
    bar = html.Div(
        html.Div(className="bar-fill", style={"width": f"{share * 100:.1f}%"}),
        className="bar",
        role="progressbar",
        **aria(
            label=t("analyser.indexing"), valuemin="0", valuemax="100", valuenow=f"{share * 100:.0f}", valuetext=told
        ),
    )
    return html.Div([badge("working", told), bar, html.P(t("analyser.goes_on"), className="hint")])
