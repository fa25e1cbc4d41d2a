"""The button that marks an answer as wrong, and the panel that asks what would have been right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import dcc, html
from dash.development.base_component import Component

from app import links
from app.components.attributes import aria, dataset
from app.components.shared.document_options import document_options
from app.components.shared.filter_words import dropdown_words
from app.components.shared.icon import icon
from app.components.shared.passage import locator_text
from app.components.shared.states import badge
from app.components.shared.wording import on_one_line
from app.i18n import t
from core.model import WRONG_NOTE_CHARS, WRONG_SET, WRONG_TEXT_CHARS, Document, Hit, Intent, JudgedQuestion, Trace

OTHER, NOWHERE = "other", "nowhere"
"""What can be right beside a passage that was found: something in another document, or nothing."""
EXCERPT_CHARS = 70


def can_be_marked(trace: Trace) -> bool:
    """Whether the answer can be put into a question set."""
    return trace.analysis.intent is Intent.DOCUMENTS


def wrong_button(*, is_marked: bool) -> html.Button:
    """Says whether the answer is marked as wrong; pressed, it is."""
    return html.Button(
        [icon("x-circle-fill" if is_marked else "slash-circle"), t("wrong.is_marked" if is_marked else "wrong.mark")],
        id="ask-wrong",
        type="button",
        className="btn btn-secondary btn-sm mark-wrong",
        title=t("wrong.explain"),
        **aria(pressed=is_marked),
    )


def wrong_panel(
    trace: Trace, marked: JudgedQuestion | None, documents: Sequence[Document], problem: Component | None = None
) -> html.Section:
    """What would have been right, and a word about it; of a follow-up, the words in which it is kept.

    ``documents`` are those that can be named. ``problem`` is why the last try was refused.
    """
    fields: list[Any] = []
    if trace.analysis.standalone:
        text = marked.text if marked is not None else trace.analysis.standalone
        field = dbc.Input(id="ask-wrong-text", type="text", value=text, maxLength=WRONG_TEXT_CHARS)
        hint = html.P(t("wrong.text_hint"), className="field-hint")
        fields.append(html.Div([html.Label(t("wrong.text"), htmlFor="ask-wrong-text"), field, hint]))
    else:
        fields.append(dcc.Input(id="ask-wrong-text", type="hidden", value=""))
    note = dbc.Input(
        id="ask-wrong-note",
        type="text",
        value=marked.note if marked is not None else "",
        maxLength=WRONG_NOTE_CHARS,
        placeholder=t("wrong.note_placeholder"),
        autofocus=True,
    )
    fields.append(html.Div([html.Label(t("wrong.note"), htmlFor="ask-wrong-note"), note]))
    chosen = _chosen(trace, marked)
    fields.append(
        html.Fieldset(
            [
                html.Legend(t("wrong.right")),
                dbc.RadioItems(id="ask-wrong-right", options=_options(trace), value=chosen),
                _other(documents, marked.doc_keys[0] if marked is not None and chosen == OTHER else None),
            ],
            className="wrong-right",
        )
    )
    keep = html.Button(
        [icon("check-lg"), t("wrong.keep")], id="ask-wrong-keep", type="button", className="btn btn-primary btn-sm"
    )
    back = html.Button(
        t("wrong.back"),
        id="ask-wrong-back",
        type="button",
        className="btn btn-secondary btn-sm",
        hidden=marked is None,
    )
    title = html.H2(t("wrong.title"), id="ask-wrong-title", className="section-title")
    return html.Section(
        [
            title,
            html.Div(kept(marked), role="status"),
            *fields,
            html.Div(problem, id="ask-wrong-problem", role="alert"),
            html.Div([keep, back], className="button-row"),
        ],
        className="wrong-panel",
        **aria(labelledby="ask-wrong-title"),
    )


def point_button(chunk_id: int) -> html.Button:
    """Points at a passage of the evidence as the one that was right, while the panel is open."""
    return html.Button(
        [icon("check-lg"), t("wrong.this_one")],
        type="button",
        className="btn btn-secondary btn-sm wrong-point",
        **dataset(wrong_point=str(chunk_id)),
    )


def kept(marked: JudgedQuestion | None) -> list[Any]:
    """That a question is kept, and where."""
    if marked is None:
        return [html.P(t("wrong.not_yet"), className="hint")]
    where = dcc.Link(t("wrong.set"), href=links.evaluate(WRONG_SET))
    return [badge("ok", t("wrong.kept")), " ", where]


def _options(trace: Trace) -> list[dict[str, str]]:
    found = [{"value": str(hit.placed.id), "label": _label(hit)} for hit in trace.hits]
    return [
        *found,
        {"value": NOWHERE, "label": t("wrong.nowhere")},
        {"value": OTHER, "label": t("wrong.other")},
    ]


def _label(hit: Hit) -> str:
    place = " · ".join(part for part in (hit.placed.name, locator_text(hit.placed.chunk.locator)) if part)
    return f"{place} — {on_one_line(hit.placed.chunk.text, EXCERPT_CHARS)}"


def _other(documents: Sequence[Document], chosen: str | None) -> html.Div:
    field = dcc.Dropdown(
        id="ask-wrong-doc",
        options=document_options(documents),
        value=chosen,
        placeholder=t("whynot.choose"),
        labels=dropdown_words(),
    )
    return html.Div([html.Label(t("wrong.document"), htmlFor="ask-wrong-doc"), field], className="wrong-other")


def _chosen(trace: Trace, marked: JudgedQuestion | None) -> str | None:
    """What was said to be right, as a choice."""
    if marked is None:
        return None
    if not marked.answerable:
        return NOWHERE
    same = [hit for hit in trace.hits if marked.passage and hit.placed.chunk.text.startswith(marked.passage)]
    if same:
        return str(same[0].placed.id)
    return OTHER if marked.doc_keys else None
