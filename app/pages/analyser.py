"""Analyser: what a text becomes in the keyword index, and the words that a knowledge base teaches it."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import (
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    dcc,
    html,
    no_update,
    register_page,
)
from dash.exceptions import PreventUpdate

from app import links
from app.components.ask.analysed_text import analysed_text
from app.components.ask.vocabulary_form import effect, synonym_lines, synonyms_of, vocabulary_form, word_lines, words_of
from app.components.shared.icon import icon
from app.components.shared.states import error_line, notify, shows_errors
from app.components.shell.frame import named_page, tab_title
from app.context import kb, principal
from app.i18n import t
from core.errors import EvoRAGError, InvalidInput
from core.model import Job, JobFilter, JobKind, JobState, Role

TEXT_CHARS = 10_000
LINKED_CHARS = 300
"""Texts up to this length stand in the address; longer ones would not fit into it."""
TICK_MS = 1_000
EXAMPLES = {
    "ja": "計測器の校正証明書は二年間保管します。",
    "en": "The instruments were recalibrated in 2026.",
    "de": "Die Prüfprotokolle der Geräte werden zwei Jahre aufbewahrt.",
    "zh": "仪器的校准证书保存两年。",
}

register_page(__name__, path=links.ANALYSER, title=tab_title("analyser.title"), script="analyser/page.js")


@shows_errors
def layout(text: str = "", saved: str = "", **_: Any) -> html.Div:
    """The field for a text with what was made of it, then the vocabulary."""
    job = _indexing()
    content = [
        _form(text[:TEXT_CHARS], saved == "1"),
        html.Div(_analysed(text, saved == "1"), id="analyser-result", className="page-body"),
        html.Section(
            [
                html.H2(t("analyser.vocabulary_title"), className="section-title"),
                html.P(t("analyser.vocabulary_explain"), className="hint form-words"),
                vocabulary_form(kb().insight.vocabulary(), may_change=_is(Role.EDITOR)),
                html.Div(_effect(job), id="analyser-effect", className="vocabulary-effect", role="status"),
            ],
            className="card-plain",
        ),
        dcc.Interval(id="analyser-tick", interval=TICK_MS, disabled=job is None),
        dcc.Store(id="analyser-job", data=job.id if job else None),
        dcc.Store(id="analyser-shown"),
        dcc.Store(id="analyser-named"),
    ]
    return named_page("analyser", content)


def _form(text: str, saved: bool) -> html.Section:
    examples = [
        html.Span(dcc.Link(example, href=links.analyser(example)), lang=lang) for lang, example in EXAMPLES.items()
    ]
    return html.Section(
        [
            html.Label(t("analyser.text"), htmlFor="analyser-text", className="form-label"),
            dbc.Textarea(id="analyser-text", value=text, rows=3, maxLength=TEXT_CHARS, className="analyser-text"),
            html.Div(
                [
                    html.Button(
                        [icon("search"), t("analyser.analyse")],
                        id="analyser-analyse",
                        type="button",
                        className="btn btn-primary",
                    ),
                    dbc.Checkbox(id="analyser-saved", value=saved, label=t("analyser.with_saved")),
                    html.Span([t("analyser.examples"), " ", *examples], className="examples"),
                ],
                className="button-row",
            ),
        ],
        className="card-plain analyser-form",
    )


def _analysed(text: str, saved: bool) -> list[Any]:
    if not text.strip():
        return []
    try:
        return analysed_text(kb().insight.analyse(text[:TEXT_CHARS], written=saved))
    except EvoRAGError as error:
        return [error_line(error)]


def _is(role: Role) -> bool:
    return principal().role.includes(role)


def _indexing() -> Job | None:
    """The job that builds the keyword index anew, while one waits or runs."""
    filters = JobFilter(states=(JobState.QUEUED, JobState.RUNNING), kinds=(JobKind.REINDEX,))
    return next(iter(kb().jobs(filters=filters, limit=1)), None)


def _effect(job: Job | None) -> list[Any]:
    return effect(kb().insight.vocabulary(), job, may_reindex=_is(Role.ADMIN))


@callback(
    Output("analyser-shown", "data"),
    Output("analyser-result", "children"),
    Input("analyser-analyse", "n_clicks"),
    State("analyser-text", "value"),
    State("analyser-saved", "value"),
    prevent_initial_call=True,
    running=[(Output("analyser-analyse", "className"), "btn btn-primary is-working", "btn btn-primary")],
)
def analyse(clicks: int | None, text: str | None, saved: bool | None) -> tuple[Any, Any]:
    """Show what a text becomes; the address names it where it is short enough."""
    if not clicks:
        raise PreventUpdate
    given = (text or "").strip()
    if not given:
        return no_update, error_line(InvalidInput(t("analyser.no_text"), remedy=t("analyser.no_text_remedy")))
    address = links.analyser(given, saved=bool(saved)) if len(given) <= LINKED_CHARS else links.ANALYSER
    return address, _analysed(given, bool(saved))


@callback(
    Output("analyser-words", "value"),
    Output("analyser-synonyms", "value"),
    Output("analyser-save-error", "children"),
    Output("analyser-effect", "children"),
    Input("analyser-save", "n_clicks"),
    State("analyser-words", "value"),
    State("analyser-synonyms", "value"),
    prevent_initial_call=True,
    running=[(Output("analyser-save", "className"), "btn btn-primary is-working", "btn btn-primary")],
)
def save(clicks: int | None, words: str | None, synonyms: str | None) -> tuple[Any, ...]:
    """Keep both lists, and show them as they are kept."""
    if not clicks:
        raise PreventUpdate
    try:
        kept = kb().insight.set_vocabulary(words_of(words or ""), synonyms_of(synonyms or ""))
    except EvoRAGError as error:
        return no_update, no_update, error_line(error), no_update
    notify("ok", t("analyser.saved", words=len(kept.words), groups=len(kept.synonyms)))
    return word_lines(kept), synonym_lines(kept), None, _effect(_indexing())


@callback(
    Output("analyser-effect", "children", allow_duplicate=True),
    Output("analyser-tick", "disabled"),
    Output("analyser-job", "data"),
    Input("analyser-reindex", "n_clicks"),
    prevent_initial_call=True,
    running=[(Output("analyser-reindex", "className"), "btn btn-secondary is-working", "btn btn-secondary")],
)
def reindex(clicks: int | None) -> tuple[Any, bool, str]:
    """Have the words indexed anew; the old index serves until that is done."""
    if not clicks:
        raise PreventUpdate
    job_id = kb().insight.reindex_words()
    return _effect(kb().job(job_id)), False, job_id


@callback(
    Output("analyser-effect", "children", allow_duplicate=True),
    Output("analyser-tick", "disabled", allow_duplicate=True),
    Input("analyser-tick", "n_intervals"),
    State("analyser-job", "data"),
    prevent_initial_call=True,
)
def follow(_: int | None, job_id: str | None) -> tuple[Any, bool]:
    """Show how far the job is, and how it ended."""
    if not job_id:
        raise PreventUpdate
    job = kb().job(job_id)
    if job.state in (JobState.QUEUED, JobState.RUNNING):
        return _effect(job), False
    ended = _effect(None)
    if job.error:
        ended = [error_line(job.error), *ended]
    return ended, True


clientside_callback(
    ClientsideFunction("analyser", "name"),
    Output("analyser-named", "data"),
    Input("analyser-shown", "data"),
    prevent_initial_call=True,
)
